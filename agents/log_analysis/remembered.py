"""What a memory knows already: a directed search first, and the outcome where the log says it again; pure."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import re2

from agents.log_analysis.formats.levels import from_text
from agents.log_analysis.formats.text import cut_words
from agents.log_analysis.kinds import ERROR, KINDS, kind_of
from agents.log_analysis.observed import quoted
from agents.log_analysis.wording import style, words
from agents.runtime.spec import CallRequest, DoneCall, Turn, TurnView
from kernel.contracts import Evidence, Finding, MemoryHit, Outcome
from kernel.states import CallState
from kernel.wording import Words

#: The note of turns with such a search.
DIRECTED = "directed by memory"
#: Lines shown.
_LINES = 10
#: A memory's pattern is looked for from the end: what happens now proves it, not the incident it was learnt from.
_DIRECTED: dict[str, Any] = {"level": "warning", "limit": 8, "newest_first": True}
_NEWEST_ERROR: dict[str, Any] = {"level": "error", "limit": 1, "newest_first": True}
#: Seconds by which the newest hit may be older than the newest error and still belong to the same incident.
_CURRENT = 900.0
_MESSAGE = re.compile(r"\"(?:message|msg|log|MESSAGE)\\*\": ?\\*\"([^\"\\…]{4,})")
_BEFORE = re.compile(r"^(?:\d{4}-\S+ |[A-Z][a-z]{2} +\d+ )?\S*\d{2}:\d{2}:\d{2}\S*\s*")
#: Characters of a finding's title, and of a memory where an answer tells it, also where it must be short.
_TITLE, _MEMORY, _MEMORY_BRIEF = 200, 600, 160
#: A memory's pattern is an expression; people are told the phrase.
_ESCAPED = re.compile(r"\\([^\w\s])")
#: What a cause that a memory knew and the log confirms is worth: two witnesses, one of them old.
_CONFIRMED = 0.9


def _hints(view: TurnView) -> list[tuple[MemoryHit, str]]:
    hints = []
    for memory in view.work.memories:
        pattern = memory.slots.get("pattern")
        if memory.tier == "high" and isinstance(pattern, str) and 3 <= len(pattern) <= 400:  # noqa: PLR2004 - a phrase
            hints.append((memory, pattern))
    return hints[:2]


def directed_pattern(pattern: str) -> str:
    """Return a search pattern that finds a memory's pattern both as an expression and word by word."""
    literal = re2.escape(pattern)
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options=options)
    except re2.error:
        return str(literal)
    return str(literal) if literal == pattern else f"(?:{literal})|(?:{pattern})"


def directed(view: TurnView) -> Turn | None:
    """Look first for what a memory says the cause was; end at once if the log says so too, and says so now."""
    hints = _hints(view)
    if not hints or "search" not in view.tools:
        return None
    made = view.calls("search")
    if not made:
        calls = [
            CallRequest(tool="search", arguments={**_DIRECTED, "pattern": directed_pattern(p)})
            for _, p in hints
        ]
        calls.append(CallRequest(tool="search", arguments=_NEWEST_ERROR))
        return Turn(text="Looking for what an earlier incident was caused by.", calls=calls, note=DIRECTED)
    newest = made[len(hints)] if len(made) > len(hints) else None
    for (memory, pattern), call in zip(hints, made, strict=False):
        if call.state == CallState.done and (call.value or {}).get("total") and _current(call, newest):
            outcome = memory_outcome(view, memory, pattern, call.value)
            return Turn(text=outcome.answer, outcome=outcome)
    return None


def _current(call: DoneCall, newest: DoneCall | None) -> bool:
    """Tell whether the newest hit is about as new as the newest error: an old incident explains no new one."""
    hit = call.value["hits"][0]["time"] if call.value.get("hits") else ""
    errors = (newest.value or {}).get("hits", []) if newest and newest.state == CallState.done else []
    if not hit or not errors or not errors[0]["time"]:
        return bool(call.value.get("hits"))
    return (
        datetime.fromisoformat(errors[0]["time"]) - datetime.fromisoformat(hit)
    ).total_seconds() <= _CURRENT


def memory_outcome(view: TurnView, memory: MemoryHit, pattern: str, value: dict[str, Any]) -> Outcome:
    """Return the outcome of a directed search that hit: the known cause is back, and these lines say so."""
    hits = value.get("hits", [])
    known = str(memory.slots.get("cause_key") or memory.slots.get("key") or "")
    kind = (
        next((k for k in KINDS if k.key == known), None)
        or kind_of(pattern)
        or kind_of(hits[0]["quote"])
        or ERROR
    )
    newest, oldest = hits[0], value.get("first") or hits[-1]
    lines = "1 line says" if value["total"] == 1 else f"{value['total']} lines say"
    phrase = _ESCAPED.sub(r"\1", pattern)
    service = f"Service: {memory.slots['service']}. " if memory.slots.get("service") else ""
    said = _said(newest["quote"])
    finding = Finding(
        title=cut_words(f"{kind.label}: {said}", _TITLE),
        severity="critical" if any(h["level"] in ("error", "fatal") for h in hits) else "error",
        score=_CONFIRMED,
        key=known or kind.key,
        detail=f"{lines} so, first at {oldest['time'] or 'no time'} ({oldest['source']}:{oldest['line']}), "
        f"the latest at {newest['time'] or 'no time'} ({newest['source']}:{newest['line']}). "
        f'Seen before: memory {memory.id}. {service}Pattern: "{phrase}".',
        evidence=[
            Evidence(source=h["source"], line=h["line"], quote=h["quote"])
            for h in _distinct([oldest, newest])
        ],
    )
    say, brief = words(view), style(view).length == "short"
    title = cut_words(say("{label}: {message}", label=say.plain(kind.label), message=said), _TITLE)
    answer = _known(memory, value, title, say, brief=brief)
    return Outcome(answer=answer, findings=[finding], cited_memories=[memory.id])


def _known(memory: MemoryHit, value: dict[str, Any], title: str, say: Words, *, brief: bool) -> str:
    """Return the answer that tells a known cause, the memory that knows it, and what the log says now."""
    hits, count = value["hits"], value["total"]
    oldest = value.get("first") or hits[-1]
    # on one line, as the checker reads it: the sentence that cites says what the memory says
    text = cut_words(" ".join(memory.text.split()), _MEMORY_BRIEF if brief else _MEMORY)
    lines = say("1 line says") if count == 1 else say("{count} lines say", count=count)
    again = "The log says it again: {lines} so, first in line {line}; newest first:"
    shown = [quoted(h) for h in hits[: 1 if brief else _LINES]]
    return "\n\n".join(
        [
            say("Most likely cause: {title}", title=title),
            say("Seen before [mem:{id}]: {text}", id=memory.id, text=text),
            "\n".join(shown if brief else [say(again, lines=lines, line=oldest["line"]), *shown]),
        ]
    )


def _said(quote: str) -> str:
    """Return what a quoted line says, without its time, its level and the fields round it."""
    if found := _MESSAGE.search(quote):
        return found[1]
    text = _BEFORE.sub("", quote).strip()
    return text[from_text(text)[1] :].lstrip(" ]:-|") or text


def _distinct(hits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({(h["source"], h["line"]): h for h in hits if h["quote"].strip()}.values())
