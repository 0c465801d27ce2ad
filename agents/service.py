"""The one use case of a worker: take an assignment, work through it, leave its outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sqlmodel import Session

from agents.assignment import Assignment, Say
from agents.outcomes import begun, fail_broken
from agents.parting import not_ours
from agents.runtime.artifact_tools import read_artifact
from agents.runtime.mcp_servers import McpServers
from agents.runtime.memory_tools import MEMORY_TOOLS
from agents.runtime.spec import AgentSpec
from agents.runtime.tools import Resources, Tool
from agents.sharing import leave_to_others
from kernel import logs
from kernel.broker import Doorbell
from kernel.budget import Purse
from kernel.control import Control
from kernel.errors import Retryable
from kernel.events import Event
from kernel.lease import LeaseKeeper, claim
from kernel.model.port import Model
from kernel.records import AssignmentRow
from kernel.states import RunState
from kernel.streams import EventLog
from kernel.unbroken import to_the_end

log = logs.get(__name__)

#: For cut work to record where it stopped.
_LEAVE_SECONDS = 5.0


@dataclass
class _Running:
    """One attempt of ours at an assignment, and why it is being cut once it is."""

    task: asyncio.Task[Any]
    run_id: str = ""
    why: str = ""
    over: bool = False

    def cut(self, why: str) -> None:
        if not self.over:
            self.why = why
            self.task.cancel()


@dataclass(kw_only=True)
class Agents:
    """All agents of one worker process, with what they share."""

    agents: dict[str, AgentSpec]
    resources: Resources
    model: Model | None
    doorbell: Doorbell
    events: EventLog
    keeper: LeaseKeeper
    worker: str
    purse: Purse | None = None
    #: Carries a stop to the other workers at once; they hear of it at their next renewal at the latest.
    control: Control | None = None
    draining: Callable[[], bool] = lambda: False
    #: The named sources that this worker reaches, by agent: what its cards say.
    reached: dict[str, list[str]] = field(default_factory=dict)
    _running: dict[str, _Running] = field(default_factory=dict)
    _tools: dict[str, list[Tool]] = field(default_factory=dict)
    _mcp: McpServers = field(init=False)

    def __post_init__(self) -> None:
        self._mcp = McpServers(self.resources.settings)

    async def work(self, assignment_id: str, say: Say) -> str:
        """Take the assignment if nobody has it, see it to its end, its wait or our lease's end; return how it went."""
        if self.draining():
            raise Retryable("this worker is stopping", why="the doorbell is rung again for another one")
        me = asyncio.current_task()
        assert me is not None
        running = _Running(me)
        row = await to_the_end(self._claim(assignment_id, running))
        if row is None:
            log.info("not_ours", assignment=assignment_id)
            return await asyncio.to_thread(not_ours, self.resources.database, assignment_id)
        logs.bind(run=row.run_id, assignment=row.id)
        running.run_id = row.run_id
        self._running[row.id] = running
        if self.draining() or running.why:
            # cut while it was claimed; a drain that has just begun may not have seen it
            running.cut(running.why or "drain")
        try:
            parting = await Assignment(self, row, say).see_through(lambda: running.why or "cancelled")
        finally:
            self.keeper.release(row.id, row.fence)
            running.over = True
            # another attempt of ours may hold it by now (a suspend, a stalled database)
            if self._running.get(row.id) is running:
                del self._running[row.id]
        if parting.stops_run:
            await self._halt(row.run_id)
        await asyncio.to_thread(self.doorbell.ring_run, row.run_id)
        return parting.line

    async def _claim(self, assignment_id: str, running: _Running) -> AssignmentRow | None:
        loop = asyncio.get_running_loop()

        def take() -> AssignmentRow | None:
            row = claim(
                self.resources.database,
                assignment_id,
                worker=self.worker,
                seconds=self.resources.settings.lease_seconds,
                tell=self._begun,
            )
            if row is not None:
                # here: to tell of the claim may take longer than the lease, where Redis hangs
                self.keeper.keep(row.id, row.fence, lambda why: loop.call_soon_threadsafe(running.cut, why))
            return row

        return await self.events.told(take)

    def _begun(self, session: Session, row: AssignmentRow) -> list[Event]:
        rest = leave_to_others(session, row, self.reached.get(row.agent, ()))
        return [*begun(session, row, self.worker), *rest]

    async def broke(self, assignment_id: str, reason: str) -> None:
        """End an assignment of ours that a bug threw out of its loop, so that nobody waits for its lease."""
        run_id = await self.events.told(
            fail_broken, self.resources.database, assignment_id, worker=self.worker, reason=reason
        )
        if run_id is not None:
            await asyncio.to_thread(self.doorbell.ring_run, run_id)

    def stop(self, run_id: str, why: str) -> None:
        """Cancel what runs for a run."""
        for running in list(self._running.values()):
            if running.run_id == run_id:
                running.cut(why)

    async def _halt(self, run_id: str) -> None:
        """Cut the other parts of a run that one of ours stopped, here and in other workers."""
        self.stop(run_id, RunState.failed.value)
        if self.control is not None:
            try:
                await self.control.stop(run_id, RunState.failed.value)
            except Retryable as error:
                log.warning("stop_not_nudged", reason=str(error))  # they see the row when they renew

    async def drain(self) -> None:
        """Give running work `drain_seconds` to end, then hand it back to the queue."""
        until = self.resources.settings.drain_seconds
        if tasks := [running.task for running in self._running.values()]:
            await asyncio.wait(tasks, timeout=until)
        left = list(self._running.values())
        for running in left:
            running.cut("drain")
        if left:  # they still tell MCP servers to stop
            await asyncio.wait([running.task for running in left], timeout=_LEAVE_SECONDS)
        await self._mcp.close()

    async def offered(self, spec: AgentSpec) -> tuple[dict[str, Tool], list[str]]:
        """Return an agent's tools with those of its MCP servers, and what it must do without."""
        more, missing = await self._mcp.tools(spec.name)
        return {**self._allowed(more), **self.tools(spec)}, missing

    def tools(self, spec: AgentSpec) -> dict[str, Tool]:
        """Return an agent's own tools, built once per process, narrowed by the settings."""
        if spec.name not in self._tools:
            knows = self.resources.memory is not None and (self.model is not None or spec.memory)
            more = MEMORY_TOOLS if knows else ()
            self._tools[spec.name] = [*spec.tools(self.resources.settings), read_artifact, *more]
        return self._allowed(self._tools[spec.name])

    def _allowed(self, tools: list[Tool]) -> dict[str, Tool]:
        allowed = self.resources.settings.tools_allowed
        return {t.name: t for t in tools if allowed is None or t.name in allowed}
