"""Which service became slower inside the paths of requests."""

from __future__ import annotations

from math import exp, nan
from statistics import fmean

import pytest

from agents.log_analysis.judging.lags import SLOWER, lags
from agents.log_analysis.judging.trails import Trail
from agents.log_analysis.scanning.table import Row

FRONT, CART, STORE = 1, 2, 3
#: Each line's service, and the usual seconds up to the next: front to cart, cart to store, the store's own work …
WAY = [(FRONT, 0.01), (CART, 0.01), (STORE, 0.04), (STORE, 0.01), (CART, 0.01), (FRONT, 0.0)]


def path(number: int, times: float = 1.0, slow: int = 0, *, timed: bool = True) -> Trail:
    """One request: `slow` takes so many `times` as long for what it does itself; 0 is everyone."""
    steps, moment = [], 1000.0 * number
    for kind, (service, seconds) in enumerate(WAY):
        steps.append(Row(0, kind, moment if timed else nan, 3, kind, service))
        own = slow in (0, service) and WAY[min(kind + 1, len(WAY) - 1)][0] == (slow or service)
        moment += seconds * (times if own or not slow else 1.0)
    return Trail(f"t{number}", steps)


def slower(after: list[Trail], before: int = 10) -> dict[int, float]:
    """Return how many times as long each service takes."""
    usual, found = lags([path(n) for n in range(before)], after, lambda kind: kind)
    return {s: exp(fmean(values) - fmean(usual[s])) for s, values in found.items()}


def test_the_one_whose_own_work_takes_longer_is_slower_and_no_other() -> None:
    found = slower([path(n, 8.0, STORE) for n in range(10)])
    assert found[STORE] > SLOWER
    assert found[CART] < SLOWER
    assert found[FRONT] == pytest.approx(1, abs=0.1)


def test_what_slows_everything_down_is_nobodys_own() -> None:
    found = slower([path(n, 5.0) for n in range(10)])
    assert all(times < SLOWER for times in found.values())


def test_paths_as_fast_as_ever_are_not_slower() -> None:
    assert slower([path(n) for n in range(10)]) == {s: pytest.approx(1) for s in (FRONT, CART, STORE)}


def test_moves_that_were_seen_a_few_times_have_no_usual_time() -> None:
    assert slower([path(n, 8.0, STORE) for n in range(10)], before=5) == {}


def test_lines_without_a_time_take_none() -> None:
    assert slower([path(n, timed=False) for n in range(10)]) == {}
