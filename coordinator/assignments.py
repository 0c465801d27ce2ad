"""The rows of assignments as the coordinator moves them, each move in one transaction with what tells of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlmodel import Session, col, select

from kernel import shapes
from kernel.clock import now
from kernel.contracts import Effect
from kernel.database import Database
from kernel.events import StatusChange
from kernel.outbox import record, told
from kernel.questions import withdraw
from kernel.recalls import recalled
from kernel.records import AssignmentRow, CallRow
from kernel.states import AssignmentState, check_move


def queue(database: Database, ids: Sequence[str]) -> list[AssignmentRow]:
    """Move pending assignments to queued and return those that we moved."""
    with database.writing("assignment.queue") as db:
        moved = _move(db, ids, AssignmentState.queued, rung_at=now())
        record(db, *(begins(row) for row in moved))
    return moved


def stop(database: Database, ids: Sequence[str], state: AssignmentState, reason: str) -> list[AssignmentRow]:
    """End assignments that are not running, and the approvals they wait for."""
    with database.writing("assignment.stop") as db:
        moved = _move(db, ids, state, reason=reason, ended_at=now())
        withdraw(db, [row.id for row in moved], reason)
        record(db, *(told(row) for row in moved))
    return moved


def effects(database: Database, assignments: Sequence[AssignmentRow]) -> list[CallRow]:
    """Return the calls with an effect of assignments that left no outcome: they happened all the same."""
    silent = [a.id for a in assignments if a.outcome is None]
    with database.reading() as db:
        rows = db.exec(
            select(CallRow)
            .where(
                col(CallRow.assignment_id).in_(silent),
                col(CallRow.effect) != Effect.read.value,
                col(CallRow.started_at).is_not(None),
            )
            .order_by(col(CallRow.started_at))
        ).all()
        return [shapes.present(row) for row in rows]


def recalled_by(database: Database, run_id: str) -> dict[str, str]:
    """Return the texts of the memories that agents of a run asked for, by id."""
    with database.reading() as db:
        return recalled(db, run_id)


def begins(row: AssignmentRow) -> StatusChange:
    """Return the event that tells of an assignment that is queued for the first time."""
    return told(row, key=row.key, goal=row.goal, needs=row.needs, round=row.round)


def _move(db: Session, ids: Sequence[str], state: AssignmentState, **changes: Any) -> list[AssignmentRow]:
    moved = []
    # by id: of two that move the same ones, none waits for the other twice
    wanted = select(AssignmentRow).where(col(AssignmentRow.id).in_(ids)).order_by(col(AssignmentRow.id))
    for row in db.exec(wanted.with_for_update()).all():
        present = AssignmentState(row.state)
        if present is AssignmentState.running or present is state or row.ended_at is not None:
            continue
        check_move(present, state)
        row.state = state.value
        for field, value in changes.items():
            setattr(row, field, value)
        db.add(row)
        moved.append(row)
    return moved
