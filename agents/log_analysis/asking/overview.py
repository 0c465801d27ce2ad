"""The first look at a run's logs: window, levels, templates, problems, changes, silences; each with a line to cite."""

from __future__ import annotations

from collections import Counter
from typing import Any

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.times import iso
from agents.log_analysis.judging.problems import Problem, problems, readable
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

#: Silence is told from this share of the window on, and from so many times the mean distance of two events.
_GAP_SHARE = 0.05
_GAP_FACTOR = 50


def overview_of(reading: Reading, file: int | None) -> dict[str, Any]:
    """Return the overview as the tool answers it."""
    scan = reading.scan
    summary = summarise(scan, file)
    found = problems(scan, summary)
    onset = _onset(found)
    answer = {
        "window": {"from": iso(summary.start), "to": iso(summary.end)},
        "events": summary.events,
        "lines": sum(f.lines for n, f in enumerate(scan.facts) if file in (None, n)),
        "levels": {Level(n).name: c for n, c in sorted(summary.levels.items())},
        "templates": len(summary.groups),
        "files": _files(reading, file),
        "services": _services(reading, summary),
        "onset": iso(onset),
        "problem_count": len(found),
        "problems": [_row(reading, p, cited=n < _CITED) for n, p in enumerate(found[:PROBLEMS])],
        "changes": _changes(reading, file, onset),
        "silence": _silence(summary),
        "new": _new(reading, summary, onset),
        "top": _top(reading, summary),
        "rare": _rare(reading, summary),
        "not_read": [n[:300] for n in reading.not_read[:8]],
    }
    return fit(answer, "rare", "top", "services_list", "new", "files", "problems", "changes")


def _onset(found: list[Problem]) -> float | None:
    """Return when the trouble began: the first appearance of the likeliest problem that is not chronic."""
    for problem in found:
        if (
            not problem.chronic and problem.group.first.time == problem.group.first.time
        ):  # a NaN differs from itself
            return problem.group.first.time
    return None


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
    if problem.blames:
        row["blames"] = reading.text(problem.blames, 60)
    return row


def _changes(reading: Reading, file: int | None, onset: float | None) -> list[dict[str, Any]]:
    """Return lines that tell of deploys and configuration changes, those nearest before the onset first."""
    rows = [row for row in reading.scan.changes if file in (None, row.file)]

    def distance(row: Any) -> tuple[bool, float]:
        if onset is None or row.time != row.time:  # a NaN differs from itself
            return (False, float(row.line))
        return (row.time > onset, abs(onset - row.time))

    rows.sort(key=distance)
    return [reading.at(row) for row in rows[:_CHANGES]]


def _silence(summary: Summary) -> dict[str, Any]:
    before, after = summary.largest_gap
    if summary.start is None or summary.end is None or summary.events < _GAP_FACTOR:
        return {}
    length, window = after - before, summary.end - summary.start
    if length < max(1.0, window * _GAP_SHARE) or length < _GAP_FACTOR * window / summary.events:
        return {}
    return {"from": iso(before), "to": iso(after), "seconds": round(length, 1)}


def _line(reading: Reading, group: Group) -> dict[str, Any]:
    template = reading.text(reading.scan.miner.templates[group.template].text(), 120)
    return {"count": group.count, "level": group.level.name, "template": template, "line": group.first.line}


def _top(reading: Reading, summary: Summary) -> list[dict[str, Any]]:
    ordered = sorted(summary.groups.values(), key=lambda g: -g.count)[:_TOP]
    return [_line(reading, g) for g in ordered]


def _new(reading: Reading, summary: Summary, onset: float | None) -> list[dict[str, Any]]:
    """Return harmless-looking templates that appear with the trouble."""
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
