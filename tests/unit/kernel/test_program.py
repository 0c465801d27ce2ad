from __future__ import annotations

import subprocess
import sys

import pytest


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)


def test_what_only_the_whole_command_line_needs_is_not_loaded() -> None:
    done = python("-c", "import sys, kernel.program; print([m for m in sys.modules if '.' not in m])")
    assert done.returncode == 0, done.stderr
    assert "'celery'" in done.stdout
    for name in ("flower", "tornado", "click_repl", "prompt_toolkit"):
        assert f"'{name}'" not in done.stdout


@pytest.mark.parametrize("arguments", [(), ("worker",), ("-A", "kernel.program", "flower")])
def test_what_it_does_not_start_is_refused(arguments: tuple[str, ...]) -> None:
    done = python("-m", "kernel.program", *arguments)
    assert done.returncode == 1
    assert "usage: python -m kernel.program -A APP worker|beat" in done.stderr
