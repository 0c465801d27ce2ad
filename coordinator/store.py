"""The coordinator's rows: every move is a compare-and-swap inside one transaction."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import update
from sqlmodel import Session, col, select

from coordinator.assignments import begins
from coordinator.planning import AssignmentView, RunView
from coordinator.routing import Routed
from kernel import working
from kernel.clock import now
from kernel.contracts import PlannedAssignment, Request, SessionTurn
from kernel.database import Database
from kernel.events import Event, ReportReady, StatusChange, ToolCallResult
from kernel.outbox import record
from kernel.questions import ask
from kernel.records import SHAPE, AssignmentRow, CallRow, RunRow, SessionRow
from kernel.reports import Report
from kernel.shapes import present
from kernel.sharing import PART_OF
from kernel.states import RUN_ENDED, AssignmentState, RunState, check_move

#: A run id is the client's task id and may be long; ids below it stay readable.
_ID_CHARACTERS = 40


@dataclass(frozen=True)
class Snapshot:
    """A run with its assignments as they were at one moment."""

    run: RunRow
    assignments: Sequence[AssignmentRow]
    #: An older version wrote the run, and it is open: see Store.lift.
    aged: bool = False

    def views(self, *, max_rounds: int) -> tuple[RunView, list[AssignmentView]]:
        """Return what next_steps looks at."""
        run = RunView(
            state=RunState(self.run.state),
            stop=self.run.stop,
            rounds=len(self.run.rounds) + 1,
            max_rounds=max_rounds,
            deadline_at=self.run.deadline_at,
        )
        return run, [
            AssignmentView(
                id=a.id,
                key=a.key,
                state=AssignmentState(a.state),
                needs=a.needs,
                part_of=a.inputs.get(PART_OF, ""),
            )
            for a in self.assignments
        ]


class Store:
    """Reads and moves of runs and assignments."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def insert_run(
        self,
        run_id: str,
        request: Request,
        *,
        deadline_at: datetime,
        session: Sequence[SessionTurn],
        summary: str,
        refused: str = "",
        slots: Mapping[str, Any] | None = None,
    ) -> bool:
        """Insert an accepted run and tell of it; False where it is there already.

        One that is `refused` is stopped from the first moment: nobody plans it, should its end be late.
        """
        # durable: the message is acknowledged after this, so the row alone keeps the request
        with self.database.writing("run.insert", durable=True) as db:
            if db.get(RunRow, run_id) is not None:
                return False
            db.add(
                RunRow(
                    id=run_id,
                    namespace=request.namespace,
                    user=request.user,
                    session_id=request.session_id,
                    request=request.model_dump(mode="json"),
                    priority=request.priority.value,
                    session=[turn.model_dump(mode="json") for turn in session],
                    session_summary=summary,
                    deadline_at=deadline_at,
                    stop=RunState.failed.value if refused else "",
                    stop_reason=refused,
                )
            )
            if request.session_id and db.get(SessionRow, request.session_id) is None:
                db.add(SessionRow(id=request.session_id, namespace=request.namespace, user=request.user))
            working.keep(db, run_id, slots or {}, source=working.REQUEST)
            record(db, StatusChange(run_id=run_id, state=RunState.accepted.value))
            return True

    def snapshot(self, run_id: str) -> Snapshot | None:
        """Return a run with its assignments, or None."""
        with self.database.reading() as db:
            run = db.get(RunRow, run_id)
            if run is None:
                return None
            rows = db.exec(
                select(AssignmentRow)
                .where(AssignmentRow.run_id == run_id)
                .order_by(col(AssignmentRow.created_at))
            ).all()
            aged = run.shape < SHAPE and run.state not in RUN_ENDED
            return Snapshot(present(run), [present(row) for row in rows], aged)

    def lift(self, run_id: str) -> None:
        """Store a run's JSON in the present shape; until then nobody may move it."""
        with self.database.writing("run.lift") as db:
            run = db.get_one(RunRow, run_id, with_for_update=True)
            present(run, store=True).version += 1
            db.add(run)

    def swap(self, run: RunRow, state: RunState | None = None, **changes: Any) -> bool:
        """Move a run and tell of it if nobody changed it since `run` was read; False where somebody did."""
        with self.database.writing("run.swap") as db:
            swapped = _swap(db, run, state, changes)
            if swapped and state is not None:
                record(db, StatusChange(run_id=run.id, state=state.value))
            return swapped

    def busy(self, run_id: str, seconds: float) -> bool:
        """Tell the reconciler that a run is worked on for so long at most; False where it was stopped meanwhile."""
        until = now() + timedelta(seconds=seconds)
        mine = (col(RunRow.id) == run_id, col(RunRow.stop) == "")
        with self.database.writing("run.busy") as db:
            touched = db.execute(update(RunRow).where(*mine).values(updated_at=until))
            return touched.rowcount == 1  # type: ignore[attr-defined,no-any-return] # an UPDATE's result has it

    def insert_plan(
        self,
        run: RunRow,
        routed: Routed,
        *,
        state: RunState | None,
        tell: Sequence[Event] = (),
        **changes: Any,
    ) -> list[AssignmentRow] | None:
        """Insert the assignments of a round with the run's move; None where somebody changed the run meanwhile.

        Those that nobody can be asked for fail at once; those that need nothing are queued, and returned to be rung
        for.
        """
        with self.database.writing("run.plan") as db:
            if not _swap(db, run, state, changes):
                return None
            rows = [_planned(run, item, routed) for item in routed.assignments]
            db.add_all(rows)
            ready = [row for row in rows if row.state == AssignmentState.queued.value]
            record(db, *tell, *(begins(row) for row in ready))
            return ready

    def end(self, run: RunRow, report: Report, *, open_calls: Sequence[str] = ()) -> bool:
        """End a run with its report; calls with an effect that never ended become unknown, and a question."""
        with self.database.writing("run.end") as db:
            state = RunState(report.state)
            if state is RunState.succeeded:
                check_move(RunState(run.state), RunState.answering)
                check_move(RunState.answering, state)
            else:
                check_move(RunState(run.state), state)
            changes = {"report": report.model_dump(mode="json"), "reason": report.reason, "ended_at": now()}
            ended = _swap(db, run, state, changes, checked=True)
            if ended:
                told = StatusChange(run_id=run.id, state=state.value, reason=report.reason)
                asked = [_ask_about(db, call_id) for call_id in open_calls]
                record(db, *asked, told, ReportReady(run_id=run.id, report=report))
            return ended

    def mark_published(self, run_id: str) -> None:
        """Remember that the report is in the result back end."""
        with self.database.writing("run.published") as db:
            db.execute(update(RunRow).where(col(RunRow.id) == run_id).values(published=True))


def _planned(run: RunRow, item: PlannedAssignment, routed: Routed) -> AssignmentRow:
    row = AssignmentRow(
        id=f"{run.id if len(run.id) <= _ID_CHARACTERS else uuid.uuid4()}:{item.key}",
        run_id=run.id,
        key=item.key,
        agent=item.agent,
        queue=routed.queues[item.key],
        goal=item.goal,
        inputs=item.inputs,
        needs=item.needs,
        round=len(run.rounds) + 1,  # `run` is as the swap left it
    )
    if lost := routed.missing.get(item.key):
        row.state, row.reason, row.ended_at = AssignmentState.failed.value, lost, now()
    elif not item.needs:
        check_move(AssignmentState(row.state), AssignmentState.queued)
        row.state, row.rung_at = AssignmentState.queued.value, now()
    return row


def _ask_about(db: Session, call_id: str) -> ToolCallResult:
    """End a call that its lost worker left open as unknown, and return the event that tells of it."""
    call = present(db.get_one(CallRow, call_id), store=True)
    why = "its worker was lost while it was under way"
    ask(db, call, why)
    ids: Any = {"run_id": call.run_id, "assignment_id": call.assignment_id, "call_id": call.id}
    return ToolCallResult(tool=call.tool, state=call.state, summary=why, **ids)


def change_row(database: Database, name: str, change: Callable[[Session], Any]) -> Any:
    """Apply a change in one durable transaction."""
    with database.writing(name, durable=True) as db:
        return change(db)


def _swap(
    db: Session, run: RunRow, state: RunState | None, changes: dict[str, Any], *, checked: bool = False
) -> bool:
    if state is not None and not checked:
        check_move(RunState(run.state), state)
    values = {**changes, "version": run.version + 1, "updated_at": now()}
    if state is not None:
        values["state"] = state.value
    swapped = db.execute(
        update(RunRow)
        .where(
            col(RunRow.id) == run.id,
            col(RunRow.version) == run.version,
            col(RunRow.state).not_in(RUN_ENDED),
            col(RunRow.shape) == SHAPE,
        )
        .values(**values)
    )
    if swapped.rowcount != 1:  # type: ignore[attr-defined] # an UPDATE's result has it
        return False
    for name, value in values.items():
        setattr(run, name, value)  # what we read is now what we wrote
    return True
