"""A worker process that asks a model under a budget: takes whatever is queued, some at a time, until it is killed.

python tests/support/budget_worker.py '{"at_once": 5, "settings": {...}}'
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

from sqlmodel import select

from agents.runtime.spec import AgentSpec
from kernel.errors import NightdeskError
from kernel.model import make_model
from kernel.records import AssignmentRow
from kernel.settings import Settings
from kernel.states import AssignmentState
from tests.support.little_desk import Desk, counter, script, spec


def agent(folder: Path) -> AgentSpec:
    """An agent with one tool that counts; its routine would answer at once."""
    return spec("worker", script("by rule"), counter(folder))


def budget_desk(settings: Settings, *agents: AgentSpec, plans: bool = False) -> Desk:
    """A little desk whose agents ask the model of the settings; with `plans` the planner does too."""
    desk = Desk(settings, list(agents) or [agent(settings.data_dir)])
    desk.model = make_model(desk.settings, desk.purse)
    desk.workers = [desk.worker("w1")]
    desk.coordinator.planner.model = desk.model if plans else None
    return desk


class BudgetWorkers:
    """Worker processes on one desk; all are ended with the block."""

    def __init__(self, settings: Settings, *, at_once: int = 1) -> None:
        told = {"at_once": at_once, "settings": settings.model_dump(mode="json", exclude_unset=True)}
        self._argv = [sys.executable, "-P", __file__, json.dumps(told)]
        self._stack = ExitStack()
        self.running: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in list(self.running):
            self.kill(process)

    def start(self, count: int = 1) -> None:
        """Start so many at once and wait until they take work."""
        root = str(Path(__file__).parents[2])
        begun = [
            subprocess.Popen(
                self._argv,
                cwd=root,
                env={**os.environ, "PYTHONPATH": root},
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(count)
        ]
        self.running += begun
        for process in begun:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"

    def kill(self, process: subprocess.Popen[str]) -> None:
        """kill -9, and wait until it is gone."""
        self.running.remove(process)
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


async def main(told: dict[str, Any]) -> None:
    desk = budget_desk(Settings.model_validate(told["settings"]))
    worker = desk.worker(f"w{os.getpid()}")
    sys.stdout.write("ready\n")
    sys.stdout.flush()

    def queued() -> list[str]:
        with desk.database.reading() as session:
            mine = AssignmentRow.state == AssignmentState.queued.value
            return list(session.exec(select(AssignmentRow.id).where(mine)))

    async def take() -> None:
        while True:
            try:
                found = await asyncio.to_thread(queued)
                if found:
                    await worker.work(random.choice(found), lambda _line: None)
            except NightdeskError as error:
                sys.stderr.write(f"{error}\n")
            await asyncio.sleep(0.05)

    await asyncio.gather(*(take() for _ in range(told["at_once"])))


if __name__ == "__main__":
    asyncio.run(main(json.loads(sys.argv[1])))
