"""A short chaos with a fixed seed: workers die, Redis is killed, a zombie wakes, runs are cancelled; every promise holds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [pytest.mark.e2e, pytest.mark.chaos, pytest.mark.timeout(400)]


def test_a_short_chaos_breaks_no_promise(tmp_path: Path) -> None:
    argv = [sys.executable, "-m", "tests.chaos.run", "cancel", "storm", "--short", "--json"]
    argv += ["--runs", "24", "--seconds", "18", "--seed", "20261130", "--keep", str(tmp_path / "chaos")]
    done = subprocess.run(
        argv, cwd=ROOT, capture_output=True, text=True, check=False, timeout=380, stdin=subprocess.DEVNULL
    )
    assert done.stdout, done.stderr[-4000:]
    found = json.loads(done.stdout)
    cancel, storm = found["scenarios"]
    assert done.returncode == 0, json.dumps(found, indent=1)[:6000]
    assert (storm["runs"], storm["ended"], storm["lost"], storm["duplicates"]) == (24, 24, [], [])
    # it did storm: every kind of deed was done, and the world heard of effects
    assert storm["kills"] >= 6
    assert (storm["zombies"], storm["redis_restarts"]) == (1, 1)
    assert storm["effects"] > 10
    assert (len(cancel["cancel_socket"]), len(cancel["cancel_child"])) == (6, 4)
    assert found["last_line"].startswith("chaos: runs=34 ended=34 lost=0 duplicates=0 ")
    plan = json.loads((tmp_path / "chaos" / "storm" / "plan.json").read_text(encoding="utf-8"))
    assert plan["seed"] == 20261130
