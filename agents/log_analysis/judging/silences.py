"""Silences: a log, a service or a template that was regular and stopped, or paused; pure."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from agents.log_analysis.formats.levels import Level
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

#: A level is switched off where so many kinds of lines end at once, and of the rest so many lines (no more than so many
#: times more or fewer than usual) go on.
_KINDS, _ON, _AS_USUAL = 3, 4, 2.0
#: Clocks are put forward by an hour, on Sundays, at one of these hours.
_HOUR, _SUNDAY, _NIGHT = 3600.0, 6, range(4)
_ZONELESS = "taken as UTC"

What = Literal["log", "level", "service", "template"]


@dataclass(frozen=True, kw_only=True)
class Silence:
    """One silence; `number` is a service's, a template's, or the highest level's. `open` ones last to the log's end.

    `clock` tells that stamps without a zone leave out the hour by which clocks are put forward.
    """

    what: What
    number: int
    start: float
    end: float
    events: int
    usual: float
    p: float
    open: bool
    clock: bool = False

    @property
    def seconds(self) -> float:
        """Return how long it lasts (in events where the log has no times)."""
        return self.end - self.start


def silences(scan: Scan, summary: Summary, file: int | None = None) -> list[Silence]:
    """Return the silences, those of the whole log first, then of services, then of templates; longest first.

    A template is told only where its service (or the log) speaks on meanwhile: its silence is then its own. Where
    all lines up to a level end at once and those above go on, the level is told, and none of what it silenced. That
    errors come no more is no silence.
    """
    found = series(scan, summary, file)
    if not found.timed and file is None and len(scan.files) > 1:
        return []  # several files without times: where one ends and the next begins is no pause
    whole = [replace(s, clock=_left_out(scan, s, found)) for s in _silences("log", 0, found.total, found)]
    level = _switched(summary, found)
    named = {n: c for n, c in found.services.items() if n}
    services = (
        [s for n, c in named.items() for s in _silences("service", n, c, found)] if len(named) > 1 else []
    )
    calm = [
        (n, c)
        for n, c in found.templates.items()
        if n in summary.groups and summary.groups[n].level < Level.error
    ]
    templates = [s for n, c in calm for s in _silences("template", n, c, found)]
    told = [*whole, *level]
    for one in sorted(services, key=lambda s: -s.seconds) + sorted(templates, key=lambda s: -s.seconds):
        if not any(_covers(other, one) for other in told) and not (level and _silenced(one, level[0])):
            told.append(one)
    return told


def _switched(summary: Summary, found: Series) -> list[Silence]:
    """Return the silence of all lines up to a level, at most one, while those above it go on as they did."""
    known = {t: summary.groups[t].level for t in found.templates if t in summary.groups}
    for most in (Level.info, Level.debug):
        low = [found.templates[t] for t, level in known.items() if Level.unknown < level <= most]
        high = [found.templates[t] for t, level in known.items() if level > most]
        if len(low) < _KINDS or not high:
            continue
        together = array("I", map(sum, zip(*low, strict=True)))
        for silence in _silences("level", most, together, found):
            place = round((silence.start - found.start) / found.width)
            old = [c for c in high if any(c[:place])]
            before, after = (sum(sum(part) for part in parts) for parts in _sides(old, place))
            usual = before / max(1, place) * (BUCKETS - place)
            as_usual = max(_ON, usual / _AS_USUAL) <= after <= usual * _AS_USUAL
            if silence.open and len(old) == len(high) and as_usual:
                return [silence]
    return []


def _sides(rows: list[array[int]], place: int) -> tuple[list[array[int]], list[array[int]]]:
    return [row[:place] for row in rows], [row[place:] for row in rows]


def _silenced(one: Silence, level: Silence) -> bool:
    """Tell whether a silence began as a level was switched off, give or take the pauses that are usual."""
    return one.open and level.start - one.start < _FACTOR * one.usual


def _left_out(scan: Scan, silence: Silence, found: Series) -> bool:
    """Tell whether a silence is the hour that stamps without a zone leave out as clocks are put forward."""
    near = 2 * found.width
    if not found.timed or silence.open or abs(silence.seconds - _HOUR) > near:
        return False
    moment = datetime.fromtimestamp(round(silence.start / _HOUR) * _HOUR, UTC)
    at_night = moment.weekday() == _SUNDAY and moment.hour in _NIGHT
    zoneless = any(note.endswith(_ZONELESS) for facts in scan.facts for note in facts.notes)
    return at_night and zoneless and abs(silence.start - moment.timestamp()) <= near


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
        if what in ("service", "template"):
            p = max(p, _by_others(start, end, counts, found))
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


def _by_others(start: int, end: int, counts: array[int], found: Series) -> float:
    """Return the chance of a silence by how much the others say meanwhile: at night all say little."""
    meanwhile = sum(found.total[start:end])
    rest = sum(found.total) - sum(counts) - meanwhile
    expected = meanwhile * sum(1 for n in counts if n) / max(1, rest)
    return min(1.0, len(counts) * math.exp(-expected))


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
