"""The problems of the first look as rows: each with its lines, what speaks for it, and what came after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isnan
from typing import Any

from agents.log_analysis.asking.digest import places
from agents.log_analysis.asking.measures import growth_rows, status_rows
from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.times import iso
from agents.log_analysis.judging.aftermath import aftermath, following, trouble_of
from agents.log_analysis.judging.causes import certainty, rows_beside
from agents.log_analysis.judging.changepoints import Change
from agents.log_analysis.judging.durations import lasting
from agents.log_analysis.judging.precedence import WARNINGS, Problem, order
from agents.log_analysis.judging.problems import readable
from agents.log_analysis.reading import Reading, counts_in
from agents.log_analysis.scanning.summary import Summary

#: Rows of problems; the answer is cut to its budget besides. So many have all that is known of them.
PROBLEMS = 12
_CITED = 3
#: Directions of a change point by which something got more.
_RISES = ("start", "up", "burst")
#: Kinds that follow from waiting, and by how much what kept them waiting goes before them.
_WAITED = ("timeout", "pool_exhausted", "dependency_failed", "retry", "probe_failed", "backlog")
_ROOT = 0.01

_Row = dict[str, Any]


def suspects(
    reading: Reading,
    summary: Summary,
    found: list[Problem],
    changes: Sequence[Change],
    measured: list[_Row],
    file: int | None,
    whole: Summary | None = None,
) -> list[_Row]:
    """Return what may be the cause, the likeliest first: lines that tell of trouble, and what was measured.

    Where the reading is a window of a log, `whole` is the summary of all of it.
    """
    rows = [_row(reading, p, cited=n < _CITED) for n, p in enumerate(found[:PROBLEMS])]
    for row, problem in zip(rows[:_CITED], found, strict=False):
        row.update(_facts(reading, summary, problem, found, changes))
        if (
            whole is not None
            and (before := whole.groups[problem.group.template].first) != problem.group.first
        ):
            row["before"] = reading.at(before, problem.profile.message[:20])
    largest = sorted(found[_CITED:PROBLEMS], key=lambda p: -p.group.count)[
        :_CITED
    ]  # one may be behind it all
    placed = places(reading, [p.group.template for p in (*found[:_CITED], *largest)], file)
    for row in rows:
        row.update(_placed(placed[row["id"]]) if row["id"] in placed else {})
    alarms = [row for row in measured if row["alarm"]]
    _raise_roots(alarms, rows)
    rows += [*alarms, *growth_rows(reading, summary, file), *status_rows(reading, file)]
    rows.sort(key=lambda row: -row["score"])
    return [{**row, "score": certainty(row["score"])} for row in rows]


def trouble_row(reading: Reading, summary: Summary, found: list[Problem], file: int | None) -> _Row:
    """Return the trouble as a whole: its first and last line, and how many events followed until when."""
    trouble = trouble_of(found)
    if trouble is None:
        return {}
    after = following(reading.scan, summary, trouble, found[0], file)
    row: _Row = {
        "first": reading.at(trouble.first),
        "last": reading.at(trouble.last),
        "events_after": after.events,
        "errors_after": after.errors,
        "until": iso(summary.end),
    }
    if after.ordinary is not None:
        row["ordinary"] = reading.at(after.ordinary)
    if summary.end is not None and not isnan(trouble.last.time):
        row["lasting"] = lasting(summary.end - trouble.last.time)
    return row


def onset_of(found: list[Problem], rows: list[_Row]) -> str:
    """Return when the trouble began: the first appearance of the likeliest cause that is not chronic.

    A few warnings that name no cause by themselves are taken only where nothing else came up.
    """
    for problem in sorted(found, key=_faint):
        if not problem.chronic and not isnan(problem.group.first.time):
            beside = [row for row in rows_beside(rows, problem.group.template) if not row.get("chronic")]
            times: list[str] = [row["first"]["time"] for row in beside if row["first"]["time"]]
            return min([iso(problem.group.first.time), *times])
    return next(
        (row["first"]["time"] for row in rows if row.get("alarm") and "rose" in row.get("timing", {})), ""
    )


def _faint(problem: Problem) -> bool:
    group = problem.group
    return group.level < Level.error and group.count < WARNINGS and not problem.kind.alone


def _raise_roots(slow: list[_Row], rows: list[_Row]) -> None:
    """Put work that got slower before the first timeout above it: what waited too long is not the root."""
    if not rows or rows[0]["kind"] not in _WAITED or rows[0].get("chronic"):
        return
    for row in slow:
        rose = row["timing"].get("rose", "")
        if rose and rose <= rows[0]["first"]["time"]:
            row["score"] = round(max(row["score"], rows[0]["score"] + _ROOT), 3)
            return


def _placed(told: str) -> _Row:
    """Return where lines come from, with its numbers as such: an answer in any language may say them."""
    return {"where": told, "where_counts": counts_in(told)}


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


def _facts(
    reading: Reading, summary: Summary, problem: Problem, found: list[Problem], changes: Sequence[Change]
) -> _Row:
    """Return what speaks for and against a problem: first or not, its rise, who blames it, what came after."""
    group = problem.group
    timed = [p for p in found if p.group.level >= Level.error and not isnan(p.group.first.time)]
    row: _Row = {"earliest": True} if timed and problem is min(timed, key=order) else {}
    rise = next((c for c in changes if c.template == group.template and c.direction in _RISES), None)
    if rise is not None:
        row["rise"] = {"time": iso(rise.moment), "direction": rise.direction, "fold": round(rise.fold, 1)}
    names = set(_names(reading, group.services))
    blaming = {n for p in found if p.blames and p.blames in names for n in _names(reading, p.group.services)}
    if blaming - names:
        row["blamed_by"] = sorted(blaming - names)[:4]
    after = aftermath(reading.scan, summary, problem, trouble_of(found))
    if after.recovered is not None:
        row["recovered"] = reading.at(after.recovered)
    if after.healthy is not None:
        row["quiet"] = {"told": lasting(after.quiet), **reading.at(after.healthy)}
    return row
