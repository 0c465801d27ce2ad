"""What came after a problem: a line that says it is over, and what its services wrote once it had stopped; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isnan

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.judging.problems import Problem
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.summary import Group, Summary
from agents.log_analysis.scanning.table import Row

#: A problem has stopped where the log goes on so long without it: a share of the window, and seconds.
_QUIET_SHARE, _QUIET = 0.1, 30.0
#: … and its service writes so many lines meanwhile.
_LINES = 5

#: A line that says that it is over.
RECOVERED = re.compile(
    r"(?i)\brecovered\b|\brestored\b|\bre-?established\b|\breconnected\b|back to normal"
    r"|\bis (?:now )?(?:up|healthy|ok)(?: again)?$"
    r"|healthy again|\bresolved\b|connection (?:is )?(?:re)?opened again|resumed|succeeded after|circuit.{0,20}closed"
    r"|restart(?:ed)? successfully|已?恢复(?:正常)?|重连成功"
)


@dataclass(frozen=True)
class Aftermath:
    """`recovered` says it is over; `healthy` is a later ordinary line of its service, `quiet` seconds without it."""

    recovered: Row | None = None
    healthy: Row | None = None
    quiet: float = 0.0


def aftermath(scan: Scan, summary: Summary, problem: Problem) -> Aftermath:
    """Return what came after the last line of a problem."""
    last, end = problem.group.last, summary.end
    if end is None or summary.start is None or isnan(last.time):
        return Aftermath()
    later = [g for g in summary.groups.values() if g.last.time > last.time and g.level < Level.warning]
    said = [_first_after(g, last) for g in later if RECOVERED.search(scan.profiles[g.template].message)]
    recovered = min((row for row in said if row is not None), key=lambda r: r.time, default=None)
    quiet = end - last.time
    if quiet < max(_QUIET, _QUIET_SHARE * (end - summary.start)):
        return Aftermath(recovered)
    own = [g for g in later if _same(g, problem.group) and g.count >= _LINES]
    healthy = max(own, key=lambda g: g.count).last if own else None
    return Aftermath(recovered, healthy, quiet)


def _first_after(group: Group, last: Row) -> Row | None:
    """Return the group's first event if it came after, else its last, which did."""
    return group.first if group.first.time >= last.time else group.last


def _same(group: Group, other: Group) -> bool:
    """Tell whether two kinds of lines come from the same service, or from a log that names none."""
    named = {n for n in other.services if n}
    return not named or bool(named & set(group.services))
