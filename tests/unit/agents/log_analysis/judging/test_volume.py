"""When a log that was steady got more or fewer lines of all kinds."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.log_analysis.judging.volume import Step, step_of
from tests.support.log_scans import START, log, read

HOURS = 7200.0
KINDS = ("served %d", "missed key %d", "stored %d", "mailed %d")


def step(tmp_path: Path, kept: Callable[[float, int], float], lines: int = 2400) -> Step | None:
    """Return the step of a log in which a line of a kind is kept at a moment with a chance."""
    rng = random.Random(1)
    made = [(rng.random() * HOURS, n % len(KINDS), n) for n in range(lines)]
    rows = [(t, f"INFO {KINDS[kind] % n}") for t, kind, n in made if rng.random() < kept(t, kind)]
    return step_of(*read(tmp_path, log(*rows)))


@pytest.mark.parametrize(("before", "after"), [(1.0, 0.5), (0.4, 1.0)])
def test_a_log_that_loses_or_gains_half_of_all_its_lines_has_a_step(
    tmp_path: Path, before: float, after: float
) -> None:
    found = step(tmp_path, lambda t, _: before if t < 4300 else after)
    assert found is not None
    assert found.fold == pytest.approx(after / before, rel=0.15)
    assert found.moment == pytest.approx(START + 4300, abs=HOURS / 120)


@pytest.mark.parametrize(
    "kept",
    [
        lambda _t, _kind: 1.0,
        lambda t, _kind: 0.55 - 0.45 * math.cos(2 * math.pi * t / HOURS),  # a day
        lambda t, _kind: 1.0 if t % 1200 < 300 else 0.2,  # a job now and then
        lambda t, kind: 1.0 if t < 4000 or kind else 0.0,  # one kind that stopped
        lambda t, _kind: 1.0 if t < 4000 else 0.02,  # a level switched off, or an outage
        lambda t, _kind: 1.0 - 0.8 * t / HOURS,  # an evening
    ],
    ids=["steady", "day", "job", "one kind", "silence", "evening"],
)
def test_what_is_no_step_of_a_steady_log_is_none(tmp_path: Path, kept: Callable[[float, int], float]) -> None:
    assert step(tmp_path, kept) is None
