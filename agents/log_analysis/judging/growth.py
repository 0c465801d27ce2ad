"""Finds numbers that keep growing though they should not: memory, queues, lag, open connections; from a sample."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from agents.log_analysis.judging.slow import sampled
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.table import Row

#: Values are cut into so many parts; nearly all steps between them must go up, over this many values at least.
_PARTS, _STEPS, _VALUES = 8, 6, 24
#: From the first part to the last it must grow so many times; a share must end so high (percent).
_FOLD, _FULL = 2.0, 80.0

#: What is a level of something, and no count of what was done.
_GAUGE = re.compile(
    r"(?i)(?<![a-z])((?:heap|memory|mem|rss|queue|lag|backlog|pending|active|open|waiting|cache|disk|goroutines?|threads?"
    r"|connections?|handles?|fds?)(?:[_ -]?(?:used|usage|size|depth|length|len|lag|entries|connections?|files?|messages"
    r"|requests|threads|mb|bytes|percent|is|at|of|total)){0,3})[\"']?\s?[:=]?\s?[\"']?(\d{1,15}(?:\.\d{1,6})?)(?![\w.:/-]*\d)\s?(%)?"
)
_JOINT = re.compile(r"[_ -](?:is|at|of)$")
_DONE = re.compile(r"(?i)processed|sent|received|written|freed|released|closed|limit|\bmax")


@dataclass
class Growth:
    """One number of one kind of line, from its first part to its last."""

    template: int
    name: str
    values: list[tuple[float, Row]] = field(default_factory=list)
    early: float = 0.0
    late: float = 0.0


def growths(scan: Scan, file: int | None) -> list[Growth]:
    """Return the numbers that keep growing, the steepest first."""
    found: dict[tuple[int, str], Growth] = {}
    shares: set[tuple[int, str]] = set()
    for row, text in sampled(scan, file):
        for match in _GAUGE.finditer(text[:1200]):
            if _DONE.search(match[1]):
                continue
            key = (scan.miner.final(row.template), _JOINT.sub("", match[1].lower()))
            found.setdefault(key, Growth(*key)).values.append((float(match[2]), row))
            if match[3]:
                shares.add(key)
    kept = [g for key, g in found.items() if _grows(g, share=key in shares)]
    return sorted(kept, key=lambda g: -g.late / max(g.early, 1e-9))


def _grows(growth: Growth, *, share: bool) -> bool:
    """Set the first and last level; tell whether nearly every part is above the one before, to the end."""
    values = sorted(growth.values, key=lambda v: (v[1].time, v[1].file, v[1].line))
    if len(values) < _VALUES:
        return False
    size = len(values) / _PARTS
    parts = [median(v for v, _ in values[round(n * size) : round((n + 1) * size)]) for n in range(_PARTS)]
    growth.values, growth.early, growth.late = values, parts[0], parts[-1]
    ups = sum(b > a for a, b in pairwise(parts))
    high = growth.late >= _FULL if share else growth.late >= _FOLD * max(growth.early, 1.0)
    return ups >= _STEPS and parts[-1] >= max(parts[:-1]) and high
