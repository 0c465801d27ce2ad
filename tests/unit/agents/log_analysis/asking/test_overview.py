"""The first look: of much that is the same, who is behind it is told, though something rarer is worse."""

from __future__ import annotations

from pathlib import Path

from agents.log_analysis.asking.overview import overview_of
from agents.log_analysis.reading import Reading
from kernel.redaction import Redactor
from tests.support.log_scans import log, read


def test_whose_the_largest_problem_is_is_told_behind_the_worst_ones(tmp_path: Path) -> None:
    lines = [(n, f"INFO session opened from 10.0.0.{n % 40}") for n in range(400)]
    lines += [
        (400 + n, f"WARN login failed for root from 10.9.9.{9 if n % 6 else n % 40}") for n in range(120)
    ]
    for number, said in enumerate(("disk is broken", "queue is corrupt", "index was lost", "cache crashed")):
        lines += [(300 + 9 * number + n, f"ERROR {said}") for n in range(2)]
    scan, _ = read(tmp_path, log(*lines))
    rows = overview_of(Reading(scan, Redactor([], salt=b"t")), None)["problems"]
    place, large = next((n, row) for n, row in enumerate(rows) if row["count"] == 120)
    assert place > 2
    assert large["where"].startswith("mostly 10.9.9.9 (100 of 120 lines")
