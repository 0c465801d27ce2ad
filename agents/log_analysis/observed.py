"""The paragraphs on what else was seen: silences, restarts, changes, warnings, rare lines, reading notes; pure."""

from __future__ import annotations

import re
from typing import Any

from agents.log_analysis.judging.placing import code
from kernel.contracts import Finding
from kernel.wording import Words

_NOTES, _CHANGES = 8, 4
#: In a log of so many events, a kind of line that came once stands out.
_MANY_EVENTS = 200
#: How a note begins that counts something, and the note that names a zone.
_COUNT = re.compile(r"[\d,]+(?= )")
_ZONE = re.compile(r"time stamps name no zone: taken as (\S+)")

_Row = dict[str, Any]


def observations(overview: _Row, findings: list[Finding], say: Words) -> list[str]:
    """Return what else was seen: silences, restarts, changes where no cause cites one, how files were read."""
    troubles = [row["template"] for row in overview.get("problems", [])]
    quiet = [row for row in overview.get("silences", [])[:2] if not _ends(row, troubles)]
    if not findings:  # who fell silent for good has been told
        quiet = [row for row in quiet if not (row.get("open") and row["of"] == "service")] or quiet[1:]
    texts = [silence(row, say) for row in quiet]
    texts += [_step(row, say) for row in overview.get("turns", []) if row.get("of") == "log"]
    if not findings:
        texts += [text for text in (_warned(overview, say), _seldom(overview, say)) if text]
    if restarts := overview.get("restarts", []):
        texts.append("\n".join([say("Starts and restarts:"), *map(quoted, restarts[:_CHANGES])]))
    if not findings and overview.get("changes"):
        texts.append("\n".join([say("Changes seen:"), *map(quoted, overview["changes"][:_CHANGES])]))
    notes = [f"{f['source']}: {_note(n, say)}" for f in overview.get("files", []) for n in f.get("notes", [])]
    if strays := (overview.get("window") or {}).get("strays"):
        text = "{count} lines are stamped far from all others: their times are not believed"
        notes.insert(0, say(text, count=strays))
    if notes:
        texts.append("\n".join([say("Reading notes:"), *(f"- {note}" for note in notes[:_NOTES])]))
    return texts


def quoted(hit: _Row) -> str:
    """Return a line to cite as an item of a list."""
    return f"- {hit['source']}:{hit['line']}  {code(hit['quote'])}"


def silence(row: _Row, say: Words) -> str:
    """Return who was silent, from when on and how long."""
    if "events" in row:  # of a log without times
        told = {
            "told": say("{count} events", count=row["events"]),
            "start": say("event {number}", number=row["from"]),
            "end": say("event {number}", number=row["to"]),
        }
    else:
        told = {"told": row.get("told", ""), "start": row["from"], "end": row["to"]}
    if row.get("of") == "level":
        text = "From {start} on no line is of level {level} or below; those above go on: its level may be raised."
        return say(text, start=told["start"], level=row["name"])
    if row.get("open") and row.get("of") != "log" and "events" not in row:
        text = "{name} fell silent at {start} and stayed so to the end of the log, {told} later."
        return say(text, name=code(row.get("name", "")), start=told["start"], told=told["told"])
    if row.get("of") == "log":
        text = say("The log is silent for {told}, from {start} to {end}.", **told)
        forward = " Its stamps name no zone: clocks that are put forward leave out such an hour."
        return text + say(forward) if row.get("clock") else text
    return say("{name} is silent for {told}, from {start} to {end}.", name=code(row.get("name", "")), **told)


def _step(row: _Row, say: Words) -> str:
    """Return that the whole log got more or fewer lines."""
    text = "From {time} on the log has {fold} times as many lines as before, of all kinds, to its end."
    return say(text, time=row["time"], fold=row["fold"])


def _ends(row: _Row, troubles: list[str]) -> bool:
    """Tell whether what is silent is the trouble itself: that it is over is good news, and told elsewhere."""
    name = row.get("name", "").rstrip("…")
    return row.get("of") == "template" and bool(name) and any(one.startswith(name) for one in troubles)


def _seldom(overview: _Row, say: Words) -> str:
    """Return the kinds of lines that a log has once or twice, where it has few of them."""
    rows = [row for row in overview.get("rare", []) if row["level"] != "warning"]  # those are told anyway
    if not rows or overview.get("rare_left_out") or overview.get("events", 0) < _MANY_EVENTS:
        return ""
    told = [f"- {row['source']}:{row['line']}  {code(row['template'])}" for row in rows]
    return "\n".join([say("Kinds of lines that came only once or twice:"), *told])


def _warned(overview: _Row, say: Words) -> str:
    """Return the warnings of a log in which nothing was found."""
    line = "- {count} × {template}, the first at {time} ({where})"
    told = [
        say(
            line,
            count=row["count"],
            template=code(row["template"]),
            time=row["time"] or say("no time"),
            where=f"{row['source']}:{row['line']}",
        )
        for row in overview.get("warned", [])
    ]
    return "\n".join([say("Warnings, none of a known kind of failure:"), *told]) if told else ""


def _note(note: str, say: Words) -> str:
    """Return a note of how a file was read in the requester's language; its count or zone is put in."""
    if found := _ZONE.fullmatch(note):
        return say("time stamps name no zone: taken as {zone}", zone=found[1])
    counted = _COUNT.match(note)
    if counted is None:
        return say.plain(note)
    return counted[0] + say.plain(note[counted.end() :])
