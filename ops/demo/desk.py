"""A desk of our own, driven as a user drives it: the `nightdesk` command line, and celery for submissions."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from celery import Celery
from celery.result import AsyncResult

#: Settings of the surroundings that must not reach a desk that is to behave the same everywhere.
_FOREIGN = (
    *("DATA_DIR", "REDIS_URL", "DATABASE_URL", "QDRANT_URL", "ARTIFACT_URL", "LOG_ROOTS", "AGENT_FOLDERS"),
    *("EMBEDDER", "NOTIFY_CHANNELS"),
    *("ACTIONS_DIR", "PLAYBOOKS_DIR", "TOOLS_ALLOWED", "MAX_ROUNDS", "MAX_TURNS"),
)
#: The model of the surroundings, used with --with-model only.
_MODEL = ("MODEL_BASE_URL", "MODEL_NAME", "MODEL_FALLBACKS", "MODEL_SCRIPT")
#: Exit codes of `nightdesk` that mean trouble; 3 and 4 only say how a run stands.
_FAILED, _USAGE = 1, 2
_COMMAND_SECONDS = 60.0


class DeskError(Exception):
    """A command of the desk failed."""


class Desk:
    """A desk in `data_dir`; `variables` are its settings, without the NIGHTDESK_ prefix."""

    def __init__(self, data_dir: Path, variables: Mapping[str, str], *, with_model: bool = False) -> None:
        self.data_dir = data_dir
        self._foreign = _FOREIGN if with_model else (*_FOREIGN, *_MODEL)
        self._variables = dict(variables)
        self._app: Celery | None = None

    def argv(self, *arguments: str) -> list[str]:
        """Return the whole command line of a `nightdesk` command on this desk."""
        foreign = [part for name in self._foreign for part in ("-u", f"NIGHTDESK_{name}")]
        settings = [f"NIGHTDESK_{name}={value}" for name, value in self._variables.items()]
        command = str(Path(sys.executable).with_name("nightdesk"))
        return ["/usr/bin/env", *foreign, *settings, command, *arguments, "--data-dir", str(self.data_dir)]

    def ask(self, *arguments: str) -> Any:
        """Run a command with --json and return the document it prints."""
        argv = self.argv(*arguments, "--json")
        try:
            done = subprocess.run(
                argv,
                capture_output=True,
                text=True,
                check=False,
                timeout=_COMMAND_SECONDS,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired as error:
            raise DeskError(
                f"nightdesk {arguments[0]} did not end within {_COMMAND_SECONDS:.0f} s"
            ) from error
        if done.returncode in (_FAILED, _USAGE) or not done.stdout.strip():
            said = (done.stderr.strip() or done.stdout.strip())[-2000:]
            raise DeskError(f"nightdesk {arguments[0]} ended with code {done.returncode}: {said}")
        return json.loads(done.stdout)

    def up(self) -> dict[str, Any]:
        """Start the desk and return its addresses, with how long it took."""
        ready: dict[str, Any] = self.ask("up", "--detach")
        self._app = Celery(broker=ready["broker_url"], backend=ready["result_url"])
        return ready

    def down(self) -> None:
        """Stop the desk."""
        if self._app is not None:
            self._app.close()
            self._app = None
        self.ask("down")

    def submit(self, text: str, sources: list[str]) -> AsyncResult[dict[str, Any]]:
        """Submit as any program does that has only the broker's address and celery."""
        assert self._app is not None
        return self._app.send_task(
            "coordinator.submit", kwargs={"text": text, "sources": sources}, queue="coordinator"
        )
