"""What is slow, what got slower, and what is neither."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from agents.log_analysis.judging.slow import Timing, alarming, judge, timings
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.summary import summarise
from agents.log_analysis.scanning.table import Row


def measured(scan: Scan) -> list[Timing]:
    return timings(scan, summarise(scan), None)


def stamp(second: float) -> str:
    return f"2026-01-01T{int(second) // 3600:02}:{int(second) // 60 % 60:02}:{second % 60:06.3f}Z"


def test_a_call_that_takes_long_is_slow(scan_of: Callable[..., Scan]) -> None:
    scan = scan_of(
        "\n".join(f"INFO:app:Database call completed in {5 + n % 6}.01 seconds." for n in range(12))
    )
    (timing,) = measured(scan)
    assert timing.high
    assert alarming(scan, timing)
    assert (timing.seconds[0], timing.worst[0], timing.worst[1].line) == (5.01, 10.01, 6)


def test_what_rises_is_told_from_where_it_rose(scan_of: Callable[..., Scan]) -> None:
    rows = [
        f"{stamp(n)} INFO GET /cart 200 took {20 + n % 9 + (900 if n >= 400 else 0)} ms" for n in range(600)
    ]
    scan = scan_of("\n".join(rows))
    (timing,) = measured(scan)
    assert alarming(scan, timing)
    assert timing.rose is not None
    assert timing.rose.line == 401
    assert timing.late / timing.early > 30


def test_what_is_quick_or_steady_or_batch_work_is_no_alarm(scan_of: Callable[..., Scan]) -> None:
    rows = [f"{stamp(n)} INFO GET /cart 200 took {20 + n * 7 % 60} ms" for n in range(300)]
    rows += [f"{stamp(300 + n)} INFO backup job finished in {40 + n % 3} s" for n in range(20)]
    rows += [f"{stamp(400 + n)} INFO Took {19 + n % 2}.5 seconds to spawn the instance" for n in range(20)]
    scan = scan_of("\n".join(rows))
    found = measured(scan)
    assert len(found) == 3
    assert not [t for t in found if alarming(scan, t)]


def test_a_start_and_its_finish_are_a_step(scan_of: Callable[..., Scan]) -> None:
    rows = []
    for n in range(50):
        rows.append(f"{stamp(n)} Sending invoice to user{n}@example.com...")
        rows.append(f"{stamp(n + 0.4)} Invoice sent successfully to user{n}@example.com")
    scan = scan_of("\n".join(rows))
    (timing,) = measured(scan)
    assert timing.ends is not None
    assert round(timing.median, 3) == 0.4
    assert not alarming(scan, timing)


def test_a_big_log_is_sampled(scan_of: Callable[..., Scan]) -> None:
    scan = scan_of("\n".join(f"{stamp(n / 10)} INFO GET /cart took {5 + n % 9} ms" for n in range(30_000)))
    (timing,) = measured(scan)
    assert timing.count == 30_000
    assert len(timing.values) == 10_000


def test_nothing_measured(scan_of: Callable[..., Scan]) -> None:
    assert measured(scan_of("INFO hello\nINFO world")) == []


@pytest.mark.parametrize("seed", range(12))
def test_values_that_scatter_widely_did_not_get_slower(seed: int) -> None:
    rng = random.Random(seed)
    assert judged([rng.uniform(0, 90) for _ in range(52)]).rose is None
    assert judged([rng.lognormvariate(0, 1.5) for _ in range(90)]).rose is None


@pytest.mark.parametrize("seed", range(6))
def test_a_step_in_scattered_values_is_told_from_few_of_them(seed: int) -> None:
    rng = random.Random(seed)
    timing = judged([rng.lognormvariate(-2, 0.5) * (10 if n >= 36 else 1) for n in range(60)])
    assert timing.rose is not None
    assert abs(timing.rose.line - 36) <= 8  # a part has seven values


def judged(seconds: list[float]) -> Timing:
    rows = [Row(0, n, float(n), 3, 0, 0) for n in range(len(seconds))]
    timing = Timing(0, values=list(zip(seconds, rows, strict=True)))
    judge(timing)
    return timing
