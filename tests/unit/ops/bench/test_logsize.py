"""The bench of large logs: its logs are the same for one seed, and it fails where the needle is not found."""

from __future__ import annotations

from pathlib import Path

from ops.bench.logsize import measure
from ops.bench.logsize_lines import NEEDLE, write
from ops.bench.logsize_table import render


def test_a_log_has_its_size_one_needle_and_all_kinds_of_lines(tmp_path: Path) -> None:
    lines = write(tmp_path / "a.log", 0.5, seed=7)
    text = (tmp_path / "a.log").read_bytes()
    assert 500_000 <= len(text) < 501_000
    assert text.count(b"\n") == lines
    assert text.count(NEEDLE.encode()) == 1
    assert 0.6 < text.index(NEEDLE.encode()) / len(text) < 0.66
    for part in (b'{"ts":', b" INFO gateway ", "订单".encode(), b" ERROR ", b" WARN ", b"Caused by: "):
        assert part in text


def test_one_seed_makes_one_log(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write(tmp_path / name, 0.05, seed=seed)
    one, same, other = ((tmp_path / name).read_bytes() for name in "abc")
    assert one == same != other


def test_a_measurement_counts_all_lines_and_finds_the_needle(tmp_path: Path) -> None:
    lines = write(tmp_path / "a.log", 0.1)
    row = measure(tmp_path / "a.log", lines, 1, tmp_path)
    assert row["lines"] == row["written"] == lines
    assert row["needle"] > 0
    assert row["peak_mb"] > 10
    table = render({"machine": {"cores": 2, "system": "Linux", "python": "3.11"}, "rows": [row]})
    assert f"{row['events']:,}" in table
