"""The first look at a run's logs: window, levels, templates, problems, changes, silences; each with a line to cite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from math import isnan
from typing import Any

from agents.log_analysis.asking.digest import (
    path_rows,
    places,
    restart_rows,
    silence_rows,
    trace_rows,
    turn_rows,
    turns,
)
from agents.log_analysis.asking.measures import growth_rows, slow_rows, status_rows
from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.times import iso
from agents.log_analysis.judging.aftermath import aftermath
from agents.log_analysis.judging.changepoints import Change
from agents.log_analysis.judging.durations import lasting
from agents.log_analysis.judging.problems import Problem, problems, readable
from agents.log_analysis.judging.recordings import second
from agents.log_analysis.reading import Reading, fit
from agents.log_analysis.scanning.summary import Group, Summary, summarise

#: Rows of each list; the answer is cut to its budget besides.
PROBLEMS = 12
#: Problems whose last line is quoted too.
_CITED = 3
_TOP = 6
_NEW = 4
_RARE = 4
_CHANGES = 4
_SERVICES = 12
_FILES = 12

#: Directions of a change point by which something got more.
_RISES = ("start", "up", "burst")
#: Kinds that follow from waiting, and by how much what kept them waiting goes before them.
_WAITED = ("timeout", "pool_exhausted", "dependency_failed", "retry", "probe_failed", "backlog")
_ROOT = 0.01
#: What is left out first where the answer is too long; the problems, with the cause among them, go last.
_TRIMS = (
    "rare",
    "top",
    "new",
    "files",
    "turns",
    "restarts",
    "slow",
    "silences",
    "traces",
    "changes",
    "problems",
)

_Row = dict[str, Any]


def overview_of(reading: Reading, file: int | None) -> _Row:
    """Return the overview as the tool answers it."""
    scan = reading.scan
    summary = summarise(scan, file)
    found, split = second(scan, summary, problems(scan, summary), file)
    changes = turns(reading, summary, file)
    measured = slow_rows(reading, summary, file)
    traced = trace_rows(reading, summary, file)
    rows = [_row(reading, p, cited=n < _CITED) for n, p in enumerate(found[:PROBLEMS])]
    for row, problem in zip(rows[:_CITED], found, strict=False):
        row.update(_facts(reading, summary, problem, found, changes))
    placed = places(reading, [p.group.template for p in found[:_CITED]], file)
    for row in rows[:_CITED]:
        row.update({"where": placed[row["id"]]} if row["id"] in placed else {})
    alarms = [row for row in measured if row["alarm"]]
    _raise_roots(alarms, rows)
    rows += [*alarms, *growth_rows(reading, summary, file), *status_rows(reading, file)]
    rows.sort(key=lambda row: -row["score"])
    onset = _onset(found, rows) if split is None else iso(split)
    answer = {
        "window": {"from": iso(summary.start), "to": iso(summary.end)},
        "events": summary.events,
        "lines": sum(f.lines for n, f in enumerate(scan.facts) if file in (None, n)),
        "levels": {Level(n).name: c for n, c in sorted(summary.levels.items())},
        "templates": len(summary.groups),
        "files": _files(reading, file),
        "services": _services(reading, summary),
        "onset": onset,
        "problem_count": len(found) + len(rows) - min(len(found), PROBLEMS),
        "problems": rows,
        "changes": _changes(reading, file, onset),
        "traces": traced,
        "slow": [row for row in measured if not row["alarm"]],
        "restarts": restart_rows(reading, summary, file),
        "paths": path_rows(reading, file) if found else {},
        "silences": silence_rows(reading, summary, file),
        "turns": turn_rows(reading, summary, changes),
        "new": _new(reading, summary, onset),
        "top": _top(reading, summary),
        "rare": _rare(reading, summary),
        "not_read": [n[:300] for n in reading.not_read[:8]],
    }
    return fit(answer, *_TRIMS)


def _raise_roots(slow: list[_Row], rows: list[_Row]) -> None:
    """Put work that got slower before the first timeout above it: what waited too long is not the root."""
    if not rows or rows[0]["kind"] not in _WAITED or rows[0].get("chronic"):
        return
    for row in slow:
        rose = row["timing"].get("rose", "")
        if rose and rose <= rows[0]["first"]["time"]:
            row["score"] = round(max(row["score"], rows[0]["score"] + _ROOT), 3)
            return


def _onset(found: list[Problem], rows: list[_Row]) -> str:
    """Return when the trouble began: the first appearance of the likeliest problem that is not chronic."""
    for problem in found:
        if not problem.chronic and not isnan(problem.group.first.time):
            return iso(problem.group.first.time)
    return next(
        (row["first"]["time"] for row in rows if row.get("alarm") and "rose" in row.get("timing", {})), ""
    )


def _files(reading: Reading, file: int | None) -> list[dict[str, Any]]:
    rows = []
    for number, facts in enumerate(reading.scan.facts):
        if file in (None, number):
            row = {"source": facts.name, "lines": facts.lines, "events": facts.events, "format": facts.form}
            rows.append({**row, "notes": facts.notes} if facts.notes else row)
    more = len(rows) - _FILES
    return rows[:_FILES] + ([{"source": f"… and {more} more files"}] if more > 0 else [])


def _services(reading: Reading, summary: Summary) -> dict[str, int]:
    named = {
        reading.text(reading.scan.services[n], 60): c for n, c in summary.services.most_common(_SERVICES) if n
    }
    return named if len(named) > 1 else {}


def _names(reading: Reading, services: Counter[int]) -> list[str]:
    return [reading.text(reading.scan.services[n], 60) for n, _ in services.most_common(4) if n]


def _row(reading: Reading, problem: Problem, *, cited: bool) -> dict[str, Any]:
    group, profile = problem.group, problem.profile
    row: dict[str, Any] = {
        "id": group.template,
        "kind": problem.kind.key,
        "label": problem.kind.label,
        "level": group.level.name,
        "count": group.count,
        "score": round(problem.score, 3),
        "message": reading.text(readable(profile.message)),
        "template": reading.text(reading.scan.miner.templates[group.template].text(), 140),
        "services": _names(reading, group.services),
        "first": reading.at(group.first, profile.message),
    }
    if group.count > 1:
        last, spot = group.last, reading.at(group.last, profile.message[:20]) if cited else None
        row["last"] = spot or {"line": last.line, "time": iso(last.time), "source": reading.name(last.file)}
    if profile.root_line:
        row["root"] = reading.spot(profile.file, profile.root_line)
    if problem.chronic:
        row["chronic"] = True
    if problem.doubts:
        row["doubts"] = list(problem.doubts)
    if problem.blames:
        row["blames"] = reading.text(problem.blames, 60)
    return row


def _changes(reading: Reading, file: int | None, began: str) -> list[dict[str, Any]]:
    """Return lines that tell of deploys and configuration changes, those nearest before the onset first."""
    rows = [row for row in reading.scan.changes if file in (None, row.file)]
    onset = _seconds(began)

    def distance(row: Any) -> tuple[bool, float]:
        if onset is None or row.time != row.time:  # a NaN differs from itself
            return (False, float(row.line))
        return (row.time > onset, abs(onset - row.time))

    rows.sort(key=distance)
    return [reading.at(row) for row in rows[:_CHANGES]]


def _facts(
    reading: Reading, summary: Summary, problem: Problem, found: list[Problem], changes: Sequence[Change]
) -> _Row:
    """Return what speaks for and against a problem: its rank, its rise, who blames it, what came after it."""
    row: _Row = {"rank": problem.rank}
    group = problem.group
    rise = next((c for c in changes if c.template == group.template and c.direction in _RISES), None)
    if rise is not None:
        row["rise"] = {"time": iso(rise.moment), "direction": rise.direction, "fold": round(rise.fold, 1)}
    names = set(_names(reading, group.services))
    blaming = {n for p in found if p.blames and p.blames in names for n in _names(reading, p.group.services)}
    if blaming - names:
        row["blamed_by"] = sorted(blaming - names)[:4]
    after = aftermath(reading.scan, summary, problem)
    if after.recovered is not None:
        row["recovered"] = reading.at(after.recovered)
    if after.healthy is not None:
        row["quiet"] = {"told": lasting(after.quiet), **reading.at(after.healthy)}
    return row


def _seconds(text: str) -> float | None:
    return datetime.fromisoformat(text).timestamp() if text else None


def _line(reading: Reading, group: Group) -> dict[str, Any]:
    template = reading.text(reading.scan.miner.templates[group.template].text(), 120)
    return {"count": group.count, "level": group.level.name, "template": template, "line": group.first.line}


def _top(reading: Reading, summary: Summary) -> list[dict[str, Any]]:
    ordered = sorted(summary.groups.values(), key=lambda g: -g.count)[:_TOP]
    return [_line(reading, g) for g in ordered]


def _new(reading: Reading, summary: Summary, began: str) -> list[dict[str, Any]]:
    """Return harmless-looking templates that appear with the trouble."""
    onset = _seconds(began)
    if onset is None:
        return []
    groups = [g for g in summary.groups.values() if g.first.time >= onset and g.level < Level.error]
    groups.sort(key=lambda g: g.first.time)
    return [
        {**_line(reading, g), "time": iso(g.first.time), "source": reading.name(g.first.file)}
        for g in groups[:_NEW]
    ]


def _rare(reading: Reading, summary: Summary) -> list[dict[str, Any]]:
    groups = [g for g in summary.groups.values() if g.count <= 2 and Level.info <= g.level < Level.error]  # noqa: PLR2004 - once or twice
    groups.sort(key=lambda g: (-g.level, g.count, g.first.line))
    return [{**_line(reading, g), "source": reading.name(g.first.file)} for g in groups[:_RARE]]
