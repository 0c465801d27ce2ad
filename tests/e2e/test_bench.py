"""The bench measures real runs beside real chains; few of them, for this asks whether it works and not how fast."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.e2e, pytest.mark.bench, pytest.mark.timeout(300)]


def test_the_bench_measures_both_sides_and_the_desk() -> None:
    argv = [sys.executable, str(ROOT / "ops" / "bench" / "run.py"), "--runs", "6", "--clients", "2", "--json"]
    done = subprocess.run(
        argv, capture_output=True, text=True, check=False, timeout=240, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout)
    assert [(row["what"], row["clients"], row["runs"]) for row in found["rows"]] == [
        ("raw chain", 1, 2),
        ("desk", 1, 2),
        ("raw chain", 2, 6),
        ("desk", 2, 6),
    ]
    assert all(row["p50_ms"] > 0 and row["runs_per_second"] > 0 for row in found["rows"])
    assert {"sequential_p50", "concurrent_throughput"} <= set(found["ratio"])
    assert {"coordinator", "memory", "redis", "supervisord"} <= set(found["memory_mb"])
    assert found["memory_mb_total"] == pytest.approx(sum(found["memory_mb"].values()), abs=0.1)
    assert found["up_seconds"]["ready"] > 0
