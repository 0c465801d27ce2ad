"""The Makefile and CI: every target is explained, and CI runs what everybody runs."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_help_names_every_target() -> None:
    text = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z0-9]+):", text, re.MULTILINE))
    done = subprocess.run(["make", "-s", "-C", str(ROOT)], capture_output=True, text=True, check=True)
    shown = set(re.findall(r"^  make ([a-z0-9]+) +\S", done.stdout, re.MULTILINE))
    assert shown == targets >= {"setup", "demo", "test", "check", "up", "down", "help"}


def test_every_script_that_a_target_runs_exists() -> None:
    text = (ROOT / "Makefile").read_text()
    scripts = re.findall(r"(ops/[\w/]+\.(?:py|sh))", text)
    assert scripts
    assert [name for name in scripts if not (ROOT / name).exists()] == []


def test_ci_runs_make_test() -> None:
    run = ROOT / ".ci/run"
    assert run.stat().st_mode & 0o111
    assert "exec make test" in run.read_text()
    assert subprocess.run(["bash", "-n", str(run)], check=False).returncode == 0
