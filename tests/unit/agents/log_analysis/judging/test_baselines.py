from __future__ import annotations

from pathlib import Path

import pytest

from agents.log_analysis.judging.baselines import baseline
from tests.support.log_scans import START, log, read


def _usual(hours: float) -> list:
    return [(n * 20.0, f"INFO served {n}") for n in range(int(hours * 180))]


def test_the_log_chooses_the_deploy_before_the_trouble(tmp_path: Path) -> None:
    lines = [*_usual(2), (3600.0, "INFO deployed version 2.1"), (3700.0, "ERROR pool exhausted")]
    scan, summary = read(tmp_path, log(*lines))
    chosen = baseline(scan, summary)
    assert chosen is not None
    assert (chosen.kind, chosen.after.start) == ("deploy", START + 3600)
    first = baseline(scan, summary, "first_error")
    assert first is not None
    assert first.before.end == first.after.start == START + 3700


def test_without_a_deploy_it_is_the_first_error_and_without_trouble_the_hour_earlier(tmp_path: Path) -> None:
    scan, summary = read(tmp_path, log(*_usual(3), (7200.0, "ERROR disk gone")))
    assert (chosen := baseline(scan, summary)) is not None
    assert chosen.kind == "first_error"
    scan, summary = read(tmp_path, log(*_usual(3)))
    assert (chosen := baseline(scan, summary)) is not None
    assert chosen.kind == "hour"
    assert chosen.after.start - chosen.before.start == 3600


def test_over_days_the_hour_is_that_of_the_day_before(tmp_path: Path) -> None:
    scan, summary = read(tmp_path, log(*_usual(30)))
    assert (chosen := baseline(scan, summary, "hour")) is not None
    assert chosen.after.start - chosen.before.start == pytest.approx(86_400)


def test_trouble_from_the_first_line_leaves_the_halves_and_no_times_nothing(tmp_path: Path) -> None:
    scan, summary = read(tmp_path, log((0.0, "ERROR disk gone"), *_usual(0.5)))
    assert (chosen := baseline(scan, summary)) is not None
    assert chosen.kind == "half"
    assert baseline(scan, summary, "deploy") is None
    scan, summary = read(tmp_path, "no time here\nnor here\n")
    assert baseline(scan, summary) is None
