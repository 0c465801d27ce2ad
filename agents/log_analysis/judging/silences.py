"""Silences: a log, a service or a template that was regular and stopped, or paused; pure."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from agents.log_analysis.judging.rates import SMALLEST
from agents.log_analysis.judging.series import BUCKETS, Series, series
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.summary import Summary

#: A silence is told from so many events on, from so many times the longest pause that is usual, and so long.
_EVENTS = 24
#: What spoke less often than this before was not regular, and cannot fall silent.
_BEFORE = 8
_FACTOR = 4.0
_SHORTEST = 0.02
#: The longest pauses but so many are usual; and by chance a silence comes with at most this probability.
_LEFT_OUT = 2
_CHANCE = 1e-6

What = Literal["log", "service", "template"]


@dataclass(frozen=True, kw_only=True)
class Silence:
    """One silence; `number` is a service's or a template's. `open` silences last to the end of the log."""

    what: What
    number: int
    start: float
    end: float
    events: int
    usual: float
    p: float
    open: bool

    @property
    def seconds(self) -> float:
        """Return how long it lasts (in events where the log has no times)."""
        return self.end - self.start


def silences(scan: Scan, summary: Summary, file: int | None = None) -> list[Silence]:
    """Return the silences, those of the whole log first, then of services, then of templates; longest first.

    A template is told only where its service (or the log) speaks on meanwhile: its silence is then its own.
    """
    found = series(scan, summary, file)
    if not found.timed and file is None and len(scan.files) > 1:
        return []  # several files without times: where one ends and the next begins is no pause
    whole = _silences("log", 0, found.total, found)
    named = {n: c for n, c in found.services.items() if n}
    services = (
        [s for n, c in named.items() for s in _silences("service", n, c, found)] if len(named) > 1 else []
    )
    templates = [s for n, c in found.templates.items() for s in _silences("template", n, c, found)]
    told = [*whole]
    for one in sorted(services, key=lambda s: -s.seconds) + sorted(templates, key=lambda s: -s.seconds):
        if not any(_covers(other, one) for other in told):
            told.append(one)
    return told


def _silences(what: What, number: int, counts: array[int], found: Series) -> list[Silence]:
    events = sum(counts)
    if events < _EVENTS:
        return []
    pauses = _pauses(counts)
    lengths = sorted(end - start for start, end in pauses)
    usual = float(lengths[-1 - _LEFT_OUT]) if len(lengths) > _LEFT_OUT else 1.0
    spoken = sum(1 for n in counts if n)
    told = []
    for start, end in pauses:
        length = end - start
        rest = max(1, len(counts) - length)
        # in buckets that hold something: a burst of ten lines is one sign of life
        p = min(1.0, max(SMALLEST, len(counts) * math.exp(-length * spoken / rest)))
        if (
            length >= _FACTOR * usual
            and length >= _SHORTEST * BUCKETS
            and p <= _CHANCE
            and sum(counts[:start]) >= _BEFORE
        ):
            told.append(
                Silence(
                    what=what,
                    number=number,
                    start=found.moment(start),
                    end=found.moment(end),
                    events=events,
                    usual=usual * found.width,
                    p=p,
                    open=end == len(counts),
                )
            )
    return told


def _pauses(counts: Sequence[int]) -> list[tuple[int, int]]:
    """Return the stretches of empty buckets."""
    pauses, start = [], -1
    for bucket, count in enumerate(counts):
        if not count and start < 0:
            start = bucket
        elif count and start >= 0:
            pauses.append((start, bucket))
            start = -1
    return [*pauses, (start, len(counts))] if start >= 0 else pauses


def _covers(other: Silence, one: Silence) -> bool:
    """Tell whether a silence is explained by a wider one that lasts about as long."""
    shared = min(other.end, one.end) - max(other.start, one.start)
    return other.what != one.what and shared >= 0.8 * one.seconds
