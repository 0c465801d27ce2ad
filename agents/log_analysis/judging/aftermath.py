"""What came after the trouble: a line that says it is over, and what was written once it had stopped; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.judging.precedence import Problem
from agents.log_analysis.kinds import ERROR
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.summary import Group, Summary
from agents.log_analysis.scanning.table import Row

#: A problem has stopped where the log goes on so long without it: a share of the window, and seconds.
_QUIET_SHARE, _QUIET = 0.1, 30.0
#: … and its service writes so many lines meanwhile.
_LINES = 5
#: A line that was there before the trouble, and comes more often than this, does not say that the trouble is over.
_OFTEN = 5
#: What begins so long (seconds) after all other trouble was over is another incident.
_DAY = 86_400.0

#: A line that says that it is over.
RECOVERED = re.compile(
    r"(?i)\brecovered\b|\brestored\b|\bre-?established\b|\breconnected\b|back to normal"
    r"|\bis (?:now )?(?:up|healthy|ok)(?: again)?$"
    r"|healthy again|\bresolved\b|connection (?:is )?(?:re)?opened again|resumed|succeeded after|circuit.{0,20}closed"
    r"|probe succeeded|successfully rolled out|restart(?:ed)? successfully|已?恢复(?:正常)?|重连成功"
)


@dataclass(frozen=True)
class Aftermath:
    """`recovered` says it is over; `healthy` is a later ordinary line of its service, `quiet` seconds without it."""

    recovered: Row | None = None
    healthy: Row | None = None
    quiet: float = 0.0


@dataclass(frozen=True)
class Trouble:
    """The trouble as a whole: the earliest line of any of its problems, and the last line of the incident."""

    first: Row
    last: Row


@dataclass(frozen=True)
class Following:
    """How many events came after the trouble, how many of them errors, and an ordinary one of its service."""

    events: int
    errors: int
    ordinary: Row | None


def trouble_of(found: Sequence[Problem]) -> Trouble | None:
    """Return the trouble that problems (the likeliest root first) make up; what is chronic or doubted is no part of it.

    The incident is the first problem and all that begin before it, or what followed, had been over for a day.
    """
    if not found:
        return None
    sudden = [p for p in found if not p.chronic]
    members = [p for p in sudden if not p.doubts] or sudden
    members = [found[0], *(p for p in members if p is not found[0])]
    members = [p for p in members if not isnan(p.group.last.time)] or members
    root, last = members[0].kind, members[0].group.last
    for problem in sorted(members, key=lambda p: _place(p.group.first)):
        apart = problem.group.first.time > last.time + _DAY  # never true without times
        if not apart or (problem.kind is root and root is not ERROR):
            last = max(last, problem.group.last, key=_place)
    return Trouble(min((p.group.first for p in members), key=_place), last)


def following(
    scan: Scan, summary: Summary, trouble: Trouble, problem: Problem, file: int | None
) -> Following:
    """Return what came after the last line of the trouble that `problem` is the root of."""
    last, events, errors = trouble.last, 0, 0
    timeless, end = isnan(last.time), summary.end if summary.end is not None else 0.0
    for columns in scan.columns():
        for n, moment in enumerate(columns.time):
            if not timeless and not last.time <= moment <= end:
                continue
            source, line = columns.file[n], columns.line[n]
            if file not in (None, source):
                continue
            if not timeless and (moment > last.time or source != last.file):
                after = moment > last.time
            else:  # of one moment, or without times: what stands below it came after it
                after = (source, line) > (last.file, last.line)
            events += after
            errors += after and columns.level[n] >= Level.error
    own = [g for g in summary.groups.values() if g.level < Level.warning and _same(g, problem.group)]
    rows = [g.last for g in own if _place(g.last) > _place(last)]
    rows = [row for row in rows if row.service in problem.group.services] or rows
    return Following(events, errors, max(rows, key=_place, default=None))


def _place(row: Row) -> tuple[float, int, int]:
    return (0.0 if isnan(row.time) else row.time, row.file, row.line)


def aftermath(scan: Scan, summary: Summary, problem: Problem, trouble: Trouble | None = None) -> Aftermath:
    """Return what came after the last line of a problem, and of the trouble that it is part of."""
    last, end = problem.group.last, summary.end
    if trouble is not None and trouble.last.time > last.time:
        last = trouble.last
    if end is None or summary.start is None or isnan(last.time):
        return Aftermath()
    later = [g for g in summary.groups.values() if g.last.time > last.time and g.level < Level.warning]
    began = problem.group.first.time if trouble is None else min(trouble.first.time, problem.group.first.time)
    said = [
        _first_after(g, last)
        for g in later
        if RECOVERED.search(scan.profiles[g.template].message) and not _usual(g, began)
    ]
    recovered = min((row for row in said if row is not None), key=lambda r: r.time, default=None)
    quiet = end - last.time
    if quiet < max(_QUIET, _QUIET_SHARE * (end - summary.start)):
        return Aftermath(recovered)
    own = [g for g in later if _same(g, problem.group) and g.count >= _LINES]
    healthy = max(own, key=lambda g: g.count).last if own else None
    return Aftermath(recovered, healthy, quiet)


def _usual(group: Group, began: float) -> bool:
    """Tell whether a log has such lines often, and had them before the trouble: they tell of other, daily things."""
    return group.first.time < began and group.count > _OFTEN


def _first_after(group: Group, last: Row) -> Row | None:
    """Return the group's first event if it came after, else its last, which did."""
    return group.first if group.first.time >= last.time else group.last


def _same(group: Group, other: Group) -> bool:
    """Tell whether two kinds of lines come from the same service, or from a log that names none."""
    named = {n for n in other.services if n}
    return not named or bool(named & set(group.services))
