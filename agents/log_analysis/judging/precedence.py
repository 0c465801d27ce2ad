"""Which problems came first, and which only tell what was seen of another; pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.kinds import Kind
from agents.log_analysis.scanning.scan import Profile
from agents.log_analysis.scanning.summary import Group, Summary

#: Warnings without an error beside them count from so many on.
WARNINGS = 5
#: A warning that names a cause goes with the errors it led to, which came so soon (seconds) after it.
_NAMES_CAUSE, _LED_TO = 0.9, 300.0
#: What a caller says of another comes from what failed elsewhere so shortly before (seconds, share of the window).
_SEEN_BY_CALLERS = ("timeout", "connection_refused", "connection_lost", "dependency_failed", "retry")
_BEFORE, _BEFORE_SHARE = 60.0, 0.01


@dataclass
class Problem:
    """One template that tells of trouble. `rank` counts by first appearance among the sudden ones."""

    group: Group
    profile: Profile
    kind: Kind
    chronic: bool
    burst: bool
    rank: int = 0
    score: float = 0.0
    blames: str = ""
    doubts: tuple[str, ...] = ()


def order(problem: Problem) -> tuple[float, int, int]:
    """Return what problems are ordered by: time, file, line; one without a time comes last."""
    first = problem.group.first
    return (first.time if not math.isnan(first.time) else math.inf, first.file, first.line)


def strong_of(new: list[Problem]) -> list[Problem]:
    """Return the problems that may have been first: errors, what leaves no doubt, warnings of a cause before both."""
    sure = [p for p in new if p.group.level >= Level.error or p.kind.alone]
    if not sure:
        return new
    first = sure[0].group.first.time

    def led(problem: Problem) -> bool:
        ahead = first - problem.group.first.time  # never true without times
        return (
            problem.kind.weight >= _NAMES_CAUSE and problem.group.count >= WARNINGS and 0 <= ahead <= _LED_TO
        )

    return [p for p in new if p in sure or led(p)]


def follows(problem: Problem, strong: list[Problem], summary: Summary) -> bool:
    """Tell whether a line says what a caller saw, and another service had failed shortly before."""
    if problem.kind.key not in _SEEN_BY_CALLERS or summary.start is None or summary.end is None:
        return False
    near = max(_BEFORE, _BEFORE_SHARE * (summary.end - summary.start))
    began, services = problem.group.first.time, set(problem.group.services)
    return any(
        other.kind.key not in _SEEN_BY_CALLERS
        and not services & set(other.group.services)
        and 0 < began - other.group.first.time <= near
        for other in strong
    )
