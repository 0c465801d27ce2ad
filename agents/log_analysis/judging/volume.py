"""When a log that was steady got more or fewer lines at one moment, of all kinds, and stayed so; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from agents.log_analysis.judging.changepoints import burstiness, segments
from agents.log_analysis.judging.series import COARSE, Series, coarse, series
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.summary import Summary

#: A step is told from this fold on; what is more than the other is a flood or a silence, and told as such.
_FOLD, _FLOOD = 1.5, 10.0
#: Both sides are steady where the means of so many buckets differ by at most this share of the step.
_BLOCK, _STEADY = 10, 0.5
#: Where one kind of line has more than this share of the difference, it is told by itself.
_ONE = 0.75


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of the whole log: lines per bucket before and after, and a time (or a position)."""

    moment: float
    before: float
    after: float

    @property
    def fold(self) -> float:
        """Return how many times as many lines come as before."""
        return self.after / self.before


def step_of(scan: Scan, summary: Summary, file: int | None = None) -> Step | None:
    """Return the step of a log that is steady besides; what goes with the day or comes in bursts has none.

    Change points of templates leave out what moves all of them alike, as it does where half of the traffic is gone.
    """
    found = series(scan, summary, file)
    counts, flat = coarse(found.total), [1.0] * COARSE
    for place, _ in segments(counts, flat, burstiness(counts, flat))[:1]:
        blocks = [_blocks(counts[:place]), _blocks(counts[place:])]
        if not all(blocks):
            continue
        before, after = (sum(means) / len(means) for means in blocks)
        low, high = sorted((before, after))
        apart = max(max(means) - min(means) for means in blocks) <= _STEADY * (high - low)
        if apart and _FOLD * low <= high <= _FLOOD * low and not _of_one(found, place, after - before):
            return Step(moment=found.moment(place, COARSE), before=before, after=after)
    return None


def _blocks(counts: Sequence[int]) -> list[float]:
    return [sum(counts[i : i + _BLOCK]) / _BLOCK for i in range(0, len(counts) - _BLOCK + 1, _BLOCK)]


def _of_one(found: Series, place: int, difference: float) -> bool:
    """Tell whether one kind of line makes most of a difference."""
    for fine in found.templates.values():
        counts = coarse(fine)
        own = sum(counts[place:]) / (COARSE - place) - sum(counts[:place]) / place
        if own > _ONE * difference if difference > 0 else own < _ONE * difference:
            return True
    return False
