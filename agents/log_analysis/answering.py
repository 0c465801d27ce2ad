"""Words the log agent's outcome from the journal: findings, quoted lines, what was looked at; pure."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from agents.log_analysis.formats.levels import from_text
from agents.log_analysis.formats.text import cut_words
from agents.log_analysis.judging.causes import rank, top_rows
from agents.log_analysis.kinds import ERROR, KINDS, SLOW, kind_of
from agents.log_analysis.orders import not_followed
from agents.log_analysis.paragraphs import (
    harmless,
    not_found,
    observations,
    others,
    quoted,
    suspects,
    verdict,
)
from agents.log_analysis.questions import about_speed
from agents.log_analysis.spans import Span
from agents.log_analysis.wording import style, words
from agents.runtime.spec import DoneCall, TurnView
from kernel.contracts import Evidence, Finding, MemoryHit, NotDone, Outcome
from kernel.states import CallState
from kernel.wording import ENGLISH, Words

#: Lines quoted in the answer, and how many of one shape.
_LINES = 10
_OF_A_SHAPE = 2
_MESSAGE = re.compile(r"\"(?:message|msg|log|MESSAGE)\\*\": ?\\*\"([^\"\\…]{4,})")
_BEFORE = re.compile(r"^(?:\d{4}-\S+ |[A-Z][a-z]{2} +\d+ )?\S*\d{2}:\d{2}:\d{2}\S*\s*")
_VALUE = re.compile(r"[\w:.+-]*\d[\w:.+-]*")
#: Characters of a finding's title, and of a memory where an answer tells it, also where it must be short.
_TITLE, _MEMORY, _MEMORY_BRIEF = 200, 600, 160
#: A memory's pattern is an expression; people are told the phrase.
_ESCAPED = re.compile(r"\\([^\w\s])")
#: What a cause that a memory knew and the log confirms is worth: two witnesses, one of them old.
_CONFIRMED = 0.9


def answered(view: TurnView, overview: dict[str, Any], told: str) -> Outcome:
    """Return the outcome of a question that was no search for a cause."""
    return Outcome(answer=told, not_done=[*_not_done(view, overview), *not_followed(view)])


def conclude(
    view: TurnView, overview: dict[str, Any], *, lead: str = "", span: Span | None = None
) -> Outcome:
    """Return the outcome of what the journal holds; findings are in English, for what is learnt from them.

    `lead` answers what was asked besides the cause, and comes first; `span` is the window that was asked about.
    """
    overview = _asked_for(view, _within(overview, span))
    comparison = _value(view.calls("compare"))
    findings = rank(overview, comparison)
    say, brief = words(view), style(view).length == "short"
    shown = findings if say is ENGLISH else rank(overview, comparison, say=say)
    searches = [c for c in view.calls("search") if c.state == CallState.done and c.value]
    paragraphs = [lead, verdict(shown, overview, top_rows(overview), say, brief=brief)]
    if not brief:
        paragraphs += [others(shown, say)] if len(shown) > 1 else []
        paragraphs += [suspects(comparison, say)]
        paragraphs += observations(overview, shown, say)
    paragraphs += _lines(searches, say, found=bool(shown), brief=brief)
    return Outcome(
        answer="\n\n".join(p for p in paragraphs if p),
        findings=findings,
        not_found=not_found(findings, overview, say),
        not_done=[*_not_done(view, overview), *not_followed(view)],
    )


def _within(overview: dict[str, Any], span: Span | None) -> dict[str, Any]:
    """Leave out problems that ended before the window asked about, or began after it."""
    if not span:
        return overview
    rows = [row for row in overview.get("problems", []) if _touches(row, span)]
    return {**overview, "problems": rows, "left_out": len(overview.get("problems", [])) - len(rows)}


def _touches(row: dict[str, Any], span: Span) -> bool:
    first, last = row["first"]["time"], (row.get("last") or row["first"])["time"]
    if not first or not last:
        return True
    return (not span.since or _moment(last) >= _moment(span.since)) and (
        not span.until or _moment(first) <= _moment(span.until)
    )


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _asked_for(view: TurnView, overview: dict[str, Any]) -> dict[str, Any]:
    """Put what took longest among the problems where speed is asked for; it is no alarm by itself."""
    rows = overview.get("problems", [])
    if not about_speed(view.work.request) or any(row["kind"] == SLOW.key for row in rows):
        return overview
    return {**overview, "problems": sorted([*rows, *overview.get("slow", [])[:2]], key=lambda r: -r["score"])}


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


def _value(calls: list[DoneCall]) -> dict[str, Any] | None:
    done = [c.value for c in calls if c.state == CallState.done and isinstance(c.value, dict)]
    return done[-1] if done else None


def _lines(searches: list[DoneCall], say: Words, *, found: bool, brief: bool) -> list[str]:
    """Return the lines that were asked for, in full; else those of the errors, a few of each shape."""
    asked = [c for c in searches if c.arguments.get("pattern") and "newest_first" in c.arguments]
    if asked:
        return [_hits(c, "Lines that were asked for", c.value.get("hits", []), say) for c in asked]
    for call in () if brief else searches:
        hits = [
            h for h in call.value.get("hits", []) if call.arguments.get("level") or not harmless(h["quote"])
        ]
        if hits and (not found or call.arguments.get("level")):
            heading = (
                "Error lines"
                if call.arguments.get("level")
                else "Lines with words of trouble, at harmless levels"
            )
            return [_hits(call, heading, _shapes(hits), say)]
    return []


def _shapes(hits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    seen: dict[str, int] = {}
    kept: list[dict[str, Any]] = []
    for hit in hits:
        shape = _VALUE.sub("#", hit["quote"])
        seen[shape] = seen.get(shape, 0) + 1
        if seen[shape] <= _OF_A_SHAPE and len(kept) < _LINES:
            kept.append(hit)
    return kept


def _hits(call: DoneCall, heading: str, shown: list[dict[str, Any]], say: Words) -> str:
    if not shown:
        return say("{heading}: none.", heading=say(heading))
    count = {"shown": len(shown), "total": call.value["total"]}
    return "\n".join(
        [say("{heading} ({shown} of {total}):", heading=say(heading), **count), *map(quoted, shown)]
    )


def _not_done(view: TurnView, overview: dict[str, Any]) -> list[NotDone]:
    rows = [NotDone(what="read a source", why=why) for why in overview.get("not_read", [])]
    for call in view.calls():
        if call.state == CallState.done:
            continue
        why = (call.error or {}).get("message") or f"the call ended as {call.state.value}"
        if call.tool == "compare" and "holds no event" in why:
            continue  # the trouble is there from the first line: nothing to compare with
        rows.append(NotDone(what=call.tool, why=why))
    return rows
