"""A run's events over time by level, in equal parts of its window: what a sparkline and a plot are drawn from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.times import iso
from agents.log_analysis.reading import Reading
from agents.log_analysis.scanning.summary import summarise
from agents.log_analysis.scanning.within import within

#: One character for nothing, then eight heights.
BARS = " ▁▂▃▄▅▆▇█"


def sparkline(counts: Sequence[int]) -> str:
    """Return counts as a line of bars; whatever is more than nothing can be seen."""
    highest = max(counts, default=0)
    top = len(BARS) - 1
    return "".join(BARS[math.ceil(count * top / highest)] if count else BARS[0] for count in counts)


def timeline_of(
    reading: Reading,
    file: int | None = None,
    since: float | None = None,
    until: float | None = None,
    *,
    parts: int = 60,
) -> dict[str, Any]:
    """Return counts per part and level; parts of the reading order where the log has no times."""
    scan = reading.scan if since is None and until is None else within(reading.scan, since, until)
    summary = summarise(scan, file)
    timed = summary.start is not None and summary.end is not None
    start = summary.start if summary.start is not None else 0.0
    window = (summary.end or 0.0) - start if timed else float(max(summary.events, 1))
    width = max(window / parts, 1e-6)
    levels: dict[int, list[int]] = {}
    without_time = place = 0
    for row in scan.table:
        if file is not None and row.file != file:
            continue
        at = row.time - start if timed else float(place)
        place += 1
        if math.isnan(at):
            without_time += 1
            continue
        counts = levels.setdefault(row.level, [0] * parts)
        counts[min(int(at / width), parts - 1)] += 1
    return {
        "from": iso(summary.start),
        "to": iso(summary.end),
        "part_seconds": round(width, 3) if timed else None,
        "without_time": without_time,
        "levels": {Level(n).name: counts for n, counts in sorted(levels.items())},
        "all": sparkline(_summed(levels, Level.unknown, parts)),
        "errors": sparkline(_summed(levels, Level.error, parts)),
    }


def _summed(levels: dict[int, list[int]], least: Level, parts: int) -> list[int]:
    chosen = [counts for level, counts in levels.items() if level >= least]
    return [sum(counts[n] for counts in chosen) for n in range(parts)]
