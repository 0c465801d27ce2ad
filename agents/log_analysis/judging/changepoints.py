"""Change points: when a template began, stopped, rose or fell, told only where chance does not explain it; pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agents.log_analysis.judging.rates import adjusted, chi_above
from agents.log_analysis.judging.series import COARSE, Series, coarse, series, sizes
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.summary import Summary

#: Of all changes told, so many in a thousand may be chance.
FALSE_SHARE = 0.001
#: A change is told from this fold on, and from so many events on.
_FOLD = 2.0
_EVENTS = 8
#: Change points of one template.
_POINTS = 4
#: The largest steps between neighbours are the changes themselves; the others say how bursty a template is.
_STEPS_LEFT_OUT = 2
#: A rise that ends within so many buckets is a burst.
_BURST = 3
#: So near to its place, in buckets, a change must show, and as this fold.
_NEAR = 5
_SHARP = 1.9
#: Templates whose changes lie within so many buckets of each other changed together.
_TOGETHER = 1


@dataclass(frozen=True, kw_only=True)
class Change:
    """One change of one template: rates are events per bucket before and after, `moment` a time (or a position)."""

    template: int
    moment: float
    bucket: int
    direction: str
    before: float
    after: float
    p: float
    q: float = 1.0

    @property
    def fold(self) -> float:
        """Return after by before, with a floor so that a start from nothing stays a number."""
        return (self.after + 0.02) / (self.before + 0.02)


def changes_of(scan: Scan, summary: Summary, file: int | None = None) -> list[Change]:
    """Return the change points of all templates, the surest first; `direction` is start, stop, up, down or burst.

    Each is a Poisson likelihood ratio of two rates against one (binary segmentation), scaled by the template's
    own burstiness and by how busy the log is, over all places it could be at, corrected for the templates tested.
    """
    found = series(scan, summary, file)
    busy = sizes(found)
    tested = [(t, c) for t, c in found.templates.items() if sum(c) >= _EVENTS]
    changes = [change for t, c in tested for change in _changes(t, coarse(c), busy, found)]
    quiet = len(tested) - len({c.template for c in changes})
    qs = adjusted([c.p for c in changes] + [1.0] * quiet)
    told = [replace(c, q=q) for c, q in zip(changes, qs, strict=False) if q <= FALSE_SHARE]
    return sorted(told, key=lambda c: (c.p, -abs(math.log(c.fold)), c.moment))


def together(changes: Sequence[Change]) -> list[list[Change]]:
    """Return groups of changes that coincide, in the order of time, each group the largest change first."""
    groups: list[list[Change]] = []
    for change in sorted(changes, key=lambda c: c.bucket):
        if groups and change.bucket - groups[-1][-1].bucket <= _TOGETHER:
            groups[-1].append(change)
        else:
            groups.append([change])
    return [sorted(g, key=lambda c: -abs(math.log(c.fold))) for g in groups]


def _changes(template: int, counts: list[int], busy: list[float], found: Series) -> Iterator[Change]:
    flat = [1.0] * len(counts)
    scale, scale_flat = burstiness(counts, busy), burstiness(counts, flat)
    points = sorted(segments(counts, busy, scale))
    edges = [0, *(p for p, _ in points), len(counts)]
    passed = -1
    for index, (place, p) in enumerate(points):
        left, right = edges[index], edges[index + 2]
        before, after = rate(counts, busy, left, place), rate(counts, busy, place, right)
        burst = after > before and right - place <= _BURST and right < len(counts)
        steady = max(p, _p(counts, flat, (left, place, right), scale_flat))  # a heartbeat follows no load
        if place <= passed or not (_sharp(counts, left, place, right) and steady <= FALSE_SHARE):
            continue
        if max(before, after) < _FOLD * max(min(before, after), 1e-9):
            continue
        name = "start" if not before else "stop" if not after else "up" if after > before else "down"
        passed = right if burst else place
        yield Change(
            template=template,
            moment=found.moment(place, COARSE),
            bucket=place,
            direction="burst" if burst else name,
            before=round(before, 3),
            after=round(after, 3),
            p=steady,
        )


def rate(counts: Sequence[int], busy: Sequence[float], left: int, right: int) -> float:
    """Return events per usual bucket."""
    return sum(counts[left:right]) / (sum(busy[left:right]) or 1.0)


def _sharp(counts: Sequence[int], left: int, place: int, right: int) -> bool:
    """Tell whether the rate jumps at a place; one that drifts there over hours follows the time of day."""
    before = counts[max(left, place - _NEAR) : place]
    after = counts[place : min(right, place + _NEAR)]
    low, high = sorted((sum(before) / len(before), sum(after) / len(after)))
    return high * len(after) >= 1 and high >= _SHARP * low


def _p(counts: Sequence[int], busy: Sequence[float], part: tuple[int, int, int], scale: float) -> float:
    """Return the p of two rates at a place, over all places it could be at."""
    left, place, right = part
    gain = 0.0
    whole = rate(counts, busy, left, right)
    for start, end in ((left, place), (place, right)):
        events = sum(counts[start:end])
        gain += events * math.log(rate(counts, busy, start, end) / whole) if events else 0.0
    return min(1.0, chi_above(2 * gain / scale) * (right - left))


def segments(counts: Sequence[int], busy: Sequence[float], scale: float) -> list[tuple[int, float]]:
    """Return places at which the rate changes, with the p of each: the strongest split, then those beside it."""
    found: list[tuple[int, float]] = []
    open_parts = [(0, len(counts))]
    limit = FALSE_SHARE
    while open_parts and len(found) < _POINTS:
        left, right = open_parts.pop(0)
        place, gain = _split(counts, busy, left, right)
        p = min(1.0, chi_above(2 * gain / scale) * max(1, right - left))
        if place and p <= limit:
            found.append((place, p))
            open_parts += [(left, place), (place, right)]
    return found


def _split(counts: Sequence[int], busy: Sequence[float], left: int, right: int) -> tuple[int, float]:
    """Return the best place to part a stretch at, and how much likelier two rates are than one (log)."""
    events, time = float(sum(counts[left:right])), sum(busy[left:right])
    if events < _EVENTS:
        return 0, 0.0
    one = events * math.log(events / time)
    best, gain = 0, 0.0
    seen = passed = 0.0
    for place in range(left + 1, right):
        seen += counts[place - 1]
        passed += busy[place - 1]
        rest = events - seen
        two = (seen * math.log(seen / passed) if seen else 0.0) + (
            rest * math.log(rest / (time - passed)) if rest else 0.0
        )
        if two - one > gain:
            best, gain = place, two - one
    return best, gain


def burstiness(counts: Sequence[int], busy: Sequence[float]) -> float:
    """Return variance by mean, from the steps between neighbours without the largest; at least 1."""
    total = sum(counts)
    if not total:
        return 1.0
    rate = total / sum(busy)
    steps = sorted(
        (counts[i] - counts[i - 1] - rate * (busy[i] - busy[i - 1])) ** 2 for i in range(1, len(counts))
    )[:-_STEPS_LEFT_OUT]
    mean = total / len(counts)
    return max(1.0, sum(steps) / (2 * mean * len(steps))) if steps else 1.0
