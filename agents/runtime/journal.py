"""The journal of one assignment: turns and calls in SQL, each write under the fence."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from sqlmodel import Session, col, select

from agents.runtime.spec import DoneCall, DoneTurn, Turn
from kernel.clock import now
from kernel.contracts import Effect, Outcome, Usage
from kernel.database import Database
from kernel.errors import Cancelled
from kernel.events import Event
from kernel.lease import hold
from kernel.outbox import record
from kernel.questions import ask
from kernel.records import CallRow, RunRow, TurnRow
from kernel.redaction import Redactor
from kernel.shapes import present
from kernel.states import CallState, check_move
from kernel.streams import EventLog
from kernel.text import storable

T = TypeVar("T")


class Ended(Exception):
    """The call has this end already: the answer to an earlier try of ours was lost."""


def effect_key(run_id: str, assignment_id: str, tool: str, arguments: dict[str, Any]) -> str:
    """Return the name of an effect: the same call of the same assignment has the same key."""
    canonical = json.dumps([run_id, assignment_id, tool, arguments], sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()


class Journal:
    """Turns and calls of one assignment held under one fence."""

    def __init__(
        self,
        database: Database,
        *,
        run_id: str,
        assignment_id: str,
        fence: int,
        worker: str,
        redactor: Redactor,
        events: EventLog,
    ) -> None:
        self._database = database
        self.events = events
        self._redactor = redactor
        self.run_id, self.assignment_id = run_id, assignment_id
        self.fence, self.worker = fence, worker
        self._written = False

    async def load(self) -> list[DoneTurn]:
        """Return all turns with their calls, oldest first."""
        if self.fence == 1 and not self._written:
            return []  # nobody was here before us
        return await asyncio.to_thread(self._load)

    async def commit_turn(self, turn: Turn, number: int) -> DoneTurn:
        """Commit a turn and its calls, redacted: a brain's words go the same way as everybody's."""
        self._written = True
        clean = Turn.model_validate(self._redactor.value(storable(turn.model_dump(mode="json"))))
        return await self.write("journal.turn", lambda session: self._commit_turn(session, clean, number))

    async def write(
        self, name: str, change: Callable[[Session], T], *, durable: bool = False, tell: Sequence[Event] = ()
    ) -> T:
        """Apply a change and tell of it in one transaction, under the fence; raise LostLease where it is old."""

        def apply() -> T:
            with self._database.writing(name, durable=durable) as session:
                hold(session, self.assignment_id, self.fence)
                result = change(session)
                record(session, *tell)
                return result

        return await self.events.told(apply)

    async def row(self, call_id: str) -> CallRow:
        """Return one call's row."""

        def read() -> CallRow:
            with self._database.reading() as session:
                return session.exec(select(CallRow).where(CallRow.id == call_id)).one()

        return await asyncio.to_thread(read)

    async def twin(self, call: DoneCall) -> CallRow | None:
        """Return another call of this assignment with the same key that was made, if any."""

        def read() -> CallRow | None:
            with self._database.reading() as session:
                twin = session.exec(
                    select(CallRow)
                    .where(
                        CallRow.key == call.key, CallRow.id != call.id, col(CallRow.started_at).is_not(None)
                    )
                    .order_by(col(CallRow.created_at))
                ).first()
                return twin if twin is None else present(twin)

        return await asyncio.to_thread(read)

    async def begin(self, call_id: str, effect: Effect, *, tell: Sequence[Event] = ()) -> int:
        """Claim a call before it is made and return the attempt; effects are on disk before the world hears.

        Raise Cancelled where the run was stopped: what a stop found not begun never begins.
        """

        def change(session: Session) -> int:
            run = session.get(RunRow, self.run_id, with_for_update=True)
            if run is not None and run.stop:
                raise Cancelled("the run was stopped", why=run.stop)
            row = present(session.get_one(CallRow, call_id), store=True)
            check_move(CallState(row.state), CallState.claimed)
            row.state, row.fence, row.worker = CallState.claimed.value, self.fence, self.worker
            row.effect = effect.value
            row.attempts += 1
            row.started_at = now()
            session.add(row)
            return row.attempts

        return await self.write("journal.begin", change, durable=effect is not Effect.read, tell=tell)

    async def end(
        self,
        call_id: str,
        state: CallState,
        *,
        value: Any = None,
        error: dict[str, str] | None = None,
        effect: Effect = Effect.read,
        tell: Sequence[Event] = (),
    ) -> None:
        """Commit how a call ended, once; what may have changed the world is on disk before we go on."""

        def change(session: Session) -> None:
            row = present(session.get_one(CallRow, call_id), store=True)
            if row.state == state.value and row.fence == self.fence and row.ended_at is not None:
                raise Ended
            row.result = {"value": value} if error is None else {"value": value, "error": error}
            if state is CallState.unknown:
                ask(session, row, (error or {}).get("message", ""))
                return
            check_move(CallState(row.state), state)
            row.state, row.ended_at = state.value, now()
            session.add(row)

        with suppress(Ended):
            await self.write("journal.end", change, durable=effect is not Effect.read, tell=tell)

    async def move(self, call_id: str, state: CallState) -> None:
        """Move a call that has not run yet (to and from waiting)."""

        def change(session: Session) -> None:
            row = present(session.get_one(CallRow, call_id), store=True)
            if row.state != state.value:
                check_move(CallState(row.state), state)
                row.state = state.value
                session.add(row)

        await self.write("journal.move", change)

    def _load(self) -> list[DoneTurn]:
        with self._database.reading() as session:
            turns = session.exec(
                select(TurnRow)
                .where(TurnRow.assignment_id == self.assignment_id)
                .order_by(col(TurnRow.number))
            ).all()
            rows = session.exec(
                select(CallRow)
                .where(CallRow.assignment_id == self.assignment_id)
                .order_by(col(CallRow.turn), col(CallRow.position))
            ).all()
        return [_done_turn(turn, [row for row in rows if row.turn == turn.number]) for turn in turns]

    def _commit_turn(self, session: Session, turn: Turn, number: int) -> DoneTurn:
        row = TurnRow(
            assignment_id=self.assignment_id,
            number=number,
            brain=turn.brain,
            text=turn.text,
            calls=[call.model_dump() for call in turn.calls],
            outcome=turn.outcome.model_dump(mode="json") if turn.outcome else None,
            note=turn.note,
            usage=turn.usage.model_dump(),
            fence=self.fence,
        )
        session.add(row)
        calls = [
            CallRow(
                id=f"{self.assignment_id}.{number}.{position}",
                run_id=self.run_id,
                assignment_id=self.assignment_id,
                turn=number,
                position=position,
                tool=call.tool,
                arguments=call.arguments,
                effect=Effect.read.value,
                key=effect_key(self.run_id, self.assignment_id, call.tool, call.arguments),
                state=CallState.waiting.value,
            )
            for position, call in enumerate(turn.calls, start=1)
        ]
        session.add_all(calls)
        session.flush()
        return _done_turn(row, calls)


def done_call(row: CallRow) -> DoneCall:
    """Return a call's row as the loop sees it."""
    result = present(row).result or {}
    return DoneCall(
        id=row.id,
        tool=row.tool,
        arguments=row.arguments,
        state=CallState(row.state),
        key=row.key,
        fence=row.fence,
        effect=row.effect,
        worker=row.worker,
        attempts=row.attempts,
        value=result.get("value"),
        error=result.get("error"),
    )


def _done_turn(row: TurnRow, calls: list[CallRow]) -> DoneTurn:
    present(row)
    return DoneTurn(
        number=row.number,
        text=row.text,
        calls=[done_call(call) for call in calls],
        note=row.note,
        brain=row.brain,
        outcome=Outcome.model_validate(row.outcome) if row.outcome else None,
        usage=Usage.model_validate(row.usage),
    )
