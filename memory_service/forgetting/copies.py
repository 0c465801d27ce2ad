"""Copies of memories in what runs keep (what was served, told and reported): those of forgotten ones are blanked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Event
from typing import Any

from sqlalchemy import String, cast, or_, update
from sqlmodel import Session, col, select

from kernel.database import Database
from kernel.ledgers import EventRow
from kernel.records import CallRow, RunRow
from memory_service.domain import Status
from memory_service.tables import JobRunRow, MemoryRow, MemoryStateRow

#: Notes which copies are still to be blanked: written with the erasure, gone when the work is done.
JOB = "copies"
#: Runs whose copies are blanked in one transaction, with all their events and calls.
_RUNS = 50
#: Between two of these everybody else may write: who waits for SQLite's one lock looks every 0.1 s.
_REST_SECONDS = 0.05
#: More ids than this are not searched for by name: all runs of the namespace are looked through.
_NAMED = 20
#: What stands where the text of a memory stood.
FORGOTTEN = "(forgotten)"
#: What may stay of a copy: it says that there was a memory, not what it said.
_STAYS = {"id", "kind", "tier", "score", "age_days", "source", "explain", "certified", "cited"}
#: Reports and events are kept outside SQL too (in the result back end for a day, in streams for seven): changed ones
#: are published again.
_PUBLISHED = timedelta(days=7)


@dataclass(frozen=True)
class Copy:
    """One JSON column of one row."""

    row: RunRow | EventRow | CallRow
    column: str

    @property
    def value(self) -> Any:
        """Return what the column holds."""
        return getattr(self.row, self.column)


def note(session: Session, epoch: str, told: dict[str, Any], at: datetime) -> None:
    """Note, inside the transaction of an erasure, that copies are to be blanked: see Copies.resume."""
    session.merge(JobRunRow(job=JOB, epoch=epoch, state="running", counts=told, started_at=at))


class Copies:
    """Blanks copies of forgotten memories, a bounded number of runs in each transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def resume(self, now: datetime) -> int:
        """Do what is noted, from where it stopped; return how many copies were blanked."""
        with self._database.reading() as session:
            open_ = session.exec(select(JobRunRow.epoch).where(JobRunRow.job == JOB)).all()
        return sum(self._finish(epoch, now) for epoch in open_)

    def blank(self, run_id: str, now: datetime) -> int:
        """Blank what one run keeps of forgotten memories: it was served them just before they were."""
        with self._database.writing("memory.copies.of_run") as session:
            return _blank(session, [run_id], [], now)

    def count(self, namespace: str, ids: Sequence[str], *, since: datetime) -> int:
        """Return how many rows hold a copy of one of the memories."""
        with self._database.reading() as session:
            after, found = "", 0
            while runs := _runs(session, namespace, None, since, after):
                copies = _copies(session, runs, ids)
                found += sum(1 for copy in copies if set(_ids(copy.value)) & set(ids))
                after = runs[-1]
            return found

    def _finish(self, epoch: str, now: datetime) -> int:
        blanked = 0
        while True:
            with self._database.writing("memory.copies.blank") as session:
                job = session.get(JobRunRow, (JOB, epoch), with_for_update=True)
                if job is None:
                    return blanked
                told = job.counts
                since = datetime.fromisoformat(told["since"])
                runs = _runs(session, told["namespace"], told["user"], since, job.cursor)
                if not runs:
                    session.delete(job)
                    return blanked
                blanked += _blank(session, runs, told["ids"], now)
                job.cursor = runs[-1]
            Event().wait(_REST_SECONDS)


def _runs(session: Session, namespace: str, user: str | None, since: datetime, after: str) -> list[str]:
    """Return the next runs that may have been served a memory: those of its namespace since it was recorded."""
    query = select(RunRow.id).where(
        RunRow.namespace == namespace, col(RunRow.created_at) >= since, col(RunRow.id) > after
    )
    if user is not None:
        query = query.where(RunRow.user == user)
    return list(session.exec(query.order_by(col(RunRow.id)).limit(_RUNS)))


def _blank(session: Session, runs: Sequence[str], ids: Sequence[str], now: datetime) -> int:
    copies = _copies(session, runs, ids, lock=True)
    gone = _tombstones(session, {id_ for copy in copies for id_ in _ids(copy.value)})
    blanked = 0
    for copy in copies:
        value = _without(copy.value, gone)
        if value != copy.value:
            _write(session, copy, value, now)
            blanked += 1
    return blanked


def _copies(session: Session, runs: Sequence[str], ids: Sequence[str], *, lock: bool = False) -> list[Copy]:
    """Return the columns of runs that may hold copies; named ids narrow the search inside SQL."""
    named = ids if len(ids) <= _NAMED else []
    found: list[Copy] = []
    for table, owner, columns in (
        (RunRow, RunRow.id, ("memories", "report")),
        (EventRow, EventRow.run_id, ("body",)),
        (CallRow, CallRow.run_id, ("result",)),
    ):
        for column in columns:
            told = cast(col(getattr(table, column)), String)
            query: Any = select(table).where(col(owner).in_(runs), told.contains('"text"'))
            if (
                lock and table is RunRow
            ):  # a report may be written at this moment; events and results stay as they are
                query = query.with_for_update()
            if named:
                query = query.where(or_(*(told.contains(id_, autoescape=True) for id_ in named)))
            found += [Copy(row, column) for row in session.exec(query)]
    return found


def _write(session: Session, copy: Copy, value: Any, now: datetime) -> None:
    """Write a column alone; whoever holds an older version of a run reads it again before it writes."""
    row = copy.row
    if isinstance(row, RunRow):
        changes: dict[str, Any] = {copy.column: value, "version": RunRow.version + 1}
        if copy.column == "report" and row.ended_at is not None and row.ended_at > now - _PUBLISHED:
            changes["published"] = False
        change = update(RunRow).where(col(RunRow.id) == row.id).values(changes)
    elif isinstance(row, EventRow):
        where = (col(EventRow.run_id) == row.run_id, col(EventRow.seq) == row.seq)
        change = update(EventRow).where(*where).values({copy.column: value})
        again = (col(RunRow.id) == row.run_id, col(RunRow.ended_at) > now - _PUBLISHED)
        session.execute(
            update(RunRow).where(*again).values(published=False, version=RunRow.version + 1),
            execution_options={"synchronize_session": False},
        )
    else:
        change = update(CallRow).where(col(CallRow.id) == row.id).values({copy.column: value})
    session.execute(change, execution_options={"synchronize_session": False})


def _tombstones(session: Session, ids: set[str]) -> set[str]:
    query = select(MemoryRow.id).where(
        col(MemoryRow.pk) == col(MemoryStateRow.pk),
        col(MemoryRow.id).in_(ids),
        col(MemoryStateRow.status) == Status.deleted.value,
    )
    return set(session.exec(query))


def _ids(value: Any) -> Iterator[str]:
    """Yield the ids of all copies of memories inside a value."""
    if isinstance(value, dict):
        if isinstance(value.get("id"), str) and "text" in value:
            yield value["id"]
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _ids(item)


def _without(value: Any, gone: set[str]) -> Any:
    """Return a value with the copies of gone memories blanked."""
    if isinstance(value, list):
        return [_without(item, gone) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("id") in gone and "text" in value:
        stays = {name: part if name in _STAYS else type(part)() for name, part in value.items()}
        return {**stays, "text": FORGOTTEN}
    return {name: _without(part, gone) for name, part in value.items()}
