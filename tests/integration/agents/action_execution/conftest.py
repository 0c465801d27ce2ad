"""Action tools over a catalogue in a temporary folder, run as real processes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.action_execution.tools import build_tools
from agents.runtime.tools import Resources, Tool, ToolContext
from kernel.artifacts import ArtifactStore
from kernel.contracts import Work
from kernel.database import Database
from kernel.settings import Settings

Build = Callable[..., dict[str, Tool]]

PROGRAM = """
import json, os, pathlib, sys
mode, state = sys.argv[1], pathlib.Path(sys.argv[2])
if mode == "echo":
    print(json.dumps(sys.argv[3:]))
elif mode == "count":
    with state.open("a") as file:
        file.write("x")
elif mode == "fail":
    print("no such service: 结账")
    sys.exit(3)
elif mode == "die":
    state.write_text("done, and nobody heard of it")
    os.kill(os.getpid(), 9)
elif mode == "probe":
    sys.exit(0 if state.exists() else 1)
elif mode == "absent":
    sys.exit(1)
elif mode == "noise":
    os.write(1, b'"\\xff' * 50_000)
elif mode == "confused":
    sys.exit(9)
elif mode == "seen":
    print("count", len(state.read_text()) if state.exists() else 0)
"""


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """Return the file that stands for the world."""
    return tmp_path / "state"


@pytest.fixture
def entry(state: Path) -> Callable[..., dict[str, Any]]:
    """Return a function that makes a catalogue entry whose program runs in a mode."""

    def _entry(mode: str, **fields: Any) -> dict[str, Any]:
        return {
            "name": f"do_{mode}",
            "description": "A tested action.",
            "argv": command(mode, state),
            "effect": "idempotent",
            "risk": "low",
            "examples": {"accept": [{}]},
        } | fields

    return _entry


def command(mode: str, state: Path) -> list[str]:
    """Return the argv of a mode of the program."""
    if mode == "hang":  # a shell: it has left its mark long before the time-out, also on a busy machine
        return ["{actions_dir}/hang", str(state)]
    return ["{python}", "-I", "{actions_dir}/program.py", mode, str(state)]


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """Return a function that builds the tools of a catalogue."""

    def _build(*actions: dict[str, Any], inventory: Any = None, policy: Any = None) -> dict[str, Tool]:
        folder = tmp_path / "actions"
        folder.mkdir()
        (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
        (folder / "hang").write_text('#!/bin/sh\necho started > "$1"\nexec sleep 60\n', encoding="utf-8")
        (folder / "hang").chmod(0o700)
        (folder / "tested.yaml").write_text(json.dumps({"actions": actions}), encoding="utf-8")
        for name, content in (("inventory", inventory), ("policy", policy)):
            if content is not None:
                (folder / f"{name}.yaml").write_text(json.dumps(content), encoding="utf-8")
        return {tool.name: tool for tool in build_tools(Settings(actions_dir=folder))}

    return _build


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[ToolContext]:
    """Return the context of a call."""
    database = Database(f"sqlite:///{tmp_path / 'nightdesk.db'}")
    work = Work(run_id="r", assignment_id="a", agent="action_execution", goal="g", request="q")
    artifacts = ArtifactStore(f"file://{tmp_path / 'artifacts'}", max_bytes=1000)
    resources = Resources(settings=Settings(data_dir=tmp_path), database=database, artifacts=artifacts)
    yield ToolContext(work=work, resources=resources, call_id="c", key="k" * 64)
    database.close()
