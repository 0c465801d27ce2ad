"""What people decide about runs: approve, deny, cancel, resolve. Valid from any process, at any time, once."""

from __future__ import annotations

import asyncio
import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from sqlmodel import Session, col, func, select

from coordinator.stopping import Stopped, look
from coordinator.store import Store, change_row
from kernel import logs
from kernel.broker import Doorbell
from kernel.clock import now
from kernel.control import Control
from kernel.errors import Correctable, Refused, Retryable
from kernel.events import ApprovalDecided, QuestionAnswered
from kernel.ledgers import QuestionRow
from kernel.outbox import record, told
from kernel.questions import answer
from kernel.records import ApprovalRow, AssignmentRow, AuditRow, CallRow, RunRow
from kernel.shapes import present
from kernel.states import RUN_ENDED, ApprovalState, AssignmentState, RunState, check_move
from kernel.streams import EventLog

log = logs.get(__name__)

#: A nudge takes milliseconds; a Redis that hangs must not keep whoever said stop from the answer.
_NUDGE_SECONDS = 3.0
#: The name of PostgreSQL's advisory lock on the audit's end: any number that nobody else takes.
_AUDIT_LOCK = 20_261_129


@dataclass(kw_only=True)
class Decisions:
    """Takes decisions; the truth changes first, then workers hear of it."""

    store: Store
    doorbell: Doorbell
    control: Control
    events: EventLog

    async def decide(
        self,
        run_id: str,
        call_id: str,
        decision: Literal["approved", "denied"],
        *,
        by: str,
        reason: str = "",
    ) -> ApprovalRow:
        """Approve or deny a waiting call; raise Refused where it was decided or expired before.

        The decision and the way back to the queue are one transaction; the reconciler rings where we cannot.
        """

        def change(db: Session) -> tuple[ApprovalRow, AssignmentRow | None]:
            decided = _decide(db, run_id, call_id, decision, by=by, reason=reason, at=now())
            queued = _requeue(db, decided.assignment_id)
            detail = {"digest": decided.digest, "reason": reason}
            audit(db, actor=by, action=f"approval.{decided.state}", subject=decided.call_id, detail=detail)
            return decided, queued

        row, queued = await self.events.told(change_row, self.store.database, "decisions.decide", change)
        if queued is not None:
            await self._ring(queued)
        if row.state != decision:
            raise Refused("the approval had expired", why="no decision in time means no")
        return row  # type: ignore[no-any-return] # change_row returns what the change returns

    async def wake(self, assignment_id: str) -> None:
        """Queue an assignment whose decisions are complete, and ring its agent and the coordinator."""
        queued = await self.events.told(
            change_row, self.store.database, "decisions.wake", lambda db: _requeue(db, assignment_id)
        )
        if queued is not None:
            await self._ring(queued)

    async def _ring(self, queued: AssignmentRow) -> None:
        try:
            await asyncio.to_thread(self.doorbell.ring_work, queued)
            await asyncio.to_thread(self.doorbell.ring_run, queued.run_id)
        except Retryable as error:
            log.warning("decided_but_not_rung", reason=str(error))  # the reconciler rings

    async def cancel(self, run_id: str, *, by: str) -> Stopped:
        """Stop a run: what has not begun never begins, what runs is cut; return what that was, from the ledger."""
        stopped: Stopped = await self.events.told(
            change_row, self.store.database, "decisions.cancel", lambda db: _stop(db, run_id, by=by)
        )
        try:
            async with asyncio.timeout(_NUDGE_SECONDS):
                await self.control.stop(run_id, RunState.cancelled.value)
            await asyncio.to_thread(self.doorbell.ring_run, run_id)
        except (Retryable, TimeoutError) as error:
            # workers see the row at their next lease renewal, and the reconciler rings
            log.warning("stop_not_nudged", reason=str(error) or f"no answer within {_NUDGE_SECONDS:g} s")
        return stopped

    async def resolve(
        self, run_id: str, call_id: str, *, happened: bool, by: str, reason: str
    ) -> QuestionRow:
        """Record what a person found out about a call that may have happened; raise Refused the second time.

        Valid after the run has ended too: its report goes on saying `unknown`, the question says who found out.
        """
        if not reason.strip():
            raise Correctable("an answer needs a reason", next_step="Say how you found out: --reason TEXT")

        def change(db: Session) -> QuestionRow:
            return _resolve(db, run_id, call_id, happened=happened, by=by, reason=reason)

        question: QuestionRow = await self.events.told(
            change_row, self.store.database, "decisions.resolve", change
        )
        return question


def _decide(
    db: Session, run_id: str, call_id: str, decision: str, *, by: str, reason: str, at: datetime
) -> ApprovalRow:
    rows = db.exec(select(ApprovalRow).where(ApprovalRow.run_id == run_id)).all()
    found = next((r for r in rows if call_id in (r.call_id, _short(r.call_id))), None)
    if found is None:
        waiting = [_short(r.call_id) for r in rows if r.state == ApprovalState.pending.value]
        raise Correctable(
            f"no call {call_id!r} of run {run_id[:13]!r} waits for approval",
            why=f"waiting: {', '.join(waiting) or 'none'}",
            next_step=f"See: nightdesk show {run_id[:8]}",
        )
    # in this order everywhere: assignment, then what hangs on it, then the run, the audit last
    db.get(AssignmentRow, found.assignment_id, with_for_update=True)
    row = db.get_one(ApprovalRow, found.call_id, with_for_update=True, populate_existing=True)
    if row.state != ApprovalState.pending.value:
        raise _decided_before(db, row)
    late = row.expires_at is not None and at >= row.expires_at
    row.state = ApprovalState.expired.value if late else decision
    row.decided_by, row.reason, row.decided_at = by, reason, at
    db.add(row)
    record(db, decided_event(row))
    return row


def _decided_before(db: Session, row: ApprovalRow) -> Refused:
    call = _short(row.call_id)
    run = db.get(RunRow, row.run_id)
    if not row.decided_by and run is not None and run.stop:
        return Refused(f"call {call!r} waits no more: its run was stopped", why=run.stop_reason or run.stop)
    why = f"by {row.decided_by or 'the clock'}" + (f": {row.reason}" if row.reason else "")
    next_step = f"See: nightdesk show {row.run_id[:8]}"
    return Refused(f"call {call!r} was already {row.state}", why=why, next_step=next_step)


def decided_event(row: ApprovalRow) -> ApprovalDecided:
    """Return the event that tells of a decision."""
    fields: Any = {"decision": row.state, "by": row.decided_by, "reason": row.reason}
    return ApprovalDecided(run_id=row.run_id, assignment_id=row.assignment_id, call_id=row.call_id, **fields)


def _short(call_id: str) -> str:
    """Return what people type: the part of a call id behind the run id."""
    return call_id.rpartition(":")[2]


def _requeue(db: Session, assignment_id: str) -> AssignmentRow | None:
    pending = db.exec(
        select(ApprovalRow).where(
            ApprovalRow.assignment_id == assignment_id, ApprovalRow.state == ApprovalState.pending.value
        )
    ).first()
    row = db.get(AssignmentRow, assignment_id, with_for_update=True)
    if row is None or row.state != AssignmentState.waiting.value or pending is not None:
        return None
    check_move(AssignmentState.waiting, AssignmentState.queued)
    row.state, row.rung_at = AssignmentState.queued.value, now()
    db.add(row)
    record(db, told(row))
    return row


def _stop(db: Session, run_id: str, *, by: str) -> Stopped:
    run = db.get(RunRow, run_id, with_for_update=True)
    if run is None:
        raise Correctable(f"there is no run {run_id!r}", next_step="See: nightdesk runs")
    if RunState(run.state) in RUN_ENDED:
        verb = "is" if run.state == RunState.cancelled.value else "has"
        why = f"it {verb} {run.state}" + (f": {run.reason}" if run.reason else "")
        raise Refused(
            f"run {run_id[:13]!r} has ended", why=why, next_step=f"See: nightdesk show {run_id[:8]}"
        )
    if run.stop:
        return look(db, run, again=True)
    run.stop, run.stop_reason = RunState.cancelled.value, f"cancelled by {by}"
    run.version += 1
    db.add(run)
    stopped = look(db, run, again=False)
    detail = stopped.model_dump(mode="json", include={"parts", "effects"})
    audit(db, actor=by, action="run.cancel", subject=run_id, detail=detail)
    return stopped


def _resolve(db: Session, run_id: str, call_id: str, *, happened: bool, by: str, reason: str) -> QuestionRow:
    asked = db.exec(select(QuestionRow).where(QuestionRow.run_id == run_id)).all()
    found = next((q for q in asked if call_id in (q.call_id, _short(q.call_id))), None)
    if found is None:
        known = ", ".join(_short(q.call_id) for q in asked)
        raise Correctable(
            f"nobody asks whether call {call_id!r} of run {run_id[:13]!r} happened",
            why=f"asked of this run: {known or 'nothing'}",
            next_step="See: nightdesk questions",
        )
    # locked in the order of _decide
    part = db.get(AssignmentRow, found.assignment_id, with_for_update=True)
    question = db.get_one(QuestionRow, found.call_id, with_for_update=True, populate_existing=True)
    call = present(db.get_one(CallRow, found.call_id), store=True)
    answer(db, call, question, happened=happened, by=by, reason=reason)
    run = db.get(RunRow, run_id, with_for_update=True)
    if run is not None and RunState(run.state) not in RUN_ENDED:  # an ended run's log says no more
        record(db, _answered_event(question, part))
    detail = {"tool": question.tool, "reason": reason}
    audit(db, actor=by, action=f"question.{question.state}", subject=question.call_id, detail=detail)
    return question


def _answered_event(question: QuestionRow, part: AssignmentRow | None) -> QuestionAnswered:
    """Return the event that tells of an answer."""
    fields: Any = {"answer": question.state, "by": question.answered_by, "reason": question.reason}
    agent = part.agent if part is not None else ""
    ids = {"run_id": question.run_id, "assignment_id": question.assignment_id, "agent": agent}
    return QuestionAnswered(call_id=question.call_id, tool=question.tool, **ids, **fields)


def audit(db: Session, *, actor: str, action: str, subject: str, detail: dict[str, Any]) -> None:
    """Add an audit row, hashed with the one before."""
    if db.get_bind().dialect.name == "postgresql":
        # until the commit: of two that add at once, the second must see what the first added
        db.execute(select(func.pg_advisory_xact_lock(_AUDIT_LOCK)))
    last = db.exec(select(AuditRow).order_by(col(AuditRow.id).desc()).limit(1)).first()
    row = AuditRow(
        actor=actor, action=action, subject=subject, detail=detail, previous_hash=last.hash if last else ""
    )
    told = json.dumps([row.previous_hash, row.at.isoformat(), actor, action, subject, detail], sort_keys=True)
    row.hash = hashlib.sha256(told.encode()).hexdigest()
    db.add(row)
