"""Compares two sides of a scan template by template: new, more, fewer, vanished, each with effect and chance; pure."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.judging.rates import adjusted, dispersion, fold, two_rates
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.table import Row

#: Of all shifts told, so many in a hundred may be chance; and what is told is at least so many times more or less.
FALSE_SHARE = 0.01
_FOLD = 0.58  # binary logarithm of 1.5
#: Each side is cut into so many parts of equal numbers of events, to see which templates come in bursts.
PARTS = 24
#: A template with so many events on both sides helps to tell how much busier one side is than the other.
_USUAL_EVENTS, _USUAL_TEMPLATES = 5, 5
#: A shift is a burst where one part of the side holds so much of it.
_BURST_SHARE, _BURST_EVENTS = 0.5, 10

Name = Literal["new", "vanished", "more", "fewer", "rare"]
#: Which side an event is on: 0 before, 1 after, None neither.
Side = Callable[[Row], int | None]


@dataclass
class Count:
    """One template's events on both sides."""

    level: int = 0
    first: Row | None = None
    last: Row | None = None
    before: int = 0
    after: int = 0
    services: set[int] = field(default_factory=set)
    parts: tuple[array[int], array[int]] = field(
        default_factory=lambda: (array("I", bytes(4 * PARTS)), array("I", bytes(4 * PARTS)))
    )


@dataclass(frozen=True, kw_only=True)
class Shift:
    """One template that differs. `fold` is a binary logarithm; `q` is p corrected for all that were tested."""

    template: int
    name: Name
    count: Count
    fold: float
    p: float
    q: float
    burst: bool = False

    @property
    def row(self) -> Row:
        """Return the event to cite: the first after, or the last before where it vanished."""
        row = self.count.first or self.count.last
        assert row is not None  # a count is made by a row
        return row


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Both sides with their totals; `busier` is how many times the usual lines got more, `usual` by how many."""

    totals: tuple[int, int]
    templates: int
    shifts: list[Shift]
    busier: float
    usual: int


def compared(scan: Scan, side: Side) -> Comparison | None:
    """Return how two sides differ, or None where one of them is empty.

    Counts are normalised by how much the templates that both sides have often changed at the median: a flood of
    one template then does not make all others seem to fall. Burstiness is taken from the side before.
    """
    sides = bytearray(scan.table.rows)
    totals = [0, 0]
    for number, row in enumerate(scan.table):
        which = side(row)
        sides[number] = 2 if which is None else which
        if which is not None:
            totals[which] += 1
    if not all(totals):
        return None
    counts = _counts(scan, sides, totals)
    ratios = sorted(
        c.after / c.before
        for c in counts.values()
        if c.before >= _USUAL_EVENTS and c.after >= _USUAL_EVENTS and c.level < Level.error
    )
    usual = len(ratios) if len(ratios) >= _USUAL_TEMPLATES else 0
    busier = ratios[usual // 2] if usual else totals[1] / totals[0]
    return Comparison(
        totals=(totals[0], totals[1]),
        templates=len(counts),
        shifts=_shifts(counts, (1.0, busier)),
        busier=busier,
        usual=usual,
    )


def _counts(scan: Scan, sides: bytearray, totals: list[int]) -> dict[int, Count]:
    final = [scan.miner.final(i) for i in range(len(scan.miner.templates))]
    counts: dict[int, Count] = {}
    seen = [0, 0]
    for which, row in zip(sides, scan.table, strict=True):
        if which > 1:
            continue
        template = final[row.template]
        count = counts.get(template)
        if count is None:
            count = counts[template] = Count()
        count.level = max(count.level, row.level)
        count.services.add(row.service)
        count.parts[which][seen[which] * PARTS // totals[which]] += 1
        seen[which] += 1
        if which:
            count.after += 1
            count.first = count.first or row
        else:
            count.before += 1
            count.last = row
    return counts


def _shifts(counts: dict[int, Count], exposure: tuple[float, float]) -> list[Shift]:
    ps = [two_rates(c.before, c.after, exposure, _bursty(c)) for c in counts.values()]
    shifts = []
    for (template, count), p, q in zip(counts.items(), ps, adjusted(ps), strict=True):
        effect = fold(count.before, count.after, exposure)
        name = _name(count, effect, q)
        if name is None:
            continue
        most = max(count.parts[1])
        burst = (
            name in ("new", "more") and count.after >= _BURST_EVENTS and most >= _BURST_SHARE * count.after
        )
        shifts.append(Shift(template=template, name=name, count=count, fold=effect, p=p, q=q, burst=burst))
    return sorted(shifts, key=lambda s: (s.count.level < Level.error, s.p, -abs(s.fold)))


def _bursty(count: Count) -> float:
    """Return the burstiness to test with: the one before; for what is new and harmless, its own."""
    if count.before > 1:
        return dispersion(count.parts[0])
    return 1.0 if count.level >= Level.warning else dispersion(count.parts[1])


def _name(count: Count, effect: float, q: float) -> Name | None:
    sure = q <= FALSE_SHARE
    if not count.before:
        return "new" if sure or count.level >= Level.warning else "rare"
    if not sure or abs(effect) < _FOLD:
        return None
    if not count.after:
        return "vanished"
    return "more" if effect > 0 else "fewer"
