"""Lines that a log has once or twice, shortly before its trouble began: what nobody has called a change."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.judging.precedence import Problem
from agents.log_analysis.reading import Reading
from agents.log_analysis.scanning.summary import Summary

#: Such a line comes so often at most, and so many seconds before the trouble at most; so many are told.
_TIMES, _SHORTLY, _TOLD = 2, 300.0, 2
#: Characters told of what it says.
_SAID = 100
#: More rare lines than this are expected there by chance alone: then they mean nothing.
_BY_CHANCE = 0.5

_Row = dict[str, Any]


def before_rows(
    reading: Reading, summary: Summary, found: Sequence[Problem], began: str, changes: Sequence[_Row]
) -> list[_Row]:
    """Return the rare lines just before the onset, the nearest first; none where a log has many rare lines.

    What is told as one of the `changes` is not told again.
    """
    if not began or summary.start is None or summary.end is None:
        return []
    onset = datetime.fromisoformat(began).timestamp()
    scan = reading.scan
    troubles = {problem.group.template for problem in found}
    rare = [
        group
        for group in summary.groups.values()
        if group.count <= _TIMES
        and Level.debug < group.level < Level.error
        and group.template not in troubles
    ]
    near = [group for group in rare if 0 <= onset - group.first.time <= _SHORTLY]
    elsewhere = sum(group.count for group in rare) - len(near)
    if elsewhere * _SHORTLY > _BY_CHANCE * max(_SHORTLY, summary.end - summary.start):
        return []
    near.sort(key=lambda group: onset - group.first.time)
    told = {(row["source"], row["line"]) for row in changes}
    near = [g for g in near if (reading.name(g.first.file), g.first.line) not in told]
    return [
        {**reading.at(group.first), "message": reading.text(scan.profiles[group.template].message, _SAID)}
        for group in near[:_TOLD]
    ]
