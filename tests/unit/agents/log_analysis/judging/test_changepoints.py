from __future__ import annotations

import random
from pathlib import Path

import pytest

from agents.log_analysis.judging.changepoints import burstiness, changes_of, segments, together
from tests.support.log_scans import START, log, read

HOUR = 3600.0


def _noise(rng: random.Random, count: int, text: str, start: float = 0.0, end: float = 2 * HOUR) -> list:
    return [(start + rng.random() * (end - start), f"INFO {text} {n}") for n in range(count)]


def test_what_began_stopped_and_rose_is_found_at_its_time(tmp_path: Path) -> None:
    rng = random.Random(3)
    lines = _noise(rng, 3000, "served request")
    lines += _noise(rng, 300, "waiting for pool", start=4000)
    lines += _noise(rng, 300, "order shipped", end=5000)
    lines += _noise(rng, 80, "retry of call", end=4000) + _noise(rng, 320, "retry of call", start=4000)
    scan, summary = read(tmp_path, log(*lines))
    found = {scan.miner.templates[c.template].text().split(" <")[0]: c for c in changes_of(scan, summary)}
    assert set(found) == {"waiting for pool", "order shipped", "retry of call"}
    assert found["waiting for pool"].direction in ("start", "up")
    assert found["order shipped"].direction == "stop"
    assert found["retry of call"].direction == "up"
    assert found["waiting for pool"].moment == pytest.approx(START + 4000, abs=120)
    assert found["order shipped"].moment == pytest.approx(START + 5000, abs=120)
    assert all(c.q < 1e-3 for c in found.values())


def test_changes_at_one_time_are_one_group_with_the_largest_first(tmp_path: Path) -> None:
    rng = random.Random(4)
    lines = _noise(rng, 3000, "served request")
    lines += _noise(rng, 100, "one", start=4000) + _noise(rng, 900, "two", start=4000)
    lines += _noise(rng, 200, "three", end=1500)
    scan, summary = read(tmp_path, log(*lines))
    groups = together(changes_of(scan, summary))
    assert [len(g) for g in groups] == [1, 2]
    assert scan.miner.templates[groups[1][0].template].text().startswith("two")


def test_chronic_bursts_are_no_change() -> None:
    rng = random.Random(5)
    counts = [rng.choice([0, 0, 0, 0, 0, 25]) for _ in range(120)]
    flat = [1.0] * 120
    assert burstiness(counts, flat) > 10
    assert segments(counts, flat, burstiness(counts, flat)) == []


def test_a_rate_that_changes_twice_is_parted_twice() -> None:
    rng = random.Random(6)
    counts = [rng.randrange(2, 6) for _ in range(40)]
    counts += [rng.randrange(20, 28) for _ in range(40)]
    counts += [rng.randrange(2, 6) for _ in range(40)]
    places = sorted(place for place, _ in segments(counts, [1.0] * 120, 1.0))
    assert places == [40, 80]


def test_more_load_is_no_change_of_each_template(tmp_path: Path) -> None:
    rng = random.Random(7)
    lines = []
    for text in ("served request", "cache hit", "query done", "token checked", "reply sent"):
        lines += _noise(rng, 600, text, end=HOUR) + _noise(rng, 2400, text, start=HOUR)
    scan, summary = read(tmp_path, log(*lines))
    assert changes_of(scan, summary) == []


def test_noise_alone_is_no_change(tmp_path: Path) -> None:
    told = 0
    for seed in range(6):
        rng = random.Random(seed)
        lines = [line for n in range(12) for line in _noise(rng, 40 + 60 * n, f"kind{chr(97 + n)} of line")]
        scan, summary = read(tmp_path, log(*lines))
        told += len(changes_of(scan, summary))
    assert told == 0
