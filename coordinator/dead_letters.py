"""Dead letters: taken from the stream into SQL once each, and what a person decides about them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy import func
from sqlmodel import Session, col, select

from coordinator.decisions import audit
from coordinator.store import Store, change_row
from kernel.broker import COORDINATOR, PRIORITIES, PRIORITY_STEPS, queue_keys
from kernel.clock import now
from kernel.contracts import Request
from kernel.dead_letters import KEPT_BYTES, DeadLetter, DeadLetterStream
from kernel.errors import Correctable, Refused
from kernel.records import AssignmentRow, DeadLetterRow, RunRow
from kernel.shapes import present
from kernel.states import DeadLetterState, check_move

MESSAGE, WORK = "message", "work"
_SUBMIT = "coordinator.submit"
#: One transaction each; a person's commands come between two of them.
_BATCH = 200
#: Of one tick, which others wait for: more than the stream holds.
_BATCHES = 50
#: The list of normal priority: whoever replays is in no hurry.
_NORMAL = PRIORITY_STEPS.index(PRIORITIES["normal"])

#: Sends a request under a run id and with a priority.
Submit = Callable[[str, dict[str, Any], str], None]


@dataclass(kw_only=True)
class DeadLetters:
    """Takes letters over and does with them what people say; every method may be called twice."""

    store: Store
    stream: DeadLetterStream
    submit: Submit
    #: Told the task id of a request that could not be read, and why: somebody may wait for its report.
    refuse: Callable[[str, str], Awaitable[None]]

    async def take(self) -> int:
        """Bring what the stream holds into SQL and return how many letters that were; two at once do no harm."""
        taken = 0
        for _ in range(_BATCHES):
            letters = await self.stream.read(_BATCH)
            if not letters:
                break
            await asyncio.to_thread(
                change_row,
                self.store.database,
                "dead_letters.take",
                partial(_keep, letters=letters),
            )
            for letter in letters:
                if letter.task == _SUBMIT and letter.queue == COORDINATOR:
                    await self.refuse(letter.subject, f"the message could not be read: {letter.reason}")
            await self.stream.forget([letter.id for letter in letters])
            taken += len(letters)
        return taken

    async def replay(self, letter_id: int, *, by: str) -> dict[str, str]:
        """Send a letter's message again, or its run's request as a new run; return its `queue` or the new `run_id`.

        The mark comes first: should we die in between, the letter says replayed, and may be replayed again.
        """
        run_id = str(uuid.uuid4())
        row, request = await asyncio.to_thread(
            change_row,
            self.store.database,
            "dead_letters.replay",
            lambda db: _mark_replayed(db, letter_id, by=by, run_id=run_id),
        )
        if request is None:
            await self.stream.put_back(queue_keys(row.queue)[_NORMAL], row.body)
            return {"queue": row.queue}
        priority = Request.model_validate(request).priority.value
        await asyncio.to_thread(self.submit, run_id, request, priority)
        return {"run_id": run_id}

    async def drop(self, letter_ids: Sequence[int] | None, *, by: str) -> list[int]:
        """Mark letters as dropped (None: all that are kept) and let go of their bodies; return their ids."""
        dropped: list[int] = await asyncio.to_thread(
            change_row, self.store.database, "dead_letters.drop", lambda db: _drop(db, letter_ids, by=by)
        )
        return dropped


def find(db: Session, letter_id: int, *, lock: bool = False) -> DeadLetterRow:
    """Return a letter, or raise Correctable."""
    row = db.get(DeadLetterRow, letter_id, with_for_update=lock or None)
    if row is None:
        raise Correctable(
            f"there is no dead letter {letter_id}",
            next_step="Run `nightdesk dead-letters list --all` to see them.",
        )
    return row


def listed(db: Session, *, every: bool, limit: int) -> list[DeadLetterRow]:
    """Return the newest letters: those that are kept, or every one."""
    query = select(DeadLetterRow).order_by(col(DeadLetterRow.id).desc()).limit(limit)
    if not every:
        query = query.where(DeadLetterRow.state == DeadLetterState.kept.value)
    return list(db.exec(query).all())


def count_kept(db: Session) -> int:
    """Return how many letters wait for a person."""
    kept = DeadLetterRow.state == DeadLetterState.kept.value
    return db.exec(select(func.count()).select_from(DeadLetterRow).where(kept)).one()


def _keep(db: Session, letters: Sequence[DeadLetter]) -> None:
    ids = [letter.id for letter in letters]
    known = set(db.exec(select(DeadLetterRow.stream_id).where(col(DeadLetterRow.stream_id).in_(ids))).all())
    for letter in letters:
        if letter.id not in known:
            db.add(
                DeadLetterRow(
                    kind=MESSAGE,
                    queue=letter.queue,
                    subject=letter.subject,
                    reason=letter.reason,
                    first_bytes=letter.first_bytes,
                    size=letter.size,
                    body=letter.body,
                    stream_id=letter.id,
                    created_at=letter.buried_at,
                )
            )


def _mark_replayed(
    db: Session, letter_id: int, *, by: str, run_id: str
) -> tuple[DeadLetterRow, dict[str, Any] | None]:
    row = find(db, letter_id, lock=True)
    if row.state == DeadLetterState.dropped.value:
        raise Refused(f"dead letter {letter_id} was dropped", why=f"by {row.decided_by}")
    request = _request_of(db, row) if row.kind == WORK else None
    if request is None and row.body is None:
        raise Refused(
            f"dead letter {letter_id} cannot be replayed",
            why=f"its message has {row.size:,} bytes, and at most {KEPT_BYTES:,} are kept",
            next_step="Have its sender send it again.",
        )
    _decide(db, row, DeadLetterState.replayed, by=by)
    detail = {"run_id": run_id} if request is not None else {"queue": row.queue}
    audit(db, actor=by, action="dead_letter.replayed", subject=str(letter_id), detail=detail)
    return row, request


def _request_of(db: Session, row: DeadLetterRow) -> dict[str, Any]:
    assignment = db.get(AssignmentRow, row.subject)
    run = db.get(RunRow, assignment.run_id) if assignment is not None else None
    if run is None:
        raise Refused(
            f"dead letter {row.id} cannot be replayed",
            why=f"the run of {row.subject!r} is not there any more",
        )
    return present(run).request


def _drop(db: Session, letter_ids: Sequence[int] | None, *, by: str) -> list[int]:
    if letter_ids is None:
        kept = select(DeadLetterRow).where(DeadLetterRow.state == DeadLetterState.kept.value)
        rows = list(db.exec(kept.with_for_update()).all())
    else:
        rows = [find(db, letter_id, lock=True) for letter_id in dict.fromkeys(letter_ids)]
    for row in rows:
        if row.state == DeadLetterState.dropped.value:
            raise Refused(f"dead letter {row.id} was already dropped", why=f"by {row.decided_by}")
        _decide(db, row, DeadLetterState.dropped, by=by)
        row.body = None
    ids = [row.id for row in rows if row.id is not None]
    if ids:
        subject = str(ids[0]) if len(ids) == 1 else f"{len(ids)} dead letters"
        audit(db, actor=by, action="dead_letter.dropped", subject=subject, detail={"ids": ids})
    return ids


def _decide(db: Session, row: DeadLetterRow, state: DeadLetterState, *, by: str) -> None:
    check_move(DeadLetterState(row.state), state)
    row.state, row.decided_by, row.decided_at = state.value, by, now()
    db.add(row)
