"""Counts a scan's events by template, level, service and time; pure arithmetic over the table."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from math import isnan
from operator import le, sub

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.table import Columns, Row

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
        self.final = [scan.miner.final(i) for i in range(len(scan.miner.templates))]

    def __iter__(self) -> Iterator[tuple[int, Columns]]:
        position = 0
        for columns in self._scan.columns():
            begin, end = 0, len(columns.file)
            if self._file is not None:  # files follow each other
                begin, end = bisect_left(columns.file, self._file), bisect_right(columns.file, self._file)
            if begin < end:
                whole = end - begin == len(columns.file)
                yield (
                    position + begin,
                    columns if whole else Columns._make(column[begin:end] for column in columns),
                )
            position += len(columns.file)


def _window(chunks: _Chunks, summary: Summary) -> None:
    """Find the first and last time and the longest silence between two events that follow each other."""
    before, backward, timed = None, 0, 0
    for _, columns in chunks:
        moments = columns.time.tolist()
        if any(map(isnan, moments)):
            moments = [moment for moment in moments if not isnan(moment)]
        if not moments:
            continue
        low, high = min(moments), max(moments)
        summary.start = low if summary.start is None else min(summary.start, low)
        summary.end = high if summary.end is None else max(summary.end, high)
        timed += len(moments)
        earlier = moments if before is None else [before, *moments]
        steps = list(map(sub, islice(earlier, 1, None), earlier))
        backward += sum(map((0.0).__gt__, steps))
        longest = max(steps, default=0.0)
        if longest > summary.largest_gap[1] - summary.largest_gap[0]:
            place = steps.index(longest)
            summary.largest_gap = (earlier[place], earlier[place + 1])
        before = moments[-1]
    if backward > timed * _DISORDER:
        summary.largest_gap = (0.0, 0.0)  # lines out of order jump, they do not pause


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
    """Find the first and the last event of each group: by time, and by place where times are equal or missing."""
    moments, templates = columns.time, columns.template
    ordered = all(map(le, moments, islice(moments, 1, None)))
    places: Iterable[int] = range(len(templates))
    if ordered or all(map(isnan, moments)):
        firsts = dict(zip(reversed(templates), range(len(templates) - 1, -1, -1), strict=True))
        lasts = dict(zip(templates, range(len(templates)), strict=True))
        places = sorted({*firsts.values(), *lasts.values()})
    for place in places:
        group, moment = summary.groups[final[templates[place]]], moments[place]
        if moment < group.first.time:
            group.first = _row(columns, place)
        if not moment < group.last.time:
            group.last = _row(columns, place)


def _row(columns: Columns, place: int) -> Row:
    return Row._make(column[place] for column in columns)


def _width(summary: Summary) -> float:
    if summary.start is None or summary.end is None:
        return 1.0
    return max((summary.end - summary.start) / PARTS, 1e-6)
