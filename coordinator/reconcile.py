"""The reconciler: rings for rows that are due and silent, takes back dead leases, lets deadlines pass."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, exists, func, or_, update
from sqlmodel import Session, col, select

from coordinator.dead_letters import DeadLetters
from coordinator.decisions import Decisions, audit, decided_event
from coordinator.store import Store, change_row
from coordinator.unreached import Unreached
from kernel import logs, working
from kernel.broker import COORDINATOR, Doorbell
from kernel.clock import monotonic, now
from kernel.control import Control
from kernel.outbox import record, told
from kernel.questions import withdraw
from kernel.records import ApprovalRow, AssignmentRow, DeadLetterRow, RunRow
from kernel.states import RUN_ENDED, ApprovalState, AssignmentState, RunState, check_move
from kernel.streams import EventLog

log = logs.get(__name__)

_A = AssignmentState
_BATCH = 200
#: After so many ticks a bell is rung whatever the queue looks like.
_ALWAYS_TICKS = 15
#: Working memory is kept for a day: a minute more is no matter, and looking for it reads every slot there is.
_WORKING_SECONDS = 60.0


@dataclass(kw_only=True)
class Reconciler:
    """One tick does everything once; two at the same time do no harm."""

    store: Store
    decisions: Decisions
    dead_letters: DeadLetters
    unreached: Unreached
    doorbell: Doorbell
    events: EventLog
    control: Control
    tick: timedelta
    attempt_limit: int
    _working_due: float = field(default=0.0, init=False)

    async def tick_once(self) -> None:
        """Look at every open row once."""
        await self._take_back()
        await self._expire_approvals()
        await asyncio.to_thread(change_row, self.store.database, "reconcile.expire_runs", _expire_runs)
        await self._wake_decided()
        await self.unreached.end_once()
        await self._ring_again()
        await self._advance_silent()
        await self.events.relay_behind(await asyncio.to_thread(self._event_numbers))
        await self.dead_letters.take()
        await self._forget_working()

    async def _take_back(self) -> None:
        """Queue assignments whose lease ran out, or fail them past the attempt limit."""
        taken = await self.events.told(
            change_row, self.store.database, "reconcile.take_back", self._expired_leases
        )
        for row in taken:
            log.warning("lease_expired", assignment=row.id, worker=row.worker, attempts=row.attempts)
            if row.state == _A.queued.value:
                await asyncio.to_thread(self.doorbell.ring_work, row)
            else:
                await asyncio.to_thread(self.doorbell.ring_run, row.run_id)

    def _expired_leases(self, db: Session) -> list[AssignmentRow]:
        clock = self.store.database.now(db)
        rows = db.exec(
            select(AssignmentRow)
            .where(AssignmentRow.state == _A.running.value, AssignmentRow.lease_until < clock)
            .limit(_BATCH)
            .with_for_update(skip_locked=True)
        ).all()
        for row in rows:
            row.attempts += 1
            # a new fence: whatever the lost worker still writes is refused
            row.fence += 1
            if row.attempts >= self.attempt_limit:
                row.reason = f"its worker died {row.attempts} times; last: {row.worker}"
                row.ended_at = now()
                db.add(DeadLetterRow(queue=row.queue, subject=row.id, reason=row.reason))
                withdraw(db, [row.id], row.reason)
            else:
                row.reason = f"taken back from {row.worker}, whose lease ran out"
                row.rung_at = now()
            state = _A.failed if row.attempts >= self.attempt_limit else _A.queued
            check_move(_A.running, state)
            row.state = state.value
            db.add(row)
        # by run: two reconcilers then lock runs in the same order
        ordered = sorted(rows, key=lambda row: row.run_id)
        record(db, *(told(row, attempt=row.attempts + 1, lost_worker=row.worker) for row in ordered))
        return ordered

    async def _expire_approvals(self) -> None:
        expired = await self.events.told(
            change_row, self.store.database, "reconcile.expire_approvals", _expired_approvals
        )
        for row in expired:
            await self.decisions.wake(row.assignment_id)

    async def _wake_decided(self) -> None:
        """Wake assignments that wait though every decision is there: whoever decided died before ringing."""

        def decided() -> list[str]:
            pending = exists().where(
                col(ApprovalRow.assignment_id) == col(AssignmentRow.id),
                col(ApprovalRow.state) == ApprovalState.pending.value,
            )
            query = select(AssignmentRow.id).where(AssignmentRow.state == _A.waiting.value, ~pending)
            with self.store.database.reading() as db:
                return list(db.exec(query.limit(_BATCH)).all())

        for assignment_id in await asyncio.to_thread(decided):
            await self.decisions.wake(assignment_id)

    async def _ring_again(self) -> None:
        """Ring for queued assignments whose doorbell may be lost."""
        rows, queued = await asyncio.to_thread(self._silent_work)
        lengths = await self.control.queue_lengths(sorted(queued)) if rows else {}
        long_ago = now() - _ALWAYS_TICKS * self.tick
        # a queue as long as its rows holds all their bells: its workers are just busy
        due = [
            row
            for row in rows
            if row.rung_at is None or row.rung_at < long_ago or lengths[row.queue] < queued[row.queue]
        ]
        for row in due:
            await asyncio.to_thread(self.doorbell.ring_work, row)
        await asyncio.to_thread(self._rung, [row.id for row in due])

    def _silent_work(self) -> tuple[list[AssignmentRow], dict[str, int]]:
        """Return queued assignments not rung for lately, oldest bell first, and how many are queued where."""
        before = now() - 3 * self.tick
        mine = AssignmentRow.state == _A.queued.value
        with self.store.database.reading() as db:
            rows = db.exec(
                select(AssignmentRow)
                .where(mine, or_(col(AssignmentRow.rung_at).is_(None), col(AssignmentRow.rung_at) < before))
                .order_by(col(AssignmentRow.rung_at))
                .limit(_BATCH)
            ).all()
            counts = db.exec(
                select(AssignmentRow.queue, func.count()).where(mine).group_by(AssignmentRow.queue)
            )
            return list(rows), dict(counts.all())

    def _rung(self, ids: list[str]) -> None:
        with self.store.database.writing("reconcile.rung") as db:
            db.execute(update(AssignmentRow).where(col(AssignmentRow.id).in_(ids)).values(rung_at=now()))

    async def _advance_silent(self) -> None:
        """Ring for silent open runs with nothing under way, for stopped ones, for unpublished reports."""
        run_ids = await asyncio.to_thread(self._silent_runs, now())
        if run_ids and (await self.control.queue_lengths([COORDINATOR]))[COORDINATOR] >= _BATCH:
            return  # the coordinator is behind; more bells would only delay it
        for run_id in run_ids:
            await asyncio.to_thread(self.doorbell.ring_run, run_id)

    def _silent_runs(self, moment: datetime) -> list[str]:
        def has(*states: _A) -> ColumnElement[bool]:
            values = [state.value for state in states]
            mine = col(AssignmentRow.run_id) == col(RunRow.id)
            return exists().where(mine, col(AssignmentRow.state).in_(values))

        is_open = col(RunRow.state).not_in(RUN_ENDED)
        silent = col(RunRow.updated_at) < moment - 2 * self.tick
        # a run that waits for a person is looked at now and then: another part of it may be due
        slow = col(RunRow.updated_at) < moment - _ALWAYS_TICKS * self.tick
        # so may one that needs a part whose end nobody rang for, while a third one still runs
        one_ended = exists().where(
            col(AssignmentRow.run_id) == col(RunRow.id), col(AssignmentRow.ended_at) < moment - 2 * self.tick
        )
        late = (col(RunRow.stop) != "") | (col(RunRow.deadline_at) <= moment)
        due = or_(
            is_open & silent & ~has(_A.queued, _A.running, _A.waiting),
            is_open & slow & has(_A.pending) & has(_A.waiting),
            is_open & has(_A.pending) & one_ended,
            is_open & late,
            col(RunRow.state).in_(RUN_ENDED) & col(RunRow.published).is_(False),
        )
        with self.store.database.reading() as db:
            query = select(RunRow.id).where(due).order_by(late.desc(), col(RunRow.updated_at)).limit(_BATCH)
            return list(db.exec(query).all())

    def _event_numbers(self) -> dict[str, int]:
        """Return the latest event number of the open runs: their streams should have it."""
        with self.store.database.reading() as db:
            query = select(RunRow.id, RunRow.event_seq).where(col(RunRow.state).not_in(RUN_ENDED))
            return dict(db.exec(query.order_by(col(RunRow.updated_at).desc()).limit(_BATCH)).all())

    async def _forget_working(self) -> None:
        """Delete the working memory of runs that ended a day ago, a batch at a time."""
        if monotonic() < self._working_due:
            return
        over = await asyncio.to_thread(self._drop_working, now())
        if over < _BATCH:
            self._working_due = monotonic() + _WORKING_SECONDS

    def _drop_working(self, moment: datetime) -> int:
        with self.store.database.reading() as db:
            over = working.expired(db, moment, _BATCH)
        if over:
            with self.store.database.writing("reconcile.drop_working") as db:
                working.drop(db, over)
        return len(over)


def _expire_runs(db: Session) -> None:
    """Say stop to runs past their deadline: workers cut them at a renewal, however long the coordinator's queue is."""
    late = (col(RunRow.state).not_in(RUN_ENDED), RunRow.stop == "", col(RunRow.deadline_at) <= now())
    query = select(RunRow).where(*late).order_by(col(RunRow.id)).limit(_BATCH)
    for run in db.exec(query.with_for_update(skip_locked=True)).all():
        run.stop, run.stop_reason = RunState.expired.value, "the deadline passed"
        run.version += 1
        db.add(run)


def _expired_approvals(db: Session) -> list[ApprovalRow]:
    rows = db.exec(
        select(ApprovalRow)
        .where(ApprovalRow.state == ApprovalState.pending.value, col(ApprovalRow.expires_at) <= now())
        .limit(_BATCH)
        # what a person decides on at this moment is theirs
        .with_for_update(skip_locked=True)
    ).all()
    for row in rows:
        row.state, row.decided_by, row.decided_at = ApprovalState.expired.value, "the clock", now()
        row.reason = "nobody decided in time, which means no"
        db.add(row)
    ordered = sorted(rows, key=lambda row: row.run_id)
    record(db, *(decided_event(row) for row in ordered))
    for row in ordered:
        audit(db, actor="the clock", action="approval.expired", subject=row.call_id, detail={})
    return ordered
