"""The monkey: does what the plan says to processes, by pid, and writes down each deed with what its victim held."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from sqlmodel import col, select

from coordinator.cli.supervision import ProcessFacts, alive
from kernel.errors import NightdeskError
from kernel.records import AssignmentRow
from kernel.states import AssignmentState
from tests.chaos.plan import Act
from tests.chaos.stage import Stage

#: Longer than a drain and a start on a busy machine.
_COME_BACK_SECONDS = 60.0
_SIGNALS = {
    "kill": signal.SIGKILL,
    "term": signal.SIGTERM,
    "zombie": signal.SIGSTOP,
    "redis_kill": signal.SIGKILL,
    "redis_stop": signal.SIGTERM,
}


@dataclass(frozen=True)
class Deed:
    """What was done to a process, when, and the assignments that it held."""

    at: float
    what: str
    program: str
    pid: int
    held: list[str] = field(default_factory=list)


def _came_back(before: int, facts: ProcessFacts) -> bool:
    return facts.pid not in (0, before) and facts.state == "RUNNING"


class Monkey:
    """Does deeds on one stage."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._busy: set[asyncio.Task[Any]] = set()
        self.deeds: list[Deed] = []

    async def play(self, acts: Sequence[Act], began: float) -> None:
        """Do all acts at their times; those that last go on beside the others."""
        for act in acts:
            await asyncio.sleep(max(0.0, began + act.at - time.monotonic()))
            task = asyncio.create_task(self._do(act))
            self._busy.add(task)
            task.add_done_callback(self._busy.discard)

    async def stop(self, playing: asyncio.Task[None]) -> None:
        """Begin nothing more, and wait until nothing that was begun goes on: no process may stay stopped."""
        playing.cancel()
        with suppress(asyncio.CancelledError):
            await playing
        while self._busy:
            await asyncio.gather(*self._busy)

    async def _do(self, act: Act) -> None:
        if act.what == "rolling":
            await self.roll()
            return
        name = "redis" if act.what.startswith("redis") else act.target
        pid = await self.strike(act.what, name)
        if act.what == "zombie" and pid:
            try:
                await asyncio.sleep(act.seconds)
            finally:
                # the same process still: a number may belong to another one by now
                if (await self.pids()).get(name) == pid:
                    os.kill(pid, signal.SIGCONT)
                    self.deeds.append(Deed(time.time(), "wake", name, pid))

    async def strike(self, what: str, name: str) -> int:
        """Send a process its signal and write it down; 0 where it does not run just now."""
        pid = (await self.pids()).get(name, 0)
        if not pid or not alive(pid):
            return 0
        at = time.time()
        with suppress(ProcessLookupError):
            os.kill(pid, _SIGNALS[what])
        held = [] if name == "redis" else await asyncio.to_thread(self._held, pid)
        self.deeds.append(Deed(at, what, name, pid, held))
        return pid

    async def roll(self) -> None:
        """Ask one worker after the other to end, each once the one before it is back."""
        for name in self._stage.workers:
            # one that is still starting holds nothing, and its interpreter ends at once
            await self.ready(name)
            pid = await self.strike("term", name)
            if pid:
                await self._until(name, partial(_came_back, pid))

    async def _until(self, name: str, true: Callable[[ProcessFacts], bool]) -> None:
        """Wait for a state of a program, at most as long as a start may take."""
        give_up = time.monotonic() + _COME_BACK_SECONDS
        while time.monotonic() < give_up:
            facts = (await asyncio.to_thread(self._stage.processes))[name]
            if await asyncio.to_thread(true, facts):
                return
            await asyncio.sleep(0.2)

    async def ready(self, name: str) -> None:
        """Wait until a program runs and, if it is a worker, takes work."""
        await self._until(name, self._ready)

    async def holds(self, name: str) -> bool:
        """Tell whether a worker holds an assignment now."""
        pid = (await self.pids()).get(name, 0)
        return bool(pid and await asyncio.to_thread(self._held, pid))

    @staticmethod
    def _ready(facts: ProcessFacts) -> bool:
        """Tell whether a worker has said that it is ready; beat, which is no worker, waits or leads."""
        if facts.state != "RUNNING" or facts.name.startswith("beat"):
            return facts.state == "RUNNING"
        log = Path(facts.log).read_text(encoding="utf-8", errors="replace")
        return any('"worker_ready"' in line and f':{facts.pid}"' in line for line in log.splitlines())

    async def pids(self) -> dict[str, int]:
        """Return the processes that supervisor has running, by name."""
        facts = await asyncio.to_thread(self._stage.processes)
        return {name: process.pid for name, process in facts.items() if process.pid}

    def _held(self, pid: int) -> list[str]:
        """Return what a dead or stopped worker holds: nobody writes for it any more."""
        query = select(AssignmentRow.id).where(
            col(AssignmentRow.worker).endswith(f":{pid}"),
            AssignmentRow.state == AssignmentState.running.value,
        )
        try:
            with self._stage.parts.store.database.reading() as session:
                return list(session.exec(query).all())
        except NightdeskError:
            return []

    def as_json(self) -> list[dict[str, Any]]:
        """Return the deeds as they are kept."""
        return [asdict(deed) for deed in self.deeds]
