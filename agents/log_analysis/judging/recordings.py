"""Two recordings in one reading, one of health and one of trouble, far apart in time: what the second adds; pure."""

from __future__ import annotations

from math import isnan

from agents.log_analysis.judging.precedence import Problem
from agents.log_analysis.judging.series import series
from agents.log_analysis.judging.silences import silences
from agents.log_analysis.judging.windows import compared
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.summary import Summary
from agents.log_analysis.scanning.table import Row

#: Recordings are two where the silence between them is so large a share of the window, and each holds so many events.
_APART, _SHARE, _EVENTS = 0.5, 0.02, 20
#: What was there before in the same numbers is hardly what is wrong now: the weight of a chronic problem.
_KNOWN = -0.45


def split_of(scan: Scan, summary: Summary, file: int | None = None) -> float | None:
    """Return when the second of two recordings begins, or None where the log is one."""
    if summary.start is None or summary.end is None:
        return None
    found = series(scan, summary, file)
    for silence in silences(scan, summary, file):
        if silence.what != "log" or silence.open or silence.seconds < _APART * (summary.end - summary.start):
            continue
        bucket = round((silence.end - found.start) / found.width)
        sides = sum(found.total[:bucket]), sum(found.total[bucket:])
        if min(sides) >= max(_EVENTS, _SHARE * sum(sides)):
            return silence.end
    return None


def second(
    scan: Scan, summary: Summary, found: list[Problem], file: int | None = None
) -> tuple[list[Problem], float | None]:
    """Return the problems of the second recording and when it begins, or all and None where the log is one."""
    split = split_of(scan, summary, file)
    return (found, None) if split is None else (of_second(scan, found, split, file), split)


def begun(scan: Scan, found: list[Problem], split: float) -> float | None:
    """Return when the second recording first tells of its likeliest problem that is not chronic; None without one."""
    for problem in found:
        if problem.chronic:
            continue
        if problem.group.first.time >= split:
            return problem.group.first.time
        final, wanted = scan.miner.final, problem.group.template
        return min(
            (r.time for r in scan.table if r.time >= split and final(r.template) == wanted), default=None
        )
    return None


def of_second(scan: Scan, found: list[Problem], split: float, file: int | None = None) -> list[Problem]:
    """Return the problems of the second recording, the likeliest root first.

    Those that only the first one shows are left out; those that both show are chronic, unless they rose.
    """

    def side(row: Row) -> int | None:
        return None if file not in (None, row.file) or isnan(row.time) else int(row.time >= split)

    comparison = compared(scan, side)
    rose = {s.template for s in comparison.shifts if s.name in ("new", "more")} if comparison else set()
    kept = []
    for problem in found:
        first, last = problem.group.first.time, problem.group.last.time
        if last < split:
            continue
        if first < split and problem.group.template not in rose and not problem.chronic:
            problem.chronic = True
            problem.score += _KNOWN
        kept.append(problem)
    return sorted(kept, key=lambda p: -p.score)
