"""Compares two windows of a run's logs both ways: what got more and new, what got less and vanished."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.times import iso
from agents.log_analysis.reading import Reading, fit
from agents.log_analysis.scanning.table import Row
from kernel.errors import Correctable

#: A change counts from this strength (a z value of two Poisson rates, corrected for how many are tested).
_ALPHA = 0.01
_ROWS = 8


@dataclass(frozen=True)
class Window:
    """Events from `start` up to, but not at, `end`: times, or positions in reading order."""

    start: float
    end: float

    def holds(self, place: float) -> bool:
        """Tell whether a place lies in the window."""
        return self.start <= place < self.end


@dataclass
class _Pair:
    before: int = 0
    after: int = 0
    level: int = 0
    first: Row | None = None
    last: Row | None = None
    services: set[int] = field(default_factory=set)


def compare_of(
    reading: Reading, file: int | None, before: Window, after: Window, *, by_line: bool
) -> dict[str, Any]:
    """Return what differs between two windows, normalised per 1,000 events of each."""

    def side(row: Row) -> int | None:
        if file is not None and row.file != file:
            return None
        place = float(row.line) if by_line else row.time
        return 0 if before.holds(place) else 1 if after.holds(place) else None

    pairs, totals = _counted(reading, side)
    show = (lambda v: v) if by_line else iso
    windows = [{"from": show(w.start), "to": show(w.end)} for w in (before, after)]
    return _answer(reading, pairs, totals, windows)


def compare_files_of(reading: Reading, before: Collection[int], after: Collection[int]) -> dict[str, Any]:
    """Return what differs between two sets of files, normalised per 1,000 events of each."""
    pairs, totals = _counted(
        reading, lambda row: 0 if row.file in before else 1 if row.file in after else None
    )
    windows = [
        {"from": "", "to": "", "source": ", ".join(reading.name(n) for n in sorted(files)[:4])}
        for files in (before, after)
    ]
    return _answer(reading, pairs, totals, windows)


def _counted(reading: Reading, side: Callable[[Row], int | None]) -> tuple[dict[int, _Pair], list[int]]:
    pairs: dict[int, _Pair] = {}
    final = reading.scan.miner.final
    totals = [0, 0]
    for row in reading.scan.table:
        place = side(row)
        if place is None:
            continue
        pair = pairs.setdefault(final(row.template), _Pair())
        totals[place] += 1
        pair.level = max(pair.level, row.level)
        pair.services.add(row.service)
        if place:
            pair.after += 1
            pair.first = pair.first or row
        else:
            pair.before += 1
            pair.last = row
    if not all(totals):
        empty = "before" if not totals[0] else "after"
        raise Correctable(
            f"the window {empty!r} holds no event",
            next_step="Split at a time (or line) inside the log's own window.",
        )
    return pairs, totals


def _answer(
    reading: Reading,
    pairs: dict[int, _Pair],
    totals: list[int],
    windows: list[dict[str, Any]],
) -> dict[str, Any]:
    limit = _limit(len(pairs))
    lists: dict[str, list[tuple[float, dict[str, Any]]]] = {
        "new": [],
        "vanished": [],
        "more": [],
        "fewer": [],
    }
    for template, pair in pairs.items():
        z = _z(pair.before, pair.after, totals)
        name = _name(pair, z, limit)
        if name:
            weight = abs(z) + (3.0 if pair.level >= Level.error else 0.0)
            lists[name].append((weight, _row(reading, template, pair, totals, z)))
    answer: dict[str, Any] = {
        "before": {**windows[0], "events": totals[0]},
        "after": {**windows[1], "events": totals[1]},
        "unchanged": len(pairs) - sum(map(len, lists.values())),
    }
    for name, rows in lists.items():
        rows.sort(key=lambda r: -r[0])
        answer[f"{name}_total"] = len(rows)
        answer[name] = [row for _, row in rows[:_ROWS]]
    return fit(answer, "fewer", "more", "vanished", "new")


def _name(pair: _Pair, z: float, limit: float) -> str:
    if not pair.before:
        return "new" if z >= limit or pair.level >= Level.warning else ""
    if abs(z) < limit:
        return ""
    if not pair.after:
        return "vanished"
    return "more" if z > 0 else "fewer"


def _limit(tests: int) -> float:
    """Return the z from which a change is no accident, though so many kinds of lines are tested (Bonferroni)."""
    share = _ALPHA / max(1, tests)
    return math.sqrt(-2 * math.log(share))  # the Gaussian tail's own bound: a little strict, never lax


def _z(before: int, after: int, totals: list[int]) -> float:
    """Return how strongly the share of a template changed: variance-stabilised Poisson counts."""
    share = totals[1] / totals[0]
    expected = math.sqrt((before + 3 / 8) * share)
    return 2 * (math.sqrt(after + 3 / 8) - expected) / math.sqrt(1 + share)


def _row(reading: Reading, template: int, pair: _Pair, totals: list[int], z: float) -> dict[str, Any]:
    row = pair.first or pair.last
    assert row is not None  # a pair is made by a row
    services = sorted(reading.text(reading.scan.services[n], 60) for n in pair.services if n)
    return {
        "template": reading.text(reading.scan.miner.templates[template].text(), 140),
        "level": Level(pair.level).name,
        "before": pair.before,
        "after": pair.after,
        "per_1000": [round(pair.before * 1000 / totals[0], 2), round(pair.after * 1000 / totals[1], 2)],
        "strength": round(z, 1),
        "services": services[:4],
        **reading.at(row),
    }
