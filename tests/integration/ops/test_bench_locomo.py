"""The bench on conversations, run as everybody runs it, on a made-up one and without a model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.small_talk import conversation, written

ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.integration


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ops.bench.locomo", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


def test_the_bench_measures_four_ways_on_every_question_with_evidence(tmp_path: Path) -> None:
    done = run(str(written(tmp_path)), "--embedder", "hash", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["conversations"], found["turns"], found["questions"]) == (1, 9, 4)
    assert (found["without_evidence"], found["unreadable_evidence"]) == (1, ["D9:9", "D"])
    of_all = {row["way"]: row for row in found["rows"] if row["category"] == "all"}
    assert set(of_all) == {"dense", "keyword", "rrf", "ours"}
    # all nine turns are among the first ten, so every turn was stored, indexed and ranked
    assert of_all["ours"]["recall"]["10"] == of_all["dense"]["recall"]["10"] == 1.0
    assert of_all["ours"]["recall"]["5"] >= 0.75
    assert {row["category"] for row in found["rows"]} == {"all", "1", "2", "4", "5"}
    assert all(row["questions"] == 1 for row in found["rows"] if row["category"] != "all")


def test_a_file_with_nothing_to_measure_fails_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "empty.json"
    path.write_text(json.dumps([conversation() | {"qa": []}]), encoding="utf-8")
    done = run(str(path), "--embedder", "hash")
    assert (done.returncode, done.stdout) == (1, "")
    assert "bench-locomo: failed" in done.stderr
    assert "no question with evidence" in done.stderr
