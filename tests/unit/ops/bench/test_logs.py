"""The templates' bench: it reads sets in loghub's shape, says why it cannot, and measures all parsers alike."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from ops.bench import logs
from ops.bench.logs_table import render

ROOT = Path(__file__).parents[4]


def put(folder: Path, name: str, rows: list[tuple[str, str]], kind: str = "structured_corrected") -> None:
    (folder / name).mkdir(exist_ok=True, parents=True)
    with (folder / name / f"{name}_2k.log_{kind}.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["LineId", "Content", "EventId", "EventTemplate"])
        writer.writerows([n, content, "E1", template] for n, (content, template) in enumerate(rows, 1))


def test_a_missing_folder_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert logs.main([str(tmp_path / "nowhere")]) == 2
    assert "nowhere is no folder" in capsys.readouterr().err


def test_no_rows_is_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(tmp_path, "Empty", [])
    assert logs.main([str(tmp_path)]) == 1
    assert "no rows" in capsys.readouterr().err


def test_the_corrected_truth_goes_first(tmp_path: Path) -> None:
    put(tmp_path, "Shop", [("a 1", "a 1")], kind="structured")
    put(tmp_path, "Shop", [("a 1", "a <*>")])
    assert logs.read(tmp_path)[0].truth == ["a <*>"]


def test_it_measures_all_parsers_in_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [(f"took {n} ms for job-{n}", "took <*> ms for job-<*>") for n in range(50)]
    put(tmp_path, "Shop", [*rows, ("all is well", "all is well")])
    assert logs.main([str(tmp_path), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["parsers"]) == {"ours", "drain3 published", "drain3 generic"}
    ours = found["parsers"]["ours"]
    assert ours["rows"]["Shop"]["ga"] == ours["rows"]["Shop"]["fta"] == ours["mean"]["pa"] == 1
    assert all(
        one["peak_rss_mb"] > 1 and one["mean"]["lines_per_second"] > 0 for one in found["parsers"].values()
    )
    table = render(found)
    assert "| Shop | 1.000 | 1.000 | 1.000 | 1.000 |" in table
    assert f"lines/s, ours to drain3 generic: {found['ratio_to_generic']} " in table


def test_one_real_set() -> None:
    folder = ROOT.parent / "shared" / "data" / "loghub_2k"
    if not folder.is_dir():
        pytest.skip(f"no data in {folder}")
    sets = logs.read(folder, ["OpenSSH"])
    ours = logs.measure("ours", sets)
    assert ours["rows"]["OpenSSH"]["ga"] >= 0.95
    assert ours["mean"]["fta"] >= 0.8
    drain = logs.measure("drain3 generic", sets)
    assert ours["mean"]["fga"] > drain["mean"]["fga"]
    assert ours["mean"]["lines_per_second"] > 1.2 * drain["mean"]["lines_per_second"]
