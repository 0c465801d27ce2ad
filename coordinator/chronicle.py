"""What happened to a run beside its report: take-overs, repeats, the stop, open questions, dead letters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, func, select

from coordinator.stopping import StoppedPart
from kernel.contracts import Value
from kernel.ledgers import EventRow, QuestionRow
from kernel.records import AssignmentRow, AuditRow, DeadLetterRow, RunRow
from kernel.states import RUN_ENDED, AssignmentState, QuestionState, RunState

#: How the reason begins of a run that ended because a budget was spent.
_BUDGET = "budget:"


class TakeOver(Value):
    """An assignment that went from one worker to another: lost, or handed back by one that was stopping."""

    part: str
    lost: str = ""
    handed_back: str = ""
    #: Empty while no other worker has taken it.
    took: str = ""
    attempt: int = 1
    at: str = ""


class Repeat(Value):
    """A call that was made again after its worker was lost, as its effect allows."""

    call: str
    tool: str
    attempt: int
    at: str = ""


class Stop(Value):
    """Who stopped the run, when, and what that stopped."""

    by: str
    at: datetime
    parts: list[StoppedPart] = []


class Question(Value):
    """A call that may have happened: what is known, and what a person found out."""

    run_id: str
    call: str
    tool: str
    state: str
    known: dict[str, Any] = {}
    asked_at: datetime
    answered_by: str = ""
    reason: str = ""
    answered_at: datetime | None = None


class GivenUp(Value):
    """A part that was given up, and the number of its dead letter."""

    number: int
    part: str
    reason: str
    state: str


class Chronicle(Value):
    """All of it for one run."""

    taken_over: list[TakeOver] = []
    repeated: list[Repeat] = []
    stop: Stop | None = None
    questions: list[Question] = []
    dead_letters: list[GivenUp] = []


def chronicle(db: Session, run_id: str) -> Chronicle:
    """Return what happened to a run, from the event log, the audit and the ledgers."""
    rows = db.exec(select(AssignmentRow.id, AssignmentRow.key).where(AssignmentRow.run_id == run_id)).all()
    keys = dict(rows)
    events = _events(db, run_id)
    return Chronicle(
        taken_over=_take_overs(events, keys),
        repeated=_repeats(events),
        stop=_stop(db, run_id),
        questions=questions(db, run_id=run_id, answered=True),
        dead_letters=_dead_letters(db, keys),
    )


def questions(db: Session, *, run_id: str | None = None, answered: bool = False) -> list[Question]:
    """Return open questions, oldest first; of one run where it is named, with the answered ones where asked for."""
    query = select(QuestionRow).order_by(col(QuestionRow.created_at))
    if run_id is not None:
        query = query.where(QuestionRow.run_id == run_id)
    if not answered:
        query = query.where(QuestionRow.state == QuestionState.open.value)
    return [_question(row) for row in db.exec(query).all()]


def standing(db: Session, run: RunRow) -> str:
    """Return where a run stands in one line: its state with its marks, and why it ended so."""
    words = [run.state, *marks(db, [run]).get(run.id, [])]
    if RunState(run.state) is RunState.cancelled and run.reason.startswith(run.state):
        words[0] = run.reason
    elif run.reason and not run.reason.startswith(_BUDGET):
        words.append(run.reason)
    if RunState(run.state) in RUN_ENDED:
        return ", ".join(words)
    open_parts = db.exec(
        select(AssignmentRow.state, func.count())
        .where(
            AssignmentRow.run_id == run.id,
            col(AssignmentRow.state).in_(
                [AssignmentState.queued, AssignmentState.running, AssignmentState.waiting]
            ),
        )
        .group_by(AssignmentRow.state)
        .order_by(AssignmentRow.state)
    ).all()
    return ", ".join([*words, *(f"{count} {state}" for state, count in open_parts)])


def marks(db: Session, runs: Sequence[RunRow]) -> dict[str, list[str]]:
    """Return what stands beside the state of each run: calls unknown, taken over, given up, its budget spent."""
    ids = [run.id for run in runs]
    asked = select(QuestionRow.run_id, func.count()).where(
        col(QuestionRow.run_id).in_(ids), QuestionRow.state == QuestionState.open.value
    )
    taken = select(AssignmentRow.run_id, AssignmentRow.id).where(
        col(AssignmentRow.run_id).in_(ids), AssignmentRow.attempts > 0
    )
    unknown = dict(db.exec(asked.group_by(QuestionRow.run_id)).all())
    parts = db.exec(taken).all()
    lost = {run_id for run_id, _ in parts}
    # only what was lost may have been given up: no look at the letters for the many runs where all is well
    letters = select(DeadLetterRow.subject).where(col(DeadLetterRow.subject).in_([id_ for _, id_ in parts]))
    subjects = set(db.exec(letters).all()) if parts else set()
    dead = {run_id for run_id, id_ in parts if id_ in subjects}
    return {
        run.id: [
            *([f"{unknown[run.id]} unknown"] if run.id in unknown else []),
            *(["taken over"] if run.id in lost else []),
            *(["dead letter"] if run.id in dead else []),
            *(["over budget"] if run.reason.startswith(_BUDGET) else []),
        ]
        for run in runs
    }


def _events(db: Session, run_id: str) -> list[dict[str, Any]]:
    kind = EventRow.body["type"].as_string()
    query = select(EventRow).where(EventRow.run_id == run_id, kind.in_(["status_change", "tool_call_start"]))
    return [row.body for row in db.exec(query.order_by(col(EventRow.seq))).all()]


def _take_overs(events: Iterable[dict[str, Any]], keys: dict[str, str]) -> list[TakeOver]:
    found: list[TakeOver] = []
    open_at: dict[str, int] = {}
    holder: dict[str, str] = {}
    for event in events:
        part = event.get("assignment_id", "")
        if event["type"] != "status_change" or not part:
            continue
        detail, state = event.get("detail", {}), event.get("state")
        lost = str(detail.get("lost_worker", ""))
        drained = state == AssignmentState.queued and event.get("reason") == "drain"
        if lost or drained:
            open_at[part] = len(found)
            found.append(
                TakeOver(
                    part=keys.get(part, part),
                    lost=lost,
                    handed_back="" if lost else holder.get(part, ""),
                    attempt=int(detail.get("attempt", 1)),
                    at=event.get("at", ""),
                )
            )
        elif state == AssignmentState.running:
            holder[part] = str(detail.get("worker", ""))
            if (index := open_at.pop(part, None)) is not None:
                found[index] = found[index].model_copy(update={"took": holder[part]})
    return found


def _repeats(events: Iterable[dict[str, Any]]) -> list[Repeat]:
    return [
        Repeat(
            call=_short(event["call_id"]),
            tool=event["tool"],
            attempt=event["attempt"],
            at=event.get("at", ""),
        )
        for event in events
        if event["type"] == "tool_call_start" and event.get("attempt", 1) > 1
    ]


def _stop(db: Session, run_id: str) -> Stop | None:
    query = select(AuditRow).where(AuditRow.subject == run_id, AuditRow.action == "run.cancel")
    row = db.exec(query.order_by(col(AuditRow.id))).first()
    if row is None:
        return None
    parts = [StoppedPart.model_validate(part) for part in row.detail.get("parts", [])]
    return Stop(by=row.actor, at=row.at, parts=parts)


def _question(row: QuestionRow) -> Question:
    return Question(
        run_id=row.run_id,
        call=_short(row.call_id),
        tool=row.tool,
        state=row.state,
        known=row.known,
        asked_at=row.created_at,
        answered_by=row.answered_by,
        reason=row.reason,
        answered_at=row.answered_at,
    )


def _dead_letters(db: Session, keys: dict[str, str]) -> list[GivenUp]:
    query = select(DeadLetterRow).where(col(DeadLetterRow.subject).in_(list(keys)))
    return [
        GivenUp(number=row.id or 0, part=keys[row.subject], reason=row.reason, state=row.state)
        for row in db.exec(query.order_by(col(DeadLetterRow.id))).all()
    ]


def _short(call_id: str) -> str:
    return call_id.rpartition(":")[2]
