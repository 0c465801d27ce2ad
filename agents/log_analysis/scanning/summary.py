"""Counts a scan's events by template, level, service and time; pure arithmetic over the table."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import isnan

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.table import Row

#: The window is cut into so many equal parts to tell chronic from sudden.
PARTS = 24
#: From this share of steps back in time on, the order of lines is not the order of events.
_DISORDER = 0.005


@dataclass
class Group:
    """One template's events: how many, how bad, where from, first and last."""

    template: int
    first: Row
    last: Row
    count: int = 0
    level: Level = Level.unknown
    services: Counter[int] = field(default_factory=Counter)
    parts: list[int] = field(default_factory=lambda: [0] * PARTS)

    @property
    def spread(self) -> float:
        """Return the share of the window's parts in which it occurs."""
        return sum(1 for n in self.parts if n) / PARTS


@dataclass
class Summary:
    """All groups of a scan, or of one file of it, and the totals. `start` and `end` are None without times."""

    groups: dict[int, Group] = field(default_factory=dict)
    levels: Counter[int] = field(default_factory=Counter)
    services: Counter[int] = field(default_factory=Counter)
    events: int = 0
    start: float | None = None
    end: float | None = None
    largest_gap: tuple[float, float] = (0.0, 0.0)


def summarise(scan: Scan, file: int | None = None) -> Summary:
    """Return the summary of a scan, counted once and then kept with it."""
    kept = scan.summaries.get(file)
    if isinstance(kept, Summary):
        return kept
    summary = Summary()
    _window(scan, summary, file)
    start, width = summary.start, _width(summary)
    final = {i: scan.miner.final(i) for i in range(len(scan.miner.templates))}
    rows = scan.table.rows or 1
    for position, row in enumerate(scan.table):
        if file is not None and row.file != file:
            continue
        number = final[row.template]
        group = summary.groups.get(number)
        if group is None:
            group = summary.groups[number] = Group(number, row, row)
        group.count += 1
        if row.level > group.level:
            group.level = Level(row.level)
        group.services[row.service] += 1
        summary.levels[row.level] += 1
        summary.services[row.service] += 1
        if row.time < group.first.time:
            group.first = row
        if not row.time < group.last.time:
            group.last = row
        timed = start is not None and not isnan(row.time)
        part = int((row.time - (start or 0.0)) / width) if timed else position * PARTS // rows
        group.parts[min(part, PARTS - 1)] += 1
    summary.events = sum(summary.levels.values())
    scan.summaries[file] = summary
    return summary


def _window(scan: Scan, summary: Summary, file: int | None) -> None:
    """Find the first and last time and the longest silence between two events that follow each other."""
    before, backward, timed = None, 0, 0
    for row in scan.table:
        moment = row.time
        if isnan(moment) or (file is not None and row.file != file):
            continue
        if summary.start is None or summary.end is None:
            summary.start = summary.end = moment
        summary.start, summary.end = min(summary.start, moment), max(summary.end, moment)
        timed += 1
        backward += before is not None and moment < before
        if before is not None and moment - before > summary.largest_gap[1] - summary.largest_gap[0]:
            summary.largest_gap = (before, moment)
        before = moment
    if backward > timed * _DISORDER:
        summary.largest_gap = (0.0, 0.0)  # lines out of order jump, they do not pause


def _width(summary: Summary) -> float:
    if summary.start is None or summary.end is None:
        return 1.0
    return max((summary.end - summary.start) / PARTS, 1e-6)
