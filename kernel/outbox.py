"""The outbox of events: each is committed with what it tells, numbered per run without a gap."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import update
from sqlmodel import Session, col, select

from kernel.clock import now
from kernel.database import Database
from kernel.events import Event, StatusChange
from kernel.ledgers import EventRow
from kernel.records import AssignmentRow, RunRow
from kernel.text import storable

#: Rows that one relay reads; a run has far fewer.
_BATCH = 5000


@dataclass(frozen=True)
class Recorded:
    """An event as it is stored: the number within its run, and its JSON."""

    run_id: str
    seq: int
    text: str


#: What the change under way has recorded; None where nobody publishes it (then a relay does).
_recorded: ContextVar[list[Recorded] | None] = ContextVar("recorded", default=None)


@contextmanager
def collecting() -> Iterator[list[Recorded]]:
    """Collect what is recorded inside, also by threads started with this context; publish it after the commit."""
    recorded: list[Recorded] = []
    token = _recorded.set(recorded)
    try:
        yield recorded
    finally:
        _recorded.reset(token)


def record(session: Session, *events: Event) -> None:
    """Add events to a transaction, before any audit row: runs are locked first, the audit last."""
    session.flush()
    for run_id, group in groupby(events, key=lambda event: event.run_id):
        told = list(group)
        last = _numbers(session, run_id, len(told))
        for seq, event in enumerate(told, start=last - len(told) + 1):
            stamped = event.model_copy(update={"at": event.at or now().isoformat()})
            body: dict[str, Any] = storable(stamped.model_dump(mode="json"))
            session.add(EventRow(run_id=run_id, seq=seq, body=body))
            if (recorded := _recorded.get()) is not None:
                recorded.append(Recorded(run_id, seq, _text(body)))


def told(row: AssignmentRow, **detail: Any) -> StatusChange:
    """Return the event that tells where an assignment stands."""
    return StatusChange(
        run_id=row.run_id,
        assignment_id=row.id,
        agent=row.agent,
        state=row.state,
        reason=row.reason,
        detail=detail,
    )


def rows_after(database: Database, run_id: str, seq: int) -> list[Recorded]:
    """Return a run's events after a number, in order."""
    with database.reading() as session:
        rows = session.exec(
            select(EventRow)
            .where(EventRow.run_id == run_id, EventRow.seq > seq)
            .order_by(col(EventRow.seq))
            .limit(_BATCH)
        ).all()
    return [Recorded(row.run_id, row.seq, _text(row.body)) for row in rows]


def _numbers(session: Session, run_id: str, count: int) -> int:
    """Take the next numbers of a run and return the last; the run's row is ours until the commit."""
    taken = (
        update(RunRow)
        .where(col(RunRow.id) == run_id)
        .values(event_seq=RunRow.event_seq + count)
        .returning(col(RunRow.event_seq))
        .execution_options(synchronize_session=False)
    )
    return int(session.execute(taken).scalar_one())


def _text(body: dict[str, Any]) -> str:
    return json.dumps(body, ensure_ascii=False)
