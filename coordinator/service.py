"""The coordinator's use cases: submit, advance, publish."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from coordinator import assignments, playbooks, report, sessions, summary
from coordinator.intake import parse
from coordinator.planner import Planner
from coordinator.planning import (
    Answer,
    Begin,
    Expand,
    Expire,
    MakePlan,
    Move,
    Queue,
    Step,
    Stop,
    next_steps,
    outcomes_of,
)
from coordinator.store import Snapshot, Store
from coordinator.transcript import in_session
from coordinator.working import slots_of
from kernel import logs
from kernel.broker import Doorbell, Results
from kernel.clock import now
from kernel.contracts import Request
from kernel.errors import Correctable, Fatal, NightdeskError
from kernel.records import RunRow
from kernel.redaction import make_redactor
from kernel.settings import Settings
from kernel.states import CALL_ENDED, RUN_ENDED, CallState, RunState
from kernel.streams import EventLog
from kernel.text import storable

log = logs.get(__name__)

#: Each pass of `advance` moves the run on; more passes than this means that two rules disagree.
_MAX_PASSES = 20

#: After a step: do the next one, look at the run again, or wait for others.
Then = Literal["next", "look", "wait"]


@dataclass(kw_only=True)
class Coordinator:
    """Moves runs on. Every method may be called twice, and in two processes at once."""

    settings: Settings
    store: Store
    planner: Planner
    doorbell: Doorbell
    results: Results
    events: EventLog

    async def submit(self, run_id: str, kwargs: dict[str, Any]) -> None:
        """Accept a request under its run id, or end the run at once saying what is wrong with it."""
        redactor = make_redactor(self.settings, run_id.encode())
        try:
            request = parse(kwargs, max_bytes=self.settings.request_max_bytes)
            problem = ""
        except Correctable as error:
            request = Request(text=storable(str(kwargs.get("text"))[:200]))
            problem = redactor.text(str(error))
        labels = {redactor.text(name): redactor.text(value) for name, value in request.labels.items()}
        request = request.model_copy(update={"text": redactor.text(request.text), "labels": labels})
        request, turns = await asyncio.to_thread(in_session, self.store.database, request)
        deadline = request.deadline_seconds or self.settings.run_deadline_seconds
        fresh = await self.events.told(
            self.store.insert_run,
            run_id,
            request,
            deadline_at=now() + timedelta(seconds=deadline),
            session=sessions.window(turns),
            summary=summary.summarise(turns),
            refused=problem,
            slots={} if problem else redactor.value(slots_of(request)),
        )
        if fresh:
            await asyncio.to_thread(self.results.store_state, run_id, RunState.accepted.value)
        if problem and fresh:
            await self._end_refused(run_id, problem)
            return
        await asyncio.to_thread(
            self.doorbell.ring_run, run_id, note=request.text, priority=request.priority.value
        )

    async def refuse(self, run_id: str, reason: str) -> None:
        """Answer a request that could not even be written down: whoever waits for the report gets the reason."""
        try:
            if await asyncio.to_thread(self.store.snapshot, run_id) is not None:
                return  # it was accepted: the reconciler sees to it
        except NightdeskError as error:
            log.warning("refused_without_a_look", reason=str(error))
        refused = report.refusal(run_id, make_redactor(self.settings).text(reason))
        await asyncio.to_thread(self.results.store_report, run_id, refused.model_dump(mode="json"))

    async def advance(self, run_id: str) -> RunRow:
        """Do what the run needs now, until it waits for others or has ended; show where it stands, and return it."""
        run = await self._advance(run_id)
        if RunState(run.state) in RUN_ENDED:
            return run
        return await self._show(run_id, RunState(run.state))

    async def _show(self, run_id: str, state: RunState) -> RunRow:
        await asyncio.to_thread(self.results.store_state, run_id, state.value)
        run = (await self._snapshot(run_id)).run
        if run.report is not None:  # another coordinator ended it, and our word may stand over its report
            await asyncio.to_thread(self.results.store_report, run_id, run.report)
        return run

    async def _snapshot(self, run_id: str) -> Snapshot:
        snapshot = await asyncio.to_thread(self.store.snapshot, run_id)
        if snapshot is None:
            raise Fatal(f"run {run_id!r} does not exist")
        return snapshot

    async def _advance(self, run_id: str) -> RunRow:
        for _ in range(_MAX_PASSES):
            snapshot = await self._snapshot(run_id)
            if snapshot.aged:
                await asyncio.to_thread(self.store.lift, run_id)
                continue
            if snapshot.run.report is not None and not snapshot.run.published:
                await self.publish(snapshot.run)
            if await self._walk(snapshot) == "wait":
                return snapshot.run
        raise Fatal(f"run {run_id!r} goes round in advance", why="two rules disagree")

    async def _walk(self, snapshot: Snapshot) -> Then:
        """Do the steps that a snapshot calls for; say whether to look at the run again or to wait for others."""
        steps = self._steps(snapshot)
        for step in steps:
            then = await self._do(snapshot, step)
            if then != "next":
                return then
        return "look" if steps else "wait"

    async def publish(self, run: RunRow) -> None:
        """Store an ended run's report in the result back end, tell the stream, and have memory learn."""
        await asyncio.to_thread(self.results.store_report, run.id, run.report or {})
        await self.events.renew(run.id)
        await asyncio.to_thread(self.store.mark_published, run.id)
        note = Request.model_validate(run.request).text
        await asyncio.to_thread(self.doorbell.ring_memory, run.id, note=note)

    def _steps(self, snapshot: Snapshot) -> list[Step]:
        view, parts = snapshot.views(max_rounds=self.settings.max_rounds)
        return next_steps(view, parts, more=self._next_round(snapshot) is not None, now=now())

    def _next_round(self, snapshot: Snapshot) -> playbooks.Round | None:
        playbook = self.planner.playbook(snapshot.run.playbook)
        if playbook is None:
            return None
        outcomes = outcomes_of([(a.key, a.outcome) for a in snapshot.assignments])
        return playbooks.next_round(playbook, snapshot.run.rounds, outcomes)

    async def _do(self, snapshot: Snapshot, step: Step) -> Then:
        run = snapshot.run
        match step:
            case Begin():
                return "next" if await self._move(run, RunState.planning) else "look"
            case Expire():
                stopped = {"stop": RunState.expired.value, "stop_reason": "the deadline passed"}
                await self.events.told(self.store.swap, run, None, **stopped)
            case MakePlan():
                return "look" if await self.planner.plan(run) else "wait"
            case Expand():
                found = self._next_round(snapshot)
                if found is not None and not await self._expand(snapshot, found):
                    return "wait"
            case Queue(ids=ids):
                await self._queue(snapshot, ids)
                return "wait"
            case Stop(ids=ids, state=state, reason=reason):
                why = reason or run.stop_reason or "the deadline passed"
                await self.events.told(assignments.stop, self.store.database, ids, state, why)
            case Move(state=state):
                return "wait" if await self._move(run, state) else "look"
            case Answer():
                return await self._answer(snapshot)
        return "look"

    async def _expand(self, snapshot: Snapshot, found: playbooks.Round) -> bool:
        return await self.planner.expand(snapshot.run, found, {a.key for a in snapshot.assignments})

    async def _move(self, run: RunRow, state: RunState) -> bool:
        moved = await self.events.told(self.store.swap, run, state)
        if moved and state is RunState.planning and self.planner.model:  # which may take a minute over it
            await self._show(run.id, state)
        return moved

    async def _queue(self, snapshot: Snapshot, ids: Sequence[str]) -> None:
        for row in await self.events.told(assignments.queue, self.store.database, ids):
            await asyncio.to_thread(self.doorbell.ring_work, row, priority=snapshot.run.priority)

    async def _answer(self, snapshot: Snapshot) -> Then:
        run = snapshot.run
        effects = await asyncio.to_thread(assignments.effects, self.store.database, snapshot.assignments)
        asked = await asyncio.to_thread(assignments.recalled_by, self.store.database, run.id)
        composed = report.compose(run, snapshot.assignments, now=now(), effects=effects, recalled=asked)
        unended = [call.id for call in effects if CallState(call.state) not in CALL_ENDED]
        if not await self.events.told(self.store.end, run, composed, open_calls=unended):
            return "look"
        await self.publish(run)
        return "wait"

    async def _end_refused(self, run_id: str, reason: str) -> None:
        snapshot = await asyncio.to_thread(self.store.snapshot, run_id)
        if snapshot is not None:
            await self.events.told(self.store.end, snapshot.run, report.refusal(run_id, reason))
        await self.advance(run_id)
