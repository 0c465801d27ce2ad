"""The launcher by itself: its program starts on a go, and never without one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agents.action_execution import launcher
from agents.action_execution.action import Limits

pytestmark = pytest.mark.integration


def _launch(*argv: str, parent: int | None = None) -> tuple[subprocess.Popen[bytes], int]:
    """Start a launcher and return it with the end of the pipe that it waits at."""
    gate, go = os.pipe()
    limits = json.dumps(Limits().model_dump())
    process = subprocess.Popen(
        [
            *(sys.executable, "-I", "-S", launcher.__file__),
            *(limits, str(parent or os.getpid()), str(gate), "--", *argv),
        ],
        pass_fds=(gate,),
    )
    os.close(gate)
    return process, go


def test_a_go_starts_the_program(tmp_path: Path) -> None:
    process, go = _launch("/bin/touch", str(tmp_path / "ran"))
    os.write(go, b"g")
    os.close(go)
    assert process.wait(timeout=30) == 0
    assert (tmp_path / "ran").exists()


def test_the_end_of_the_pipe_without_a_go_ends_the_launcher(tmp_path: Path) -> None:
    process, go = _launch("/bin/touch", str(tmp_path / "ran"))
    assert process.poll() is None
    os.close(go)  # what the kernel does for a worker that dies between the start and the record
    assert process.wait(timeout=30) == 126
    assert not (tmp_path / "ran").exists()


def test_a_launcher_whose_worker_died_at_once_starts_nothing(tmp_path: Path) -> None:
    process, go = _launch("/bin/touch", str(tmp_path / "ran"), parent=1)
    assert process.wait(timeout=30) == 126
    os.close(go)
    assert not (tmp_path / "ran").exists()
