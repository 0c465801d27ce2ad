"""The paragraphs of the log agent's answers: cause, proof, for and against, what else was looked at; pure."""

from __future__ import annotations

import re
from typing import Any

from agents.log_analysis.judging.chains import when
from agents.log_analysis.judging.placing import code, only
from agents.log_analysis.judging.reasons import after_of, doubts_of
from agents.log_analysis.judging.titles import title
from agents.log_analysis.observed import silence
from kernel.contracts import Finding
from kernel.wording import Words

#: From this score on a cause is the most likely one; below it is possible.
_SURE = 0.6
_SUSPECTS = 5
#: Lines quoted, and how many of one shape.
_LINES, _OF_A_SHAPE = 10, 2
_VALUE = re.compile(r"[\w:.+-]*\d[\w:.+-]*")
#: What fields in lines say that nothing failed: such a line is not quoted as one with a word of trouble.
_HARMLESS = re.compile(
    r"(?i)[\"']?\berrors?(?:[_ -]?(?:count|rate|code))?[\"']?\s?[:=]\s?[\"']?"
    r"(?:null|none|nil|false|0(?:\.0+)?%?|\[\]|<nil>)(?![\w.])"
    r"|[\"']?\bfail(?:ed|ures?)[\"']?\s?[:=]\s?[\"']?0\b"
    r"|\b(?:no|0|zero|without) (?:\w+ )?(?:errors?|failures?|exceptions?)\b"
)

_Row = dict[str, Any]


def verdict(
    findings: list[Finding], overview: _Row, rows: list[_Row], say: Words, *, brief: bool, why: bool = True
) -> str:
    """Return the cause in one sentence with its time, the lines that prove it, what speaks for and against it.

    Where nothing is found and no cause was asked for (`why`), that there is no sign of trouble.
    """
    if not findings:
        return _nothing(overview, say, why=why)
    top = findings[0]
    sure = say("Most likely cause" if top.score >= _SURE else "Possible cause")
    head = say("{sure} (score {score:.2f}): {title}", sure=sure, score=top.score, title=top.title)
    began = min(rows, key=when)["first"]["time"] if rows else ""
    if began:
        head += say(". Since {time}.", time=began)
    if rows and (one := only(rows[0].get("where", ""), say)):
        head += one if began else say.plain(".") + one
    if overview.get("begins_in_trouble"):
        head += say(
            " The log begins in the trouble: what was before it, and what is new with it, cannot be told."
        )
    head += _window(overview, say)
    lines = "\n".join(f"- {e.source}:{e.line}  {code(e.quote)}" for e in top.evidence[: 1 if brief else 4])
    if brief:
        return f"{head}\n\n{lines}"
    parts = [head, lines, _listed("What speaks for it:", top.reasons, say)]
    against = doubts_of(rows, say) if rows else []
    parts += [
        _listed("What speaks against it:", against, say),
        _listed("What came after it:", after_of(rows, overview, say), say) if rows else "",
        top.detail,
    ]
    return "\n\n".join(part for part in parts if part)


def _nothing(overview: _Row, say: Words, *, why: bool) -> str:
    """Return that no cause was found; who fell silent for good is told first, as that may be the trouble."""
    gone = [
        silence(row, say)
        for row in overview.get("silences", [])
        if row.get("open") and row["of"] == "service"
    ]
    head = "No sign of trouble was found. {looked}"
    if gone:
        head = "No line tells why. {looked}"
    elif why:
        head = "No cause was found. {looked}"
    looked = say(head, looked=looked_at(overview, say)) + _window(overview, say)
    return "\n\n".join([*gone[:1], looked])


def outside(whole: _Row, overview: _Row, say: Words) -> str:
    """Return what is wrong elsewhere in a log of which a window was asked about that is well."""
    rows = whole.get("problems") or []
    if not rows or whole is overview or not _window(overview, say):
        return ""
    row = rows[0]
    where = f"{row['first']['source']}:{row['first']['line']}"
    text = "Outside of it the log tells of trouble: {title}, at {time} ({where})."
    return say(
        text, title=title(row, row["kind"], say), time=row["first"]["time"] or say("no time"), where=where
    )


def others(findings: list[Finding], say: Words) -> str:
    """Return the other candidates, a line each."""
    row = "- {title} (score {score:.2f}, {where})"
    rows = [
        say(row, title=f.title, score=f.score, where=f"{f.evidence[0].source}:{f.evidence[0].line}")
        for f in findings[1:]
        if f.evidence
    ]
    return "\n".join([say("Other candidates:"), *rows]) if rows else ""


def suspects(comparison: _Row | None, say: Words) -> str:
    """Return the services by what rose, vanished and is blamed between the two windows, where several were ranked."""
    rows = (comparison or {}).get("services", [])[:_SUSPECTS]
    told = ", ".join(f"{n}. {row['service']} ({row['score']})" for n, row in enumerate(rows, 1))
    return (
        say("Services by what changed between the two windows: {told}.", told=told) if len(rows) > 1 else ""
    )


def looked_at(overview: _Row, say: Words) -> str:
    """Return what was looked at: events, window, levels, sources."""
    window = overview.get("window") or {}
    names = ", ".join(f["source"] for f in overview.get("files", [])[:6])
    levels = ", ".join(f"{count} {name}" for name, count in overview.get("levels", {}).items())
    span = say(" without times")
    if window.get("from"):
        span = say(" from {start} to {end}", start=window["from"], end=window["to"])
    return say(
        "Looked at {events} events{span} ({levels}) in {names}.",
        events=overview.get("events", 0),
        span=span,
        levels=levels or say("none"),
        names=names or say("no file"),
    )


def not_found(findings: list[Finding], overview: _Row, say: Words) -> list[str]:
    """Return what was looked for and not found."""
    if findings:
        return []
    nothing = "no line of level error or worse, and no line that tells of a known kind of failure. {looked}"
    sought = "Looked for errors, warnings, words of known causes, slow work, bad states, silences, restarts."
    return [say(nothing, looked=looked_at(overview, say)), say(sought)]


def harmless(quote: str) -> bool:
    """Tell whether the word of trouble in a line only says that there was none."""
    rest = _HARMLESS.sub(" ", quote)
    return rest != quote and not re.search(
        r"(?i)error|exception|fail|fatal|panic|refused|denied|traceback", rest
    )


def shapes(hits: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a few lines of each shape: numbers apart, they say the same."""
    seen: dict[str, int] = {}
    kept: list[dict[str, Any]] = []
    for hit in hits:
        shape = _VALUE.sub("#", hit["quote"])
        seen[shape] = seen.get(shape, 0) + 1
        if seen[shape] <= _OF_A_SHAPE and len(kept) < _LINES:
            kept.append(hit)
    return kept


def _window(overview: _Row, say: Words) -> str:
    """Return that a window was asked about, and nothing outside of it was judged."""
    asked = overview.get("asked") or {}
    if not any(asked.values()):
        return ""
    text = " Only the {events} events around what was asked about were judged: {start} to {end}."
    start, end = asked["since"] or say("the beginning"), asked["until"] or say("the end")
    return say(text, start=start, end=end, events=overview.get("events", 0))


def _listed(heading: str, items: list[str], say: Words) -> str:
    return "\n".join([say(heading), *(f"- {item}" for item in items)]) if items else ""
