"""How long things took, in the shapes people log it."""

from __future__ import annotations

import time

import pytest

from agents.log_analysis.judging.durations import duration, told


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Database call completed in 10.01 seconds.", 10.01),
        ("method=Health result=2 took=3.19ms", 0.00319),
        ('{"response_time_ms": 88, "message": "OK"}', 0.088),
        ("GET /cart/1 200 in 23 ms", 0.023),
        ("request_time=0.351 upstream_response_time=0.300", 0.351),
        ("elapsed: 7.3s", 7.3),
        ("duration=1500", 1.5),
        ("durationMs: 512", 0.512),
        ('"latency":"7.1s"', 7.1),
        ("Slow query: 8.2s", 8.2),
        ("查询耗时 3.2 秒", 3.2),
        ("GC pause took 2 min", 120.0),
    ],
)
def test_durations(text: str, seconds: float) -> None:
    assert duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text",
    [
        "retrying in 5s",
        "session expires in 300 s",
        "Timeout waiting for a connection after 30000ms",
        "next run in 60 seconds",
        "deployed in 2026-01",
        "disk usage 91 %",
        "request_id=12345",
    ],
)
def test_settings_plans_and_other_numbers_are_none(text: str) -> None:
    assert duration(text) is None


def test_a_hostile_line_costs_little() -> None:
    start = time.thread_time()
    for text in ("took" * 5000, "in " * 5000, "_" * 20000 + "duration", "slow " * 4000):
        duration(text)
    assert time.thread_time() - start < 1


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(10.01, "10 s"), (9.012, "9.01 s"), (0.1529, "153 ms"), (0.000042, "0.042 ms"), (4000, "4,000 s")],
)
def test_durations_as_people_say_them(seconds: float, text: str) -> None:
    assert told(seconds) == text
