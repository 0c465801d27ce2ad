from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.judging.entities import (
    breakdown,
    choose,
    concentrated,
    concentration,
    concentrations,
)
from tests.support.log_scans import log, read


def _hosts(rng: random.Random, events: int = 1200) -> list:
    return [(float(n), f"host-{rng.randrange(6)}a shop[1]: served {n}") for n in range(events)]


def _template(scan, summary, word: str) -> int:
    return next(t for t in summary.groups if word in scan.miner.templates[t].text())


def test_one_host_or_all_is_told_with_its_numbers(tmp_path: Path) -> None:
    rng = random.Random(1)
    lines = _hosts(rng)
    lines += [(500.0 + n, f"host-3a shop[1]: disk slow {n}") for n in range(143)]
    lines += [(500.0 + n, f"host-{n % 6}a shop[1]: cache cold {n}") for n in range(120)]
    scan, summary = read(tmp_path, log(*lines))
    told = concentrations(scan, list(summary.groups))
    assert told[_template(scan, summary, "disk slow")].startswith("only host-3a (143 of 143 lines")
    assert told[_template(scan, summary, "cache cold")].startswith("6 of 6 hosts")
    assert (
        concentration(scan, _template(scan, summary, "disk slow"))
        == told[_template(scan, summary, "disk slow")]
    )


def test_nodes_in_a_column_are_hosts_though_no_format_says_so(tmp_path: Path) -> None:
    rng = random.Random(2)
    lines = [f"1117838{n:04} RACK{rng.randrange(40)} KERNEL INFO cycle {n} done" for n in range(900)]
    lines[300:360] = [f"1117838{n:04} RACK7 KERNEL FATAL translation fault {n}" for n in range(300, 360)]
    scan, summary = read(tmp_path, "\n".join(lines) + "\n")
    assert choose(scan) == "host"
    told = concentration(scan, _template(scan, summary, "translation fault"))
    assert told.startswith("only RACK7 (60 of 60 lines")


def test_chance_and_a_host_with_all_lines_are_no_concentration() -> None:
    every = Counter({"a": 900, "b": 50, "c": 50})
    assert "only" not in concentrated(Counter({"a": 20}), every, "host")
    assert concentrated(Counter({"b": 2}), Counter({"a": 5, "b": 5}), "host") == ""
    assert concentrated(Counter({"b": 20}), every, "host").startswith("only b (20 of 20 lines; host with 5%")
    assert concentrated(Counter({"b": 15, "a": 5}), every, "host").startswith("mostly b (15 of 20")


def test_a_breakdown_counts_what_is_wanted_beside_all(tmp_path: Path) -> None:
    lines = [(float(n), f"INFO ip=10.0.0.{n % 4} served") for n in range(80)]
    lines += [(100.0 + n, "ERROR ip=10.0.0.2 refused") for n in range(30)]
    scan, _ = read(tmp_path, log(*lines))
    found = breakdown(scan, "ip", lambda row, _: row.level >= Level.error)
    assert (found.events, found.every) == (30, 110)
    assert found.some == Counter({"10.0.0.2": 30})
    assert found.all["10.0.0.2"] == 50
    assert found.firsts["10.0.0.2"].line == 81
    assert found.statement().startswith("only 10.0.0.2 (30 of 30")
