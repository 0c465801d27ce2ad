"""Words the log agent's outcome from the journal: findings, quoted lines, what was looked at; pure."""

from __future__ import annotations

import re
from typing import Any

from agents.log_analysis.causes import rank
from agents.log_analysis.kinds import ERROR, KINDS, kind_of
from agents.log_analysis.levels import from_text
from agents.log_analysis.text import cut_words
from agents.runtime.spec import DoneCall, TurnView
from kernel.contracts import Evidence, Finding, MemoryHit, NotDone, Outcome
from kernel.states import CallState

#: Lines quoted in the answer, and how many of one shape.
_LINES = 10
_OF_A_SHAPE = 2
_MESSAGE = re.compile(r"\"(?:message|msg|log|MESSAGE)\\*\": ?\\*\"([^\"\\…]{4,})")
_BEFORE = re.compile(r"^(?:\d{4}-\S+ |[A-Z][a-z]{2} +\d+ )?\S*\d{2}:\d{2}:\d{2}\S*\s*")
_VALUE = re.compile(r"[\w:.+-]*\d[\w:.+-]*")
#: Characters of a finding's title, and of a memory where an answer tells it.
_TITLE, _MEMORY = 200, 600
#: A memory's pattern is an expression; people are told the phrase.
_ESCAPED = re.compile(r"\\([^\w\s])")
#: What a cause that a memory knew and the log confirms is worth: two witnesses, one of them old.
_CONFIRMED = 0.9


def conclude(view: TurnView, overview: dict[str, Any]) -> Outcome:
    """Return the outcome of what the journal holds."""
    comparison = _value(view.calls("compare"))
    findings = rank(overview, comparison)
    searches = [c for c in view.calls("search") if c.state == CallState.done and c.value]
    paragraphs = [_verdict(findings, overview)]
    paragraphs += [_others(findings)] if len(findings) > 1 else []
    paragraphs += _observations(overview, findings)
    paragraphs += _lines(searches, found=bool(findings))
    return Outcome(
        answer="\n\n".join(p for p in paragraphs if p),
        findings=findings,
        not_found=_not_found(findings, overview),
        not_done=_not_done(view, overview),
    )


def memory_outcome(memory: MemoryHit, pattern: str, value: dict[str, Any]) -> Outcome:
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
    finding = Finding(
        title=cut_words(f"{kind.label}: {_said(newest['quote'])}", _TITLE),
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
    known_text = cut_words(memory.text.strip(), _MEMORY)
    answer = (
        f"Most likely cause: {finding.title}\n\nSeen before [mem:{memory.id}]: {known_text}\n\n"
        f"The log says it again: {lines} so, first in line {oldest['line']}; newest first:\n"
        + "\n".join(_quoted(h) for h in hits[:_LINES])
    )
    return Outcome(answer=answer, findings=[finding], cited_memories=[memory.id])


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


def _verdict(findings: list[Finding], overview: dict[str, Any]) -> str:
    if not findings:
        return f"No cause was found. {_looked_at(overview)}"
    top = findings[0]
    sure = "Most likely cause" if top.score >= 0.6 else "Possible cause"  # noqa: PLR2004 - the middle, with a margin
    lines = "\n".join(f"- {e.source}:{e.line}  {_code(e.quote)}" for e in top.evidence[:4])
    return f"{sure} (score {top.score:.2f}): {top.title}\n\n{top.detail}\n\n{lines}"


def _others(findings: list[Finding]) -> str:
    rows = [
        f"- {f.title} (score {f.score:.2f}, {f.evidence[0].source}:{f.evidence[0].line})"
        for f in findings[1:]
        if f.evidence
    ]
    return "Other candidates:\n" + "\n".join(rows) if rows else ""


def _observations(overview: dict[str, Any], findings: list[Finding]) -> list[str]:
    texts = []
    if silence := overview.get("silence"):
        texts.append(
            f"The log is silent for {silence['seconds']:g} s, from {silence['from']} to {silence['to']}."
        )
    if not findings and overview.get("changes"):
        texts.append("Changes seen:\n" + "\n".join(_quoted(row) for row in overview["changes"]))
    notes = [f"{f['source']}: {note}" for f in overview.get("files", []) for note in f.get("notes", [])]
    if notes:
        texts.append("Reading notes:\n" + "\n".join(f"- {note}" for note in notes[:8]))
    return texts


def _lines(searches: list[DoneCall], *, found: bool) -> list[str]:
    """Return the lines that were asked for, in full; else those of the errors, a few of each shape."""
    asked = [c for c in searches if c.arguments.get("pattern") and "newest_first" in c.arguments]
    if asked:
        return [_hits(c, "Lines that were asked for", c.value.get("hits", [])) for c in asked]
    for call in searches:
        if call.value.get("hits") and (not found or call.arguments.get("level")):
            heading = (
                "Error lines"
                if call.arguments.get("level")
                else "Lines with words of trouble, at harmless levels"
            )
            return [_hits(call, heading, _shapes(call.value["hits"]))]
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


def _hits(call: DoneCall, heading: str, shown: list[dict[str, Any]]) -> str:
    if not shown:
        return f"{heading}: none."
    return f"{heading} ({len(shown)} of {call.value['total']}):\n" + "\n".join(_quoted(h) for h in shown)


def _quoted(hit: dict[str, Any]) -> str:
    return f"- {hit['source']}:{hit['line']}  {_code(hit['quote'])}"


def _code(text: str) -> str:
    """Quote log text as code, so that nothing in it is rendered."""
    return f"`{text.replace('`', chr(39))}`"


def _looked_at(overview: dict[str, Any]) -> str:
    window = overview.get("window") or {}
    names = ", ".join(f["source"] for f in overview.get("files", [])[:6])
    levels = ", ".join(f"{count} {name}" for name, count in overview.get("levels", {}).items())
    span = f" from {window['from']} to {window['to']}" if window.get("from") else " without times"
    return f"Looked at {overview.get('events', 0)} events{span} ({levels or 'none'}) in {names or 'no file'}."


def _not_found(findings: list[Finding], overview: dict[str, Any]) -> list[str]:
    if findings:
        return []
    return [
        "no line of level error or worse, and no line that tells of a known kind of failure. "
        + _looked_at(overview)
    ]


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
