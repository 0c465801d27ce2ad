"""Counts a scan's events by template, level, service and time; pure arithmetic over the table."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from math import isnan, nan
from operator import le

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.table import Columns, Row

#: The window is cut into so many equal parts to tell chronic from sudden.
PARTS = 24
#: So many stamps at either end may be wrong: further away than this (seconds) and so many times what all others span,
#: of which there must be so many for each.
STRAYS, _FAR, _TIMES, _REST = 3, 7 * 86_400.0, 10.0, 10


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
    """All groups of a scan, or of one file of it, and the totals. `start` and `end` are None without times.

    `strays` are events stamped so far from all others that the stamp is wrong: they count as events without a time.
    """

    groups: dict[int, Group] = field(default_factory=dict)
    levels: Counter[int] = field(default_factory=Counter)
    services: Counter[int] = field(default_factory=Counter)
    events: int = 0
    start: float | None = None
    end: float | None = None
    strays: int = 0


def summarise(scan: Scan, file: int | None = None) -> Summary:
    """Return the summary of a scan, counted once and then kept with it."""
    kept = scan.summaries.get(file)
    if isinstance(kept, Summary):
        return kept
    summary = Summary()
    chunks = _Chunks(scan, file)
    _window(chunks, summary)
    start, width = summary.start, _width(summary)
    for position, columns in chunks:
        _count(summary, columns, _parts(columns, start, width, position, scan.table.rows or 1), chunks.final)
        _edges(summary, columns, chunks.final)
    summary.events = sum(summary.levels.values())
    scan.summaries[file] = summary
    return summary


class _Chunks:
    """The events of a scan, or of one file of it, as arrays with the position of the first in the table."""

    def __init__(self, scan: Scan, file: int | None) -> None:
        self._scan, self._file = scan, file
        #: Times outside are none.
        self.bounds: tuple[float, float] | None = None
        self.final = [scan.miner.final(i) for i in range(len(scan.miner.templates))]

    def __iter__(self) -> Iterator[tuple[int, Columns]]:
        position = 0
        for columns in self._scan.columns():
            begin, end = 0, len(columns.file)
            if self._file is not None:  # files follow each other
                begin, end = bisect_left(columns.file, self._file), bisect_right(columns.file, self._file)
            size = len(columns.file)
            if begin < end:
                whole = end - begin == size
                part = columns if whole else Columns._make(column[begin:end] for column in columns)
                yield position + begin, self._bounded(part)
            position += size

    def _bounded(self, columns: Columns) -> Columns:
        if self.bounds is None:
            return columns
        low, high = self.bounds
        return columns._replace(time=array("d", (t if low <= t <= high else nan for t in columns.time)))


def _window(chunks: _Chunks, summary: Summary) -> None:
    """Find the first and last time, without the few that lie far from all others."""
    lows: list[float] = []
    highs: list[float] = []
    timed = 0
    for _, columns in chunks:
        moments = sorted(moment for moment in columns.time if not isnan(moment))
        timed += len(moments)
        lows = sorted(lows + moments[: STRAYS + 1])[: STRAYS + 1]
        highs = sorted(highs + moments[-STRAYS - 1 :])[-STRAYS - 1 :]
    if not timed:
        return
    after = _strays(highs, lows[0], timed)
    before = _strays([-moment for moment in reversed(lows)], -highs[-1 - after], timed)
    summary.start, summary.end, summary.strays = lows[before], highs[-1 - after], before + after
    if summary.strays:
        chunks.bounds = (summary.start, summary.end)


def _strays(last: list[float], first: float, timed: int) -> int:
    """Return how many of the last moments lie far behind all before them: clocks not set, dates guessed wrongly."""
    found = 0
    for count in range(1, len(last)):
        gap, rest = last[-count] - last[-count - 1], last[-count - 1] - first
        if gap > max(_FAR, _TIMES * rest) and timed >= _REST * count:
            found = count
    return found


def _parts(columns: Columns, start: float | None, width: float, position: int, rows: int) -> list[int]:
    """Return the part of the window that each event lies in: by time, else by its place in the log."""
    last = PARTS - 1
    if start is None:
        return [min((position + n) * PARTS // rows, last) for n in range(len(columns.time))]
    if any(map(isnan, columns.time)):
        return [
            min((position + n) * PARTS // rows if isnan(moment) else int((moment - start) / width), last)
            for n, moment in enumerate(columns.time)
        ]
    return [min(int((moment - start) / width), last) for moment in columns.time]


def _count(summary: Summary, columns: Columns, parts: list[int], final: list[int]) -> None:
    """Count a chunk: pairs are counted by the library's own loop, and what is left to do is one step a pair."""
    summary.levels.update(columns.level)
    summary.services.update(columns.service)
    for (template, level), count in Counter(zip(columns.template, columns.level, strict=True)).items():
        number = final[template]
        group = summary.groups.get(number)
        if group is None:
            place = columns.template.index(template)
            group = summary.groups[number] = Group(number, _row(columns, place), _row(columns, place))
        group.count += count
        if level > group.level:
            group.level = Level(level)
    for (template, service), count in Counter(zip(columns.template, columns.service, strict=True)).items():
        summary.groups[final[template]].services[service] += count
    for (template, part), count in Counter(zip(columns.template, parts, strict=True)).items():
        summary.groups[final[template]].parts[part] += count


def _edges(summary: Summary, columns: Columns, final: list[int]) -> None:
    """Find the first and the last event of each group: by time, and by place where times are equal or all missing."""
    moments, templates = columns.time, columns.template
    ordered = all(map(le, moments, islice(moments, 1, None)))
    places: Iterable[int] = range(len(templates))
    if ordered or all(map(isnan, moments)):
        firsts = dict(zip(reversed(templates), range(len(templates) - 1, -1, -1), strict=True))
        lasts = dict(zip(templates, range(len(templates)), strict=True))
        places = sorted({*firsts.values(), *lasts.values()})
    for place in places:
        group, moment = summary.groups[final[templates[place]]], moments[place]
        if moment < group.first.time or (isnan(group.first.time) and not isnan(moment)):
            group.first = _row(columns, place)
        if moment >= group.last.time or isnan(group.last.time):
            group.last = _row(columns, place)


def _row(columns: Columns, place: int) -> Row:
    return Row._make(column[place] for column in columns)


def _width(summary: Summary) -> float:
    if summary.start is None or summary.end is None:
        return 1.0
    return max((summary.end - summary.start) / PARTS, 1e-6)
