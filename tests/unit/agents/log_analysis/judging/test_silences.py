from __future__ import annotations

import random
from pathlib import Path

import pytest

from agents.log_analysis.judging.silences import silences
from agents.log_analysis.scanning.summary import summarise
from tests.support.log_scans import START, log, read


def test_a_heartbeat_that_stopped_is_told_though_the_log_goes_on(tmp_path: Path) -> None:
    rng = random.Random(1)
    lines = [(rng.random() * 7200, f"INFO served {n}") for n in range(3000)]
    lines += [(n * 10.0 + rng.random(), f"INFO heartbeat {n}") for n in range(450)]
    scan, summary = read(tmp_path, log(*lines))
    found = silences(scan, summary)
    assert [(s.what, s.open) for s in found] == [("template", True)]
    assert scan.miner.templates[found[0].number].text().startswith("heartbeat")
    assert found[0].start == pytest.approx(START + 4500, abs=20)


def test_a_pause_of_the_whole_log_is_one_silence(tmp_path: Path) -> None:
    rng = random.Random(2)
    times = [t for t in (rng.random() * 7200 for _ in range(4000)) if not 3000 < t < 3600]
    scan, summary = read(tmp_path, log(*((t, f"INFO served {n}") for n, t in enumerate(times))))
    found = silences(scan, summary)
    assert [s.what for s in found] == ["log"]
    assert found[0].seconds == pytest.approx(600, abs=30)
    assert not found[0].open


def test_pauses_between_the_runs_of_a_batch_are_usual(tmp_path: Path) -> None:
    lines = [(600.0 * run + n, f"INFO stage {n} of run {run}") for run in range(48) for n in range(9)]
    scan, summary = read(tmp_path, log(*lines))
    assert silences(scan, summary) == []


def test_rare_lines_fall_silent_without_a_finding(tmp_path: Path) -> None:
    lines = [(n * 2.0, f"INFO served {n}") for n in range(3600)]
    lines += [(n * 90.0, f"INFO stored {n}") for n in range(12)]
    scan, summary = read(tmp_path, log(*lines))
    assert silences(scan, summary) == []


def test_one_line_of_long_ago_is_no_log_that_fell_silent(tmp_path: Path) -> None:
    lines = [(0.0, "INFO restored 1 archive"), *((9e7 + n, f"INFO served {n}") for n in range(900))]
    scan, summary = read(tmp_path, log(*lines))
    assert silences(scan, summary) == []


def test_times_are_no_finer_than_they_are_known(tmp_path: Path) -> None:
    lines = [(n * 7.0, f"INFO served {n}") for n in range(6000)]
    lines += [(n * 30.0, f"INFO heartbeat {n}") for n in range(600)]
    scan, summary = read(tmp_path, log(*lines))
    (found,) = silences(scan, summary)
    assert found.start % 10 == 0
    assert found.start == pytest.approx(START + 18000, abs=90)
    assert found.end <= (summary.end or 0.0)


def test_files_without_times_hold_no_silence_where_one_ends_and_the_next_begins(scan_of) -> None:
    beats = "\n".join(f"INFO heartbeat {n}" for n in range(246))
    scan = scan_of(beats, "\n".join(f"Labels: app={n}" for n in range(40)))
    assert silences(scan, summarise(scan)) == []
