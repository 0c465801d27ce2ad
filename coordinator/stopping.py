"""What a stop finds: per assignment what it stops, and per call with an effect what the ledger knows of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from sqlmodel import Session, col, select

from kernel.contracts import Effect, Value
from kernel.records import AssignmentRow, CallRow, RunRow
from kernel.shapes import present, readable
from kernel.states import ASSIGNMENT_ENDED, AssignmentState, CallState

_A, _C = AssignmentState, CallState

#: What became of a call with an effect: made, made without success, nobody knows (yet), or not made at all.
Happened = Literal["done", "failed", "under way", "unknown", "never made"]
_HAPPENED: dict[CallState, Happened] = {
    _C.done: "done",
    _C.failed: "failed",
    _C.claimed: "under way",
    _C.running: "under way",
    _C.unknown: "unknown",
    _C.waiting: "never made",
    _C.denied: "never made",
}


class StoppedPart(Value):
    """One assignment as a stop finds it; `doing` is the turn or the calls that it cuts."""

    key: str
    agent: str
    #: The assignment's state at that moment: pending and queued never begin, or with a worker never go on.
    state: str
    since: datetime | None = None
    worker: str = ""
    doing: str = ""


class EffectCall(Value):
    """One call that changes the world, or waited to."""

    call: str
    tool: str
    happened: Happened
    at: datetime | None = None
    detail: str = ""


class Stopped(Value):
    """What a stop stopped, and what had already happened."""

    run_id: str
    reason: str
    #: True where somebody, or the clock, had said stop before.
    again: bool = False
    parts: list[StoppedPart] = []
    effects: list[EffectCall] = []


def look(db: Session, run: RunRow, *, again: bool) -> Stopped:
    """Return what a stop of the run finds now.

    Inside the transaction that sets the stop this is exact: a call that is not begun here never begins.
    """
    rows = db.exec(select(AssignmentRow).where(AssignmentRow.run_id == run.id)).all()
    calls = calls_of(db, run.id)
    ordered = sorted(rows, key=lambda row: (row.round, row.created_at, row.key))
    return Stopped(
        run_id=run.id,
        reason=run.stop_reason,
        again=again,
        parts=[
            _part(row, [call for call in calls if call.assignment_id == row.id])
            for row in ordered
            if _A(row.state) not in ASSIGNMENT_ENDED
        ],
        effects=effects_of(calls),
    )


def calls_of(db: Session, run_id: str) -> Sequence[CallRow]:
    """Return a run's calls in the order in which they were asked for."""
    query = select(CallRow).where(CallRow.run_id == run_id)
    rows = db.exec(query.order_by(col(CallRow.created_at), col(CallRow.id))).all()
    # people may stop what a newer version began: of its calls, the states say enough
    return [present(row) if readable(row) else row for row in rows]


def effects_of(calls: Sequence[CallRow]) -> list[EffectCall]:
    """Return what the ledger knows of the calls that change the world; one not begun has no known effect yet."""
    return [_effect(call) for call in calls if call.effect != Effect.read.value or _not_made(call)]


def _not_made(call: CallRow) -> bool:
    return _HAPPENED[_C(call.state)] == "never made"


def _effect(call: CallRow) -> EffectCall:
    error = (call.result or {}).get("error") or {}
    return EffectCall(
        call=call.id.rpartition(":")[2],
        tool=call.tool,
        happened=_HAPPENED[_C(call.state)],
        at=call.ended_at or call.started_at,
        detail=str(error.get("message", "")),
    )


def _part(row: AssignmentRow, calls: Sequence[CallRow]) -> StoppedPart:
    running = row.state == _A.running.value
    return StoppedPart(
        key=row.key,
        agent=row.agent,
        state=row.state,
        since=row.started_at if running else None,
        # one that is queued with a worker was begun there, and handed or taken back
        worker=row.worker if running or (row.state == _A.queued.value and row.fence) else "",
        doing=_doing(_A(row.state), calls),
    )


def _doing(state: AssignmentState, calls: Sequence[CallRow]) -> str:
    wanted = {_A.running: (_C.claimed, _C.running), _A.waiting: (_C.waiting,)}.get(state, ())
    found = [f"{call.tool} ({call.id.rpartition(':')[2]})" for call in calls if _C(call.state) in wanted]
    if found:
        return ", ".join(found)
    return f"turn {max((call.turn for call in calls), default=0) + 1}" if state is _A.running else ""
