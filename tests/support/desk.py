"""A whole desk for tests: started through the command line in a folder of its own, stopped by it."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

_COMMAND_SECONDS = 170


@dataclass
class Answer:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON document on standard output."""
        return json.loads(self.out)


@dataclass
class Desk:
    """A desk on one data folder; `environment` is what its processes and commands see besides ours."""

    data_dir: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    working_dir: Path | None = None

    def run(self, *arguments: str, environment: Mapping[str, str] | None = None) -> Answer:
        """Run one `nightdesk` command without a terminal."""
        done = subprocess.run(
            self.argv(*arguments),
            env=self.variables(environment),
            cwd=self.working_dir or self.data_dir.parent,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_COMMAND_SECONDS,
            check=False,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    def argv(self, *arguments: str) -> list[str]:
        """The argv of a command, for tests that need the process itself."""
        return [sys.executable, "-P", "-c", "from coordinator.cli import main; main()", *arguments]

    def variables(self, environment: Mapping[str, str] | None = None) -> dict[str, str]:
        """The whole environment of a command: ours without any NIGHTDESK_ of the caller, and the desk's."""
        # without COLUMNS (pytest-xdist sets 80): a table in a pipe is as wide as it needs
        kept = (name for name in os.environ if not name.startswith("NIGHTDESK_") and name != "COLUMNS")
        ours = {name: os.environ[name] for name in kept}
        return {
            **ours,
            "NIGHTDESK_DATA_DIR": str(self.data_dir),
            "NIGHTDESK_LEASE_PROFILE": "fast",
            "NIGHTDESK_DRAIN_SECONDS": "5",
            "NIGHTDESK_EMBEDDER": "hash",
            **self.environment,
            **(environment or {}),
        }

    def up(self) -> dict[str, Any]:
        """Start the desk and return what `up --json` says once every part answers."""
        answer = self.run("up", "--detach", "--json")
        assert answer.code == 0, f"{answer.out}\n{answer.err}"
        facts: dict[str, Any] = answer.json
        return facts

    def down(self) -> None:
        """Stop the desk; harmless when it is down."""
        answer = self.run("down", "--json")
        assert answer.code == 0, f"{answer.out}\n{answer.err}"

    def status(self) -> dict[str, Any]:
        """What `status --json` says."""
        answer = self.run("status", "--json")
        assert answer.code == 0, f"{answer.out}\n{answer.err}"
        facts: dict[str, Any] = answer.json
        return facts

    def state(self, run_id: str) -> str:
        """The state of a run by its row, for waiting: each command costs half a second of a core."""
        with closing(sqlite3.connect(f"file:{self.data_dir / 'nightdesk.db'}?mode=ro", uri=True)) as database:
            row = database.execute("SELECT state FROM run WHERE id = ?", (run_id,)).fetchone()
        return str(row[0]) if row else ""

    def submit(self, text: str, *arguments: str) -> Answer:
        """Submit and wait; the answer's JSON is the report."""
        return self.run("submit", text, "--wait", "--json", *arguments)

    def log(self, process: str) -> str:
        """The log of one process, for the message of a failed test."""
        path = self.data_dir / "logs" / f"{process}.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


@contextmanager
def running_desk(
    folder: Path, *, environment: Mapping[str, str] | None = None, working_dir: Path | None = None
) -> Iterator[Desk]:
    """Run a desk in `folder` while the block runs."""
    folder.mkdir(parents=True, exist_ok=True)
    desk = Desk(folder / "desk", environment or {}, working_dir or folder)
    try:
        desk.up()
        yield desk
    finally:
        desk.down()


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One desk for the tests of a module."""
    with running_desk(tmp_path_factory.mktemp("desk")) as running:
        yield running
