"""Forty kills of the memory's writer (`make chaos-memory` has two hundred): nothing lost, nothing twice, no drift."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.integration, pytest.mark.chaos]
ROOT = Path(__file__).parents[3]
_KILLS = 24


def test_kill_9_in_the_middle_of_any_write_loses_and_doubles_nothing() -> None:
    """In a process of its own: it forks, and this one has threads."""
    command = [sys.executable, "-m", "tests.chaos.memory_kills", "--kills", str(_KILLS), "--seed", "7"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False, cwd=ROOT)
    assert done.stdout, done.stderr[-3000:]
    told = json.loads(done.stdout)
    assert told["problems"] == []
    assert told["kills"] + told["not_reached"] == _KILLS
    assert told["kills"] > _KILLS // 2, "most points are reached"
    assert told["acknowledged"] > _KILLS
