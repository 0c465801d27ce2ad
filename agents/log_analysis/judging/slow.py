"""Measures how long things take in a scan, from a sample of its events, and tells what is slow or got slower."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.judging.durations import duration
from agents.log_analysis.judging.rates import ranks_above
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.summary import Summary
from agents.log_analysis.scanning.table import Row

#: So many events are measured at most, in blocks of consecutive ones spread over the log: constant cost.
_BLOCK, _BLOCKS = 250, 40
#: Fewer values than this are an anecdote.
_FEW = 3
#: A step of online work that takes so long (seconds, median) is slow whoever asks.
HIGH = 2.0
#: … and one got slower where a later part takes so many times the early part, and at least so much longer (seconds).
_FACTOR, _LONGER = 3.0, 0.1
_CHUNKS, _CHUNK = 8, 6
#: … and with no more than this chance of values that only scatter, whichever stretch of parts is the slow one.
_CHANCE = 0.003
#: A finish follows its start in at least this share of cases, so many times at least.
_PAIRED, _PAIRS = 0.9, 20

#: Work that somebody waits for …
_ONLINE = re.compile(
    r"(?i)database|\bdb\b|\bsql|quer(?:y|ies)|request|respon[sd]|http|\b(?:get|post|put|delete)\b|\bcall|page|render|\bapi\b"
    r"|\brpc\b|endpoint|transaction|checkout|lookup|cache|redis|\bdns\b|operation|select|insert|查询|请求|接口|调用"
)
#: … and work that may take its time.
_BATCH = re.compile(
    r"(?i)\b(?:job|batch|backup|build|compil|start(?:ed|up)|boot|migrat|import|export|sync|upload|download|index|compact"
    r"|snapshot|train|cron|schedul|report|clean|pull|deploy|test|checkpoint|gc|archiv|vacuum|session|connection from)"
)
_BEGIN = re.compile(
    r"(?i)\b(?:send|start|begin|process|connect|fetch|call|request|receiv|read|writ|load|open|execut|handl|wait|acquir"
    r"|publish|render|query|invok|upload|check|validat|creat)(?:ing|ed|s)?\b|开始|正在"
)
_END = re.compile(
    r"(?i)\b(?:sent|success\w*|finish\w*|complet\w*|done|ended|processed|connected|fetched|responded|response|received|written"
    r"|loaded|closed|executed|handled|acquired|published|rendered|returned|uploaded|validated|created)\b|完成|成功|结束"
)


@dataclass
class Timing:
    """What was measured of one kind of line, or of a step that two kinds of lines begin and end."""

    template: int
    ends: int | None = None
    values: list[tuple[float, Row]] = field(default_factory=list)
    count: int = 0
    early: float = 0.0
    late: float = 0.0
    rose: Row | None = None

    @property
    def seconds(self) -> list[float]:
        """Return all values in order of size."""
        return sorted(value for value, _ in self.values)

    @property
    def median(self) -> float:
        """Return the middle value."""
        return median(value for value, _ in self.values)

    @property
    def worst(self) -> tuple[float, Row]:
        """Return the highest value with its event."""
        return max(self.values, key=lambda v: (v[0], -v[1].line))

    @property
    def high(self) -> bool:
        """Tell whether it is slow by itself."""
        return self.median >= HIGH


def timings(scan: Scan, summary: Summary, file: int | None) -> list[Timing]:
    """Return what is measured, the most time spent first; what is slow or rose has `high` or `rose` set."""
    found: dict[int, Timing] = {}
    steps: dict[tuple[int, int], Timing] = {}
    follows: dict[int, int] = {}
    final = scan.miner.final
    for block in _blocks(scan, file):
        for row, text in _texts(scan, block):
            seconds = duration(text) if row.level < Level.error else None
            if seconds is not None:
                found.setdefault(final(row.template), Timing(final(row.template))).values.append(
                    (seconds, row)
                )
        for row, after in pairwise(block):
            a, b = final(row.template), final(after.template)
            if row.file == after.file and a != b:
                follows[a] = follows.get(a, 0) + 1
                if row.time == row.time and after.time >= row.time:
                    steps.setdefault((a, b), Timing(a, b)).values.append((after.time - row.time, row))
    kept = [t for t in found.values() if len(t.values) >= _FEW and t.median > 0]
    kept += [t for (a, _), t in steps.items() if a not in found and _is_step(scan, t, follows[a])]
    for timing in kept:
        timing.count = summary.groups[timing.template].count if timing.template in summary.groups else 0
        judge(timing)
    return sorted(kept, key=lambda t: -t.median * t.count)


def alarming(scan: Scan, timing: Timing) -> bool:
    """Tell whether a timing is a cause by itself: online work that is slow, or any work that got slower."""
    if timing.rose is not None:
        return True
    message = scan.profiles[timing.template].message
    waited = _ONLINE.search(message) and not leisurely(scan, timing)
    return timing.ends is None and timing.high and bool(waited)


def sampled(scan: Scan, file: int | None) -> Iterator[tuple[Row, str]]:
    """Yield events with their first lines: all of a small log, blocks spread over a big one."""
    for block in _blocks(scan, file):
        yield from _texts(scan, block)


def leisurely(scan: Scan, timing: Timing) -> bool:
    """Tell whether a timing is of work that may take its time."""
    return bool(_BATCH.search(scan.profiles[timing.template].message))


def _blocks(scan: Scan, file: int | None) -> Iterator[list[Row]]:
    """Yield blocks of consecutive events, all of them in a small log."""
    total = scan.table.rows
    every = max(_BLOCK, total // _BLOCKS)
    start = 0
    for columns in scan.table.columns():
        size = len(columns.line)
        first = -start % every
        for begin in range(first, size, every):
            end = min(begin + _BLOCK, size) if every > _BLOCK else min(begin + every, size)
            block = [Row._make(values) for values in zip(*(c[begin:end] for c in columns), strict=True)]
            yield [row for row in block if file in (None, row.file)]
        if first and every == _BLOCK:
            block = [Row._make(values) for values in zip(*(c[:first] for c in columns), strict=True)]
            yield [row for row in block if file in (None, row.file)]
        start += size


def _texts(scan: Scan, block: list[Row]) -> Iterator[tuple[Row, str]]:
    """Yield each event of a block with its first line."""
    files: dict[int, list[Row]] = {}
    for row in block:
        files.setdefault(row.file, []).append(row)
    for number, rows in files.items():
        first = min(row.line for row in rows)
        last = min(max(row.line for row in rows), first + 4 * _BLOCK)
        texts = scan.body(number).read(first, last)
        for row in rows:
            if row.line - first < len(texts):
                yield row, texts[row.line - first]


def _is_step(scan: Scan, timing: Timing, followed: int) -> bool:
    """Tell whether a second kind of line ends what the first begins, by their words and by how often it follows."""
    assert timing.ends is not None
    if len(timing.values) < max(_PAIRS, _PAIRED * followed):
        return False
    begin, end = (scan.profiles[n].message for n in (timing.template, timing.ends))
    return bool(_BEGIN.search(begin) and _END.search(end)) and not _END.search(begin) and timing.median > 0


def judge(timing: Timing) -> None:
    """Set what it took early and late, and the event from which on it took longer."""
    values = sorted(timing.values, key=lambda v: (v[1].time, v[1].file, v[1].line))
    count = min(_CHUNKS, len(values) // _CHUNK)
    if count < 2:  # noqa: PLR2004 - nothing to compare
        return
    size = len(values) // count
    chunks = [values[n * size : (n + 1) * size] for n in range(count)]
    middles = [median(v for v, _ in chunk) for chunk in chunks]
    timing.early = min(middles[: max(1, count // 4)])
    timing.late = max(middles[1:])
    if timing.late < _FACTOR * max(timing.early, 1e-9) or timing.late - timing.early < _LONGER:
        return
    if not _surely([[v for v, _ in chunk] for chunk in chunks], middles.index(timing.late, 1)):
        return
    level = timing.early + (timing.late - timing.early) / 2
    rising = next(n for n, middle in enumerate(middles) if n and middle >= level)
    timing.rose = next((row for v, row in (*chunks[rising - 1], *chunks[rising]) if v >= level), None)


def _surely(chunks: list[list[float]], slowest: int) -> bool:
    """Tell whether the parts around the slowest that are slow too lie above all others, by more than values scatter."""
    middles = [median(chunk) for chunk in chunks]
    level = math.sqrt(min(middles) * middles[slowest])  # times scatter by factors
    first, last = slowest, slowest + 1
    while first and middles[first - 1] >= level:
        first -= 1
    while last < len(chunks) and middles[last] >= level:
        last += 1
    slow = [v for chunk in chunks[first:last] for v in chunk]
    rest = [v for chunk in chunks[:first] + chunks[last:] for v in chunk]
    stretches = len(chunks) * (len(chunks) + 1) / 2
    # a few values that do not even overlap are as sure as few can be
    return min(slow) > max(rest) or ranks_above(rest, slow) * stretches <= _CHANCE
