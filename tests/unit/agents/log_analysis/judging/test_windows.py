from __future__ import annotations

import random
from pathlib import Path

from agents.log_analysis.judging.windows import Side, compared
from agents.log_analysis.scanning.table import Row
from tests.support.log_scans import START, log, read


def _split(second: float) -> Side:
    def side(row: Row) -> int:
        return int(row.time >= START + second)

    return side


def _usual(rng: random.Random, before: int, after: int) -> list:
    lines = []
    for text in ("served", "cached", "queried", "checked", "replied", "stored"):
        lines += [(rng.random() * 1000, f"INFO {text} item {n}") for n in range(before)]
        lines += [(1000 + rng.random() * 1000, f"INFO {text} item {n}") for n in range(after)]
    return lines


def _names(folder: Path, lines: list) -> dict[str, str]:
    scan, _ = read(folder, log(*lines))
    found = compared(scan, _split(1000))
    assert found is not None
    return {scan.miner.templates[s.template].text().split(" <")[0]: s.name for s in found.shifts}


def test_new_vanished_more_and_fewer_are_told_apart(tmp_path: Path) -> None:
    rng = random.Random(1)
    lines = _usual(rng, 200, 200)
    lines += [(1000 + rng.random() * 999, f"INFO pool wait {n}") for n in range(40)]
    lines += [(rng.random() * 999, f"INFO order shipped {n}") for n in range(40)]
    lines += [(rng.random() * 999, f"INFO retry {n}") for n in range(20)]
    lines += [(1000 + rng.random() * 999, f"INFO retry {n}") for n in range(90)]
    lines += [(rng.random() * 999, f"INFO paid {n}") for n in range(90)]
    lines += [(1000 + rng.random() * 999, f"INFO paid {n}") for n in range(20)]
    assert _names(tmp_path, lines) == {
        "pool wait": "new",
        "order shipped": "vanished",
        "retry": "more",
        "paid": "fewer",
    }


def test_twice_the_load_is_no_shift(tmp_path: Path) -> None:
    assert _names(tmp_path, _usual(random.Random(2), 100, 200)) == {}


def test_a_flood_of_one_template_does_not_make_the_others_fall(tmp_path: Path) -> None:
    rng = random.Random(3)
    lines = _usual(rng, 100, 100)
    lines += [(rng.random() * 999, f"INFO retry {n}") for n in range(20)]
    lines += [(1000 + rng.random() * 999, f"INFO retry {n}") for n in range(5000)]
    assert _names(tmp_path, lines) == {"retry": "more"}


def test_chronic_bursts_are_no_shift_but_a_steady_rise_is(tmp_path: Path) -> None:
    rng = random.Random(4)
    lines = _usual(rng, 300, 300)
    lines += [(at + n / 100, f"INFO block copied {n}") for at in (100, 420, 700) for n in range(20)]
    lines += [
        (at + n / 100, f"INFO block copied {n}") for at in (1100, 1200, 1300, 1500, 1700) for n in range(20)
    ]
    assert _names(tmp_path, lines) == {}
    steady = [(rng.random() * 999, f"INFO block moved {n}") for n in range(60)]
    steady += [(1000 + rng.random() * 999, f"INFO block moved {n}") for n in range(180)]
    assert _names(tmp_path, [*lines, *steady]) == {"block moved": "more"}


def test_one_new_harmless_line_is_rare_and_one_new_error_is_new(tmp_path: Path) -> None:
    lines = _usual(random.Random(5), 50, 50)
    lines += [(1500, "INFO manual started"), (1600, "ERROR disk gone")]
    assert _names(tmp_path, lines) == {"manual started": "rare", "disk gone": "new"}


def test_an_empty_side_cannot_be_compared(tmp_path: Path) -> None:
    scan, _ = read(tmp_path, log((1, "INFO a"), (2, "INFO b")))
    assert compared(scan, _split(1000)) is None
