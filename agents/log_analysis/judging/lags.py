"""Which services became slower inside the paths of requests: the time between two lines that usually follow; pure."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from statistics import fmean, median

from agents.log_analysis.judging.departures import Step
from agents.log_analysis.judging.trails import Trail

#: The usual time of a move is known from so many moves on; times below this many seconds are all alike.
_KNOWN, _ALIKE = 6, 0.001
#: Finer than a hundredth the digits of a time decide, and not the service.
_DIGITS = 2
#: A service counts as slower from so many times the usual on, at the mean of its paths.
SLOWER = 1.25


def lags(
    before: Iterable[Trail], after: Iterable[Trail], final: Callable[[int], int]
) -> tuple[dict[int, list[float]], dict[int, list[float]]]:
    """Return per side and service how slow each path was at it: the logarithm of its time by the usual.

    A move touches the service it comes from and the one it goes to: time on the wire belongs to both, and who has
    more moves that are as fast as ever stays nearer to the usual.
    """
    sides = (list(before), list(after))
    times: dict[tuple[Step, Step], list[float]] = defaultdict(list)
    for path in sides[0]:
        for move, seconds in _timed(path, final):
            times[move].append(seconds)
    usual = {move: median(found) for move, found in times.items() if len(found) >= _KNOWN}
    told = tuple(_slowness(paths, usual, final) for paths in sides)
    # what slows everything down is load, and nobody's own
    common = median([v for values in told[1].values() for v in values] or [0.0])
    return told[0], {s: [v - max(0.0, common) for v in values] for s, values in told[1].items()}


def _slowness(
    paths: Iterable[Trail], usual: dict[tuple[Step, Step], float], final: Callable[[int], int]
) -> dict[int, list[float]]:
    found: dict[int, list[float]] = defaultdict(list)
    for path in paths:
        at: dict[int, list[float]] = defaultdict(list)
        for move, seconds in _timed(path, final):
            if move in usual:
                slow = math.log((seconds + _ALIKE) / (usual[move] + _ALIKE))
                for service in {move[0][0], move[1][0]}:
                    at[service].append(slow)
        for service, values in at.items():
            found[service].append(round(fmean(values), _DIGITS))
    return found


def _timed(path: Trail, final: Callable[[int], int]) -> Iterator[tuple[tuple[Step, Step], float]]:
    rows = [row for row in path.steps if row.service and not math.isnan(row.time)]
    for one, two in pairwise(rows):
        yield (
            ((one.service, final(one.template)), (two.service, final(two.template))),
            max(0.0, two.time - one.time),
        )
