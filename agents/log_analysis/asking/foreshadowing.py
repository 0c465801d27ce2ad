"""Lines that a log has once or twice, shortly before its trouble began: what nobody has called a change."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.judging.precedence import Problem
from agents.log_analysis.reading import Reading
from agents.log_analysis.scanning.summary import Group, Summary

#: Such a line comes so often at most, and so many seconds before the trouble at most; so many are told.
_TIMES, _SHORTLY, _TOLD = 2, 300.0, 2
#: A warning may come more often, if all of it came in that time.
_WARNED = 10
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
        if (group.count <= _TIMES or _warned(group, onset))
        and Level.debug < group.level < Level.error
        and group.template not in troubles
    ]
    near = [group for group in rare if 0 <= onset - group.first.time <= _SHORTLY]
    elsewhere = sum(group.count for group in rare if not _warned(group, onset))
    elsewhere -= sum(1 for group in near if not _warned(group, onset))
    if elsewhere * _SHORTLY > _BY_CHANCE * max(_SHORTLY, summary.end - summary.start):
        return []
    near.sort(key=lambda group: onset - group.first.time)
    told = {(row["source"], row["line"]) for row in changes}
    near = [g for g in near if (reading.name(g.first.file), g.first.line) not in told]
    return [
        {**reading.at(group.first), "message": reading.text(scan.profiles[group.template].message, _SAID)}
        | ({"last": reading.at(group.last), "count": group.count} if _warned(group, onset) else {})
        for group in near[:_TOLD]
    ]


def _warned(group: Group, onset: float) -> bool:
    """Tell whether a warning came again and again, only before the trouble, and shortly so."""
    early = onset - _SHORTLY <= group.first.time <= group.last.time <= onset
    return group.level == Level.warning and 1 < group.count <= _WARNED and early
