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


def served(rng: random.Random, until: float, rate: float) -> list[tuple[float, str]]:
    words = (
        "INFO served %d",
        "DEBUG missed key %d",
        "INFO stored %d",
        "INFO [beat] alive %d",
        "WARN retried %d",
    )
    times = [rng.random() * until for _ in range(round(until * rate))]
    return [(t, words[n % 5] % n) for n, t in enumerate(times)]


def test_a_level_that_was_switched_off_is_told_and_nobody_is_called_silent(tmp_path: Path) -> None:
    lines = [(t, text) for t, text in served(random.Random(3), 7200, 0.6) if t < 4000 or "WARN" in text]
    (found,) = silences(*read(tmp_path, log(*lines)))
    assert (found.what, found.number, found.open) == ("level", 3, True)
    assert found.start == pytest.approx(START + 4000, abs=15)


def test_lines_that_end_as_new_errors_begin_are_no_level_switched_off(tmp_path: Path) -> None:
    lines = [(t, text) for t, text in served(random.Random(4), 7200, 0.6) if t < 4000 or "WARN" in text]
    lines += [(4010.0 + 9 * n, f"ERROR lost connection {n}") for n in range(300)]
    found = silences(*read(tmp_path, log(*lines)))
    assert found
    assert {s.what for s in found} == {"template"}


def test_a_kind_of_line_that_was_gone_before_the_level_is_told_beside_it(tmp_path: Path) -> None:
    lines = [(t, text) for t, text in served(random.Random(5), 7200, 0.6) if t < 4000 or "WARN" in text]
    lines = [(t, text) for t, text in lines if t < 2500 or "beat" not in text]
    scan, summary = read(tmp_path, log(*lines))
    level, beat = silences(scan, summary)
    assert (level.what, beat.what) == ("level", "template")
    assert "alive" in scan.miner.templates[beat.number].text()


@pytest.mark.parametrize(
    ("start", "zone", "clock"), [(0.0, "", True), (0.0, "+00:00", False), (86_400.0, "", False)]
)
def test_the_hour_that_clocks_leave_out_is_known_as_one(
    tmp_path: Path, start: float, zone: str, clock: bool
) -> None:
    rows = sorted(served(random.Random(6), 14_400, 0.4))
    text = log(*((start + t + (3600 if t > 7200 else 0), said) for t, said in rows))  # a Sunday, and a Monday
    (found,) = silences(*read(tmp_path, text.replace("+00:00", zone)))
    assert found.what == "log"
    assert found.clock is clock


def test_a_service_that_says_little_when_all_do_is_not_silent(tmp_path: Path) -> None:
    rng = random.Random(7)
    busy = [
        *(rng.random() * 30_000 for _ in range(3000)),
        *(60_000 + rng.random() * 30_000 for _ in range(3000)),
    ]
    lines = [(t, f"INFO served {n}") for n, t in enumerate(busy)]
    lines += [(30_000 + n * 300.0, f"INFO served {n}") for n in range(100)]
    lines += [(t, f"INFO mailed {n}") for n, t in enumerate(busy) if n % 30 == 0]
    assert silences(*read(tmp_path, log(*lines))) == []


def test_that_errors_come_no_more_is_no_silence(tmp_path: Path) -> None:
    lines = [(n * 2.0, f"INFO GET /cart 200 in {n % 90} ms") for n in range(900)]
    lines += [(700 + n * 5.0, f"ERROR GET /cart 503 in {n % 90} ms") for n in range(60)]
    assert silences(*read(tmp_path, log(*lines))) == []
