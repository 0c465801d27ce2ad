"""Numbers that keep growing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agents.log_analysis.judging.growth import growths
from agents.log_analysis.scanning.scan import Scan


def text(line: Callable[[int], str], count: int = 200) -> str:
    return "\n".join(f"2026-01-01T{n // 60:02}:{n % 60:02}:00Z INFO {line(n)}" for n in range(count))


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (lambda n: f"Memory usage: {200 + n * 5 + n % 7} MB", "memory usage"),
        (lambda n: f"consumer lag is {n * 3} messages", "lag"),
        (lambda n: f"stats active_connections={5 + n // 4} max=100", "active_connections"),
        (lambda n: f"disk usage {60 + n / 6:.1f}% of /var", "disk usage"),
        (lambda n: f"queue depth: {10 + n * n}", "queue depth"),
    ],
)
def test_what_grows_to_the_end_is_told(
    scan_of: Callable[..., Scan], line: Callable[[int], str], name: str
) -> None:
    (found,) = growths(scan_of(text(line)), None)
    assert found.name == name
    assert found.late > found.early


@pytest.mark.parametrize(
    "line",
    [
        lambda n: f"Memory usage: {300 + n * 37 % 50} MB",
        lambda n: f"Memory usage: {min(400, 200 + n * 9)} MB",
        lambda n: f"messages processed={n * 10} queue depth: {n % 5}",
        lambda n: f"disk usage {40 + n / 20:.1f}% of /var",
        lambda n: f"request {n} served in {n} ms",
        lambda n: f"listening on 10.0.0.{n % 200}:8080, memory limit {n}",
    ],
)
def test_what_levels_off_or_counts_work_is_none(
    scan_of: Callable[..., Scan], line: Callable[[int], str]
) -> None:
    assert growths(scan_of(text(line)), None) == []


def test_a_few_values_are_none(scan_of: Callable[..., Scan]) -> None:
    assert growths(scan_of(text(lambda n: f"Memory usage: {n * 100} MB", 20)), None) == []
