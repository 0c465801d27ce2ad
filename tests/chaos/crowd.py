"""The crowd: the people of a chaos run, who submit, decide, cancel, and wait for the end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, cast

from sqlmodel import col, select

from coordinator.cli.attaching import attach, name_sources
from kernel.artifacts import ArtifactStore
from kernel.broker import submit
from kernel.errors import Correctable, NightdeskError, Refused, Retryable
from kernel.records import ApprovalRow, RunRow
from kernel.redaction import Redactor
from kernel.states import RUN_ENDED, ApprovalState
from tests.chaos.plan import RunSpec
from tests.chaos.stage import Stage

_LOOK_SECONDS = 0.2
_TRY_AGAIN_SECONDS = 0.3
#: Every so many decisions go through the command line, and every so many are said twice.
_BY_COMMAND, _TWICE = 7, 3
#: A message that was on its way when its reader died comes back after the visibility time-out; kombu looks every
#: 100 s by default. A run counts as lost only after that.
UNSEEN_SECONDS = 170.0

#: Runs that are open at once at most: whoever floods a desk measures how long its queue is, not what it forgets.
_IN_FLIGHT = 30

Say = Callable[[str], None]


@dataclass
class Crowd:
    """Everybody who uses the desk, and what they noted."""

    stage: Stage
    submitted: dict[str, float] = field(default_factory=dict)
    cancelled: dict[str, float] = field(default_factory=dict)
    refused_twice: int = 0
    decided: dict[str, str] = field(default_factory=dict)
    broken: list[str] = field(default_factory=list)
    outages: list[tuple[float, float]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._specs: dict[str, RunSpec] = {}
        self._ended: set[str] = set()
        self._store = ArtifactStore(
            self.stage.settings.artifacts, max_bytes=self.stage.settings.artifact_max_bytes
        )

    async def live(self, specs: Sequence[RunSpec], began: float) -> None:
        """Submit all runs at their times, or later where too many are open, and cancel those that are to be cancelled."""
        self._specs |= {spec.id: spec for spec in specs}
        async with asyncio.TaskGroup() as tasks:
            for spec in specs:
                await asyncio.sleep(max(0.0, began + spec.at - time.monotonic()))
                while len(await self.open_runs()) >= _IN_FLIGHT:
                    await asyncio.sleep(_LOOK_SECONDS)
                await self.submit(spec)
                if spec.cancel_after is not None:
                    tasks.create_task(self._change_mind(spec))

    async def submit(self, spec: RunSpec) -> None:
        """Put a request into the queue; a client whose queue is away tries again under the same id."""
        self._specs[spec.id] = spec
        while True:
            try:
                await asyncio.to_thread(self._send, spec)
            except Retryable:
                await asyncio.sleep(_TRY_AGAIN_SECONDS)
            else:
                self.submitted[spec.id] = time.time()
                return

    def _send(self, spec: RunSpec) -> None:
        settings = self.stage.settings
        logs = [str(self.stage.logs)] if spec.kind in ("logs", "fan") else []
        named = name_sources(logs, settings.roots, max_bytes=settings.artifact_max_bytes)
        request = {**spec.request, "sources": attach(named, self._store)}
        submit(self.stage.parts.celery, Redactor(settings.secrets()), spec.id, request)

    async def _change_mind(self, spec: RunSpec) -> None:
        await asyncio.sleep(spec.cancel_after or 0.0)
        await self.cancel(spec.id)

    async def cancel(self, run_id: str) -> float | None:
        """Cancel a run as soon as it is there; return when (monotonic), or None where it had ended."""
        while True:
            at, mono = time.time(), time.monotonic()
            try:
                await self.stage.parts.decisions.cancel(run_id, by="the crowd")
            except Refused:
                return None
            except (Correctable, Retryable):
                await asyncio.sleep(_LOOK_SECONDS)
            else:
                self.cancelled[run_id] = at
                return mono

    async def decide_for_ever(self) -> None:
        """Answer every question in the way its run's specification says, until cancelled."""
        while True:
            for row in await asyncio.to_thread(self._pending):
                spec = self._specs.get(row.run_id)
                if spec is not None and time.time() >= row.created_at.timestamp() + spec.decide_after:
                    await self._decide(row, spec)
            await asyncio.sleep(_LOOK_SECONDS)

    def _pending(self) -> list[ApprovalRow]:
        query = select(ApprovalRow).where(ApprovalRow.state == ApprovalState.pending.value)
        return list(self._read(query, []))

    async def _decide(self, row: ApprovalRow, spec: RunSpec) -> None:
        number = len(self.decided)
        self.decided[row.call_id] = spec.decision
        if number % _BY_COMMAND == _BY_COMMAND - 1:
            verb = "approve" if spec.decision == "approved" else "deny"
            await asyncio.to_thread(self.stage.desk.run, verb, row.run_id, row.call_id, "--json")
            return
        for again in range(2 if number % _TWICE == 0 else 1):
            try:
                decision = cast('Literal["approved", "denied"]', spec.decision)
                await self.stage.parts.decisions.decide(row.run_id, row.call_id, decision, by="the crowd")
            except Refused:
                self.refused_twice += 1
            except NightdeskError:
                self.decided.pop(row.call_id, None)  # asked again at the next look
            else:
                if again:
                    self.broken.append(f"decision said twice was taken twice: {row.call_id}")

    async def until_ended(self, say: Say) -> list[str]:
        """Wait until every run has ended; return those that have not when they should have."""
        told = ""
        while True:
            open_runs = await self.open_runs()
            late = [id_ for id_, until in open_runs.items() if time.time() > until]
            if not open_runs or len(late) == len(open_runs):
                return late
            if (
                line := f"{len(self.submitted) - len(open_runs)} of {len(self.submitted)} runs ended"
            ) != told:
                say(line)
            told = line
            await asyncio.sleep(_LOOK_SECONDS * 2)

    async def open_runs(self) -> dict[str, float]:
        """Return the submitted runs that have not ended and published, each with the moment it must have."""
        return await asyncio.to_thread(self._open)

    def _open(self) -> dict[str, float]:
        wanted = [run_id for run_id in self.submitted if run_id not in self._ended]
        columns = (RunRow.id, RunRow.state, RunRow.published, RunRow.ended_at, RunRow.deadline_at)
        pick: Any = select  # the stubs know four columns at most
        query = pick(*columns).where(col(RunRow.id).in_(wanted))
        rows = {row.id: row for row in self._read(query, [])}
        self._ended |= {row.id for row in rows.values() if row.state in RUN_ENDED and row.published}
        spare = 2 * self.stage.settings.lease_seconds
        found = {}
        for run_id in wanted:
            row, at = rows.get(run_id), self.submitted[run_id]
            if row is None:
                found[run_id] = at + UNSEEN_SECONDS
            elif run_id not in self._ended:
                ended = row.ended_at or row.deadline_at or datetime.now(UTC)
                found[run_id] = max(ended.timestamp() + spare, at) + self.grace
        return found

    #: For publishing and for a busy machine; the checker is strict about the deadline itself.
    grace: float = 30.0

    def _read(self, query: Any, otherwise: Any) -> Any:
        try:
            with self.stage.parts.store.database.reading() as session:
                return session.exec(query).all()
        except NightdeskError:
            return otherwise
