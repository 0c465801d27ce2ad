"""The first look at a run's logs: window, levels, templates, problems, changes, silences; each with a line to cite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from agents.log_analysis.asking.digest import (
    path_rows,
    restart_rows,
    silence_rows,
    step_rows,
    trace_rows,
    turn_rows,
    turns,
)
from agents.log_analysis.asking.foreshadowing import before_rows
from agents.log_analysis.asking.measures import slow_rows
from agents.log_analysis.asking.suspects import PROBLEMS, onset_of, suspects, trouble_row
from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.times import iso
from agents.log_analysis.judging.causes import certainty
from agents.log_analysis.judging.precedence import Problem
from agents.log_analysis.judging.problems import problems
from agents.log_analysis.judging.recordings import begun, second
from agents.log_analysis.reading import ANSWER_BYTES, Reading, fit
from agents.log_analysis.scanning.summary import Group, Summary, summarise
from agents.log_analysis.scanning.within import within

#: Rows of each list; the answer is cut to its budget besides.
_TOP = 6
_NEW = 4
_RARE = 4
_WARNED = 3
_CHANGES = 4
#: What comes so often (share of the events, lines) is the log's daily work and no change.
_DAILY, _DAILY_LINES = 0.01, 20
_SERVICES = 12
_FILES = 12

#: Trouble that begins in a log's first second (to which many clocks are written), or first part of so much, was there.
_SECOND, _BEGINNING = 1.0, 0.01

#: What is left out first where the answer is too long; the problems, with the cause among them, go last.
_TRIMS = (
    "rare",
    "warned",
    "top",
    "new",
    "files",
    "turns",
    "restarts",
    "slow",
    "silences",
    "traces",
    "before",
    "changes",
    "problems",
)

_Row = dict[str, Any]


def overview_of(
    reading: Reading,
    file: int | None,
    since: float | None = None,
    until: float | None = None,
    room: int = ANSWER_BYTES,
) -> _Row:
    """Return the overview as the tool answers it; of a window, where one is named, judged beside the whole log."""
    whole = None
    if since is not None or until is not None:
        whole = summarise(reading.scan, file)
        reading = replace(reading, scan=within(reading.scan, since, until))
    summary = summarise(scan := reading.scan, file)
    found, split = second(scan, summary, problems(scan, summary, whole), file)
    changes, measured = turns(reading, summary, file), slow_rows(reading, summary, file)
    rows = suspects(reading, summary, found, changes, measured, file, whole)
    onset = onset_of(found, rows) if split is None else iso(begun(scan, found, split))
    begins = _begins(summary, onset)
    answer: _Row = {
        "asked": {"since": iso(since), "until": iso(until)},
        **_read(reading, summary, file),
        "onset": onset,
        "recording": iso(split),
        "trouble": trouble_row(reading, summary, found, file),
        **({"begins_in_trouble": True} if begins else {}),
        "problem_count": len(found) + len(rows) - min(len(found), PROBLEMS),
        "problems": rows,
        **_led_up(reading, summary, found, file, onset, begins=begins),
        "traces": trace_rows(reading, summary, file),
        "slow": [{**row, "score": certainty(row["score"])} for row in measured if not row["alarm"]],
        "restarts": restart_rows(reading, summary, file),
        "paths": path_rows(reading, file) if found else {},
        "silences": silence_rows(reading, summary, file),
        "turns": [*step_rows(reading, summary, file), *turn_rows(reading, summary, changes)],
        **({"new": []} if begins else _new(reading, summary, onset)),
        "top": _top(reading, summary),
        **_rare(reading, summary),
        "warned": [] if rows else _warned(reading, summary),
    }
    return fit(answer, *_TRIMS, room=room)


def _read(reading: Reading, summary: Summary, file: int | None) -> _Row:
    """Return what was read: how much of what, when, from which files and services."""
    return {
        "window": {"from": iso(summary.start), "to": iso(summary.end), "strays": summary.strays},
        "events": summary.events,
        "lines": sum(f.lines for n, f in enumerate(reading.scan.facts) if file in (None, n)),
        "levels": {Level(n).name: c for n, c in sorted(summary.levels.items())},
        "templates": len(summary.groups),
        "files": _files(reading, file),
        "services": _services(reading, summary),
        "not_read": [n[:300] for n in reading.not_read[:8]],
    }


def _files(reading: Reading, file: int | None) -> list[dict[str, Any]]:
    rows = []
    for number, facts in enumerate(reading.scan.facts):
        if file in (None, number):
            row: dict[str, Any] = {
                "source": facts.name,
                "lines": facts.lines,
                "events": facts.events,
                "format": facts.form,
            }
            if facts.confidence < 1:  # the share of lines that are of this format
                row["confidence"] = round(facts.confidence, 2)
            rows.append({**row, "notes": facts.notes} if facts.notes else row)
    more = len(rows) - _FILES
    return rows[:_FILES] + ([{"source": f"… and {more} more files"}] if more > 0 else [])


def _services(reading: Reading, summary: Summary) -> dict[str, int]:
    named = {
        reading.text(reading.scan.services[n], 60): c for n, c in summary.services.most_common(_SERVICES) if n
    }
    return named if len(named) > 1 else {}


def _led_up(
    reading: Reading,
    summary: Summary,
    found: Sequence[Problem],
    file: int | None,
    onset: str,
    *,
    begins: bool,
) -> _Row:
    """Return what stands before the onset: deploys and other changes, and lines that are rare but called nothing."""
    listed = _changes(reading, summary, file, onset)
    before = [] if begins else before_rows(reading, summary, found, onset, listed["changes"])
    return {**listed, "before": before}


def _changes(reading: Reading, summary: Summary, file: int | None, began: str) -> _Row:
    """Return lines that tell of deploys and configuration changes, those nearest before the onset first."""
    daily = max(_DAILY_LINES, _DAILY * summary.events)
    final, groups = reading.scan.miner.final, summary.groups
    rows = [
        row
        for row in reading.scan.changes
        if file in (None, row.file)
        and ((group := groups.get(final(row.template))) is None or group.count <= daily)
    ]
    onset = _seconds(began)

    def distance(row: Any) -> tuple[bool, float]:
        if onset is None or row.time != row.time:  # a NaN differs from itself
            return (False, float(row.line))
        return (row.time > onset, abs(onset - row.time))

    rows.sort(key=distance)
    return _listed("changes", [reading.at(row) for row in rows[:_CHANGES]], len(rows))


def _seconds(text: str) -> float | None:
    return datetime.fromisoformat(text).timestamp() if text else None


def _begins(summary: Summary, began: str) -> bool:
    """Return whether the log begins in the trouble: then what is new with it cannot be told."""
    onset = _seconds(began)
    if onset is None or summary.start is None or summary.end is None:
        return False
    return onset - summary.start < min(_SECOND, (summary.end - summary.start) * _BEGINNING)


def _line(reading: Reading, group: Group) -> dict[str, Any]:
    template = reading.text(reading.scan.miner.templates[group.template].text(), 120)
    return {"count": group.count, "level": group.level.name, "template": template, "line": group.first.line}


def _top(reading: Reading, summary: Summary) -> list[dict[str, Any]]:
    ordered = sorted(summary.groups.values(), key=lambda g: -g.count)[:_TOP]
    return [_line(reading, g) for g in ordered]


def _new(reading: Reading, summary: Summary, began: str) -> _Row:
    """Return harmless-looking templates that appear with the trouble."""
    onset = _seconds(began)
    if onset is None:
        return {"new": []}
    groups = [g for g in summary.groups.values() if g.first.time >= onset and g.level < Level.error]
    groups.sort(key=lambda g: g.first.time)
    rows = [
        {**_line(reading, g), "time": iso(g.first.time), "source": reading.name(g.first.file)}
        for g in groups[:_NEW]
    ]
    return _listed("new", rows, len(groups))


def _rare(reading: Reading, summary: Summary) -> _Row:
    groups = [g for g in summary.groups.values() if g.count <= 2 and Level.info <= g.level < Level.error]  # noqa: PLR2004 - once or twice
    groups.sort(key=lambda g: (-g.level, g.count, g.first.line))
    rows = [{**_line(reading, g), "source": reading.name(g.first.file)} for g in groups[:_RARE]]
    return _listed("rare", rows, len(groups))


def _warned(reading: Reading, summary: Summary) -> list[_Row]:
    """Return the warnings of a log that has no problem, those that came most first: a person may know them."""
    groups = sorted(
        (g for g in summary.groups.values() if g.level == Level.warning),
        key=lambda g: (-g.count, g.first.line),
    )
    return [{**_line(reading, g), **reading.at(g.first)} for g in groups[:_WARNED]]


def _listed(name: str, rows: list[_Row], total: int) -> _Row:
    """Return a list under its name, and how many are not in it."""
    left = total - len(rows)
    return {name: rows, f"{name}_left_out": left} if left else {name: rows}
