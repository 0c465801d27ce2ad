"""The rows around an assignment: what it is told, and how it ends or waits, each write under the fence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from sqlalchemy import func
from sqlmodel import Session, select

from agents.runtime.memory_tools import remember
from agents.runtime.pressure import spent
from agents.runtime.spec import DoneTurn
from kernel import working
from kernel.clock import now
from kernel.contracts import (
    ActionOutcome,
    Effect,
    MemoryHit,
    NotDone,
    Outcome,
    Request,
    SessionTurn,
    Work,
)
from kernel.database import Database
from kernel.errors import Fatal
from kernel.events import Event, StatusChange, TextDelta
from kernel.lease import hold
from kernel.outbox import record, told
from kernel.questions import withdraw
from kernel.records import ApprovalRow, AssignmentRow, RunRow, TurnRow
from kernel.shapes import present
from kernel.sharing import ROUTING, own_sources
from kernel.states import RUN_ENDED, ApprovalState, AssignmentState, CallState, RunState, check_move


@dataclass(frozen=True)
class Ending:
    """How an assignment ends, waits, or goes back to the queue."""

    state: AssignmentState
    reason: str = ""
    outcome: Outcome | None = None
    #: The whole run ends with it, as failed for the same reason: a budget is spent.
    stops_run: bool = False


def load_work(database: Database, row: AssignmentRow) -> tuple[Work, Ending | None, float]:
    """Return all that the agent is told, how it ends where the run was stopped meanwhile, and the seconds left.

    These are counted by the database's clock: one of a worker that is an hour fast would expire everything.
    """
    with database.reading() as session:
        run = session.get(RunRow, row.run_id)
        if run is None:
            raise Fatal(f"run {row.run_id!r} does not exist")
        siblings = session.exec(select(AssignmentRow).where(AssignmentRow.run_id == row.run_id)).all()
        slots = {slot.slot: slot.value for slot in working.held(session, row.run_id, now())}
        clock = database.now(session)
    present(run)
    request = Request.model_validate(run.request)
    work = Work(
        run_id=run.id,
        assignment_id=row.id,
        agent=row.agent,
        goal=row.goal,
        request=request.text,
        inputs={name: value for name, value in row.inputs.items() if name not in ROUTING},
        # its own where a playbook names them or the coordinator shared them out
        sources=own_sources(row.inputs) or request.sources,
        memories=[MemoryHit.model_validate(memory) for memory in run.memories],
        earlier={
            s.key: Outcome.model_validate(s.outcome)
            for s in map(present, siblings)
            if s.outcome is not None and s.state == AssignmentState.done.value
        },
        labels=request.labels,
        namespace=run.namespace,
        user=run.user,
        session=[SessionTurn.model_validate(turn) for turn in run.session],
        session_summary=run.session_summary,
        brain=request.brain,
        working=slots,
        deadline_at=run.deadline_at,
    )
    left = run.deadline_at.timestamp() - clock if run.deadline_at else inf
    return work, _stopped(run), left


def _stopped(run: RunRow) -> Ending | None:
    if not run.stop and RunState(run.state) not in RUN_ENDED:
        return None
    late = run.stop == AssignmentState.expired.value
    state = AssignmentState.expired if late else AssignmentState.cancelled
    return Ending(state, reason=run.stop_reason or run.stop or run.state)


def why_stopped(database: Database, run_id: str, why: str) -> str:
    """Return the reason to tell for a cut: the run's own where it was stopped, else the word of the cut."""
    if why == "drain":
        return why
    with database.reading() as session:
        run = session.get(RunRow, run_id)
        return run.stop_reason if run is not None and run.stop_reason else why


def effects(turns: Sequence[DoneTurn]) -> Outcome:
    """Return the calls that may have changed the world as actions: for an agent without words of its own for them."""
    made = [
        call
        for turn in turns
        for call in turn.calls
        if call.fence
        and call.effect != Effect.read.value
        and call.tool != remember.name  # a note of the desk's own
    ]
    actions = [
        ActionOutcome(
            name=call.tool,
            state=call.state.value,
            detail=(call.error or {}).get("message", ""),
            call_id=call.id,
            parameters=call.arguments,
        )
        for call in made
    ]
    unsure = [action for action in actions if action.state == CallState.unknown.value]
    return Outcome(
        actions=actions, not_done=[NotDone(what=action.name, why=action.detail) for action in unsure]
    )


def merge(outcome: Outcome | None, collected: Outcome, turns: list[DoneTurn]) -> Outcome:
    """Return the outcome with actions and messages as the journal has them, never as a brain tells them."""
    told = outcome or Outcome(partial=True, usage=spent(turns), brain=turns[-1].brain if turns else "")
    known = {(n.what, n.why) for n in told.not_done}
    return told.model_copy(
        update={
            "actions": collected.actions,
            "notifications": collected.notifications,
            "facts": {**told.facts, **collected.facts},
            "not_done": [*told.not_done, *(n for n in collected.not_done if (n.what, n.why) not in known)],
        }
    )


def finish(
    database: Database, row: AssignmentRow, ending: Ending, outcome: Outcome | None, *, tell: Sequence[Event]
) -> None:
    """Commit the end of an assignment, or its way back to the queue, with the events that tell of it.

    Of one that leaves no outcome the coordinator tells what the ledger knows.
    """
    # not durable: after a power cut the journal is replayed, and what it says of effects is on disk
    with database.writing("assignment.finish") as session:
        held = hold(session, row.id, row.fence)
        check_move(AssignmentState(held.state), ending.state)
        held.state, held.reason = ending.state.value, ending.reason
        held.lease_until = 0.0
        if ending.state is not AssignmentState.queued:
            held.outcome = outcome.model_dump(mode="json") if outcome is not None else None
            held.brain = outcome.brain if outcome is not None else ""
            held.ended_at = now()
            if outcome is not None:
                working.keep(session, row.run_id, working.key_facts(outcome), source=row.key)
            withdraw(session, [row.id], ending.reason or "its part has ended")
        else:
            held.rung_at = None
        session.add(held)
        if ending.stops_run:
            _stop_run(session, row.run_id, ending.reason)
        record(session, *tell)


def _stop_run(session: Session, run_id: str, reason: str) -> None:
    run = session.get(RunRow, run_id, with_for_update=True)
    if run is not None and not run.stop and RunState(run.state) not in RUN_ENDED:
        run.stop, run.stop_reason = RunState.failed.value, reason
        run.version += 1
        session.add(run)


def park(database: Database, row: AssignmentRow, reason: str) -> None:
    """Let an assignment wait for people; if they decided meanwhile it goes straight back to the queue."""
    with database.writing("assignment.park", durable=True) as session:
        held = hold(session, row.id, row.fence)
        pending = session.exec(
            select(ApprovalRow).where(
                ApprovalRow.assignment_id == row.id, ApprovalRow.state == ApprovalState.pending.value
            )
        ).first()
        state = AssignmentState.waiting if pending is not None else AssignmentState.queued
        check_move(AssignmentState(held.state), state)
        held.state, held.lease_until, held.rung_at = state.value, 0.0, None
        session.add(held)
        record(session, moved(held, state, reason if pending is not None else "decided meanwhile"))


def fail_broken(database: Database, assignment_id: str, *, worker: str, reason: str) -> str | None:
    """End a running assignment of this worker as failed, and return its run; None where it is not ours."""
    with database.writing("assignment.broke") as session:
        row = session.get(AssignmentRow, assignment_id, with_for_update=True)
        if row is None or row.worker != worker or row.state != AssignmentState.running.value:
            return None
        check_move(AssignmentState.running, AssignmentState.failed)
        row.state, row.reason, row.ended_at = AssignmentState.failed.value, reason, now()
        session.add(row)
        withdraw(session, [row.id], reason)
        record(session, moved(row))
        return row.run_id


def moved(row: AssignmentRow, state: AssignmentState | None = None, reason: str = "") -> StatusChange:
    """Return the event that tells where an assignment stands, or where it goes now."""
    if state is None:
        return told(row)
    return told(row).model_copy(update={"state": state.value, "reason": reason})


def begun(session: Session, row: AssignmentRow, worker: str) -> list[Event]:
    """Return what is told when a worker takes an assignment: text that a lost worker left half said is void."""
    attempt = row.attempts + 1
    taken = moved(row, AssignmentState.running).model_copy(
        update={"detail": {"worker": worker, "attempt": attempt}}
    )
    if row.fence == 1:
        return [taken]
    turn = 1 + session.exec(select(func.count()).where(TurnRow.assignment_id == row.id)).one()
    ids: Any = {"run_id": row.run_id, "assignment_id": row.id, "agent": row.agent}
    return [taken, TextDelta(turn=turn, text="", superseded=True, **ids)]
