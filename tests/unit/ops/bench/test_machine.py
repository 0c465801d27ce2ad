"""The bench's look at processes: of this one, and of one that is gone."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ops.bench.machine import cpu_seconds, describe, memory_mb

GONE = 2**22 + 1  # above the largest pid that Linux gives


def test_memory_of_this_process_is_what_a_python_needs() -> None:
    assert 5 < memory_mb(os.getpid()) < 2000


def test_a_process_that_is_gone_has_none() -> None:
    assert memory_mb(GONE) == 0.0
    assert cpu_seconds([GONE]) == 0.0


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="only /proc tells processor time")
def test_cpu_seconds_grow_with_work() -> None:
    before = cpu_seconds([os.getpid()])
    until = time.process_time() + 0.1
    while time.process_time() < until:
        pass
    assert cpu_seconds([os.getpid()]) - before >= 0.05


def test_describe_names_what_a_reader_must_know() -> None:
    assert set(describe()) == {"cores", "load_1m", "system", "python"}
