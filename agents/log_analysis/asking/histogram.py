"""Counts events over time in equal buckets."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from agents.log_analysis.asking.searching import Query, hits
from agents.log_analysis.formats.times import iso
from agents.log_analysis.reading import Reading, fit
from agents.log_analysis.scanning.summary import Summary, summarise
from kernel.errors import Correctable

#: More buckets than this say no more to a model; a person's programs and spreadsheets take these.
_BUCKETS = 60
BUCKETS_FOR_PEOPLE = 10_000
_STEPS = (0.001, 0.01, 0.1, 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 21_600, 86_400, 604_800)
_WIDTH = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s{0,9}(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
_MEANS = {"minute": 60.0, "hour": 3600.0, "day": 86_400.0}
#: Moments told of a peak that came more than once.
_PEAKS = 3
#: So much of a bucket is the doubt of a time in floating point: 10:00:01 is in the bucket that begins then.
_DOUBT = 1e-3
_BARS = "▁▂▃▄▅▆▇█"


def histogram_of(reading: Reading, query: Query, bucket: str, *, most: int = _BUCKETS) -> dict[str, Any]:
    """Return counts per bucket of the query's window, the mean per minute and the peak; empty buckets are left out.

    A bucket of which the query leaves out a part is `partial`: its count is no fall or rise.
    `most` is how many buckets a width may make; where it is more than a model reads, all of them are returned.
    """
    summary = summarise(reading.scan, query.file)
    if summary.start is None or summary.end is None:
        raise _untimed()
    first = max(summary.start, query.since if query.since is not None else summary.start)
    window = max(0.0, min(summary.end, query.until if query.until is not None else summary.end) - first)
    width = _width(bucket, window, most)
    start = _bucket(first, width)  # an hour is that of the clock
    counts, minutes = Counter[int](), Counter[int]()
    total = untimed = 0
    for _, _, row in hits(reading, query):
        total += 1
        if row is None or not summary.start <= row.time <= summary.end:  # none, or far from all others
            untimed += 1
        else:
            counts[_bucket(row.time, width) - start] += 1
            minutes[int(row.time // 60)] += 1
    last = _bucket(first + window, width) - start
    cut = {_bucket(edge, width) - start for edge in _edges(query, summary, width)} if counts else set()
    rows = [_row((start + n) * width, counts[n], cut=n in cut) for n in sorted({*counts, *cut})]
    means = {name: unit for name, unit in _MEANS.items() if unit <= window}
    answer: dict[str, Any] = {
        "bucket_seconds": width,
        "total": total,
        "without_time": untimed,
        "from": iso(start * width),
        "to": iso((start + last) * width),
        "window_seconds": round(window, 3),
        **{f"per_{name}": round(total * unit / window, 2) for name, unit in means.items()},
        "peaks": {name: _peak(minutes, unit) for name, unit in means.items() if minutes},
        "peak": max(rows, key=lambda row: row["count"], default={}),
        "sparkline": _line([counts[n] for n in range(last + 1)]),
        "buckets": rows,
    }
    return fit(answer, "buckets") if most <= _BUCKETS else answer


def _row(begin: float, count: int, *, cut: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"from": iso(begin), "count": count}
    return {**row, "partial": True} if cut else row


def _line(counts: Sequence[int]) -> str:
    highest = max(counts)
    return "".join(_BARS[math.ceil(count * 7 / highest)] if count else " " for count in counts)


def _edges(query: Query, summary: Summary, width: float) -> list[float]:
    """Return the ends of a query's window that lie inside a bucket, and inside the log."""
    log = (summary.start or 0.0, summary.end or 0.0)
    ends = [
        query.since if query.since is not None and query.since > log[0] else None,
        query.until if query.until is not None and query.until < log[1] else None,
    ]
    return [end for end in ends if end is not None and _DOUBT < (end / width) % 1 < 1 - _DOUBT]


def _untimed() -> Correctable:
    return Correctable(
        "the log has no times",
        why="no line carries a time that could be read",
        next_step="Use search or context by line instead.",
    )


def _bucket(moment: float, width: float) -> int:
    return math.floor(moment / width + _DOUBT)


def _peak(minutes: Counter[int], seconds: float) -> dict[str, Any]:
    """Return the most that one minute, hour or day of the clock holds, how many hold as many, and the first of them."""
    size = int(seconds // 60)
    counts: Counter[int] = Counter()
    for minute, count in minutes.items():
        counts[minute // size] += count
    highest = max(counts.values())
    even = sorted(n for n, count in counts.items() if count == highest)
    return {"count": highest, "times": len(even), "from": [iso(n * seconds) for n in even[:_PEAKS]]}


def _width(bucket: str, window: float, most: int) -> float:
    least, width = window / _BUCKETS, check_width(bucket)
    if width is None:
        return next((s for s in _STEPS if s >= least), max(least, 1e-3))
    smallest = window / most
    if width < smallest:
        raise Correctable(
            f"{bucket!r} makes more than {most:,} buckets",
            why=f"the window is {_told(window)} long",
            next_step=f"Use at least {_told(smallest)}, or auto, or a shorter window (since, until).",
        )
    return width


def check_width(bucket: str) -> float | None:
    """Return the seconds of a width, None where the log chooses; raise Correctable for what is no width."""
    if bucket in ("", "auto"):
        return None
    found = _WIDTH.fullmatch(bucket.strip())
    if not found or float(found[1]) <= 0:
        raise Correctable(
            f"{bucket[:40]!r} is no width",
            why="a width is a number with its unit: ms, s, m, h or d",
            next_step="Use 10s, 1m, 1h or auto.",
        )
    return float(found[1]) * _UNITS[found[2]]


def _told(seconds: float) -> str:
    """Return a width in the largest unit that it fills, rounded up, as it is asked for."""
    unit = max((u for u in _UNITS if _UNITS[u] <= seconds), key=_UNITS.__getitem__, default="ms")
    return f"{math.ceil(seconds / _UNITS[unit])}{unit}"
