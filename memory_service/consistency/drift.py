"""Comparing an index with SQL: both are walked in the order of ids, in windows of bounded size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, select

from kernel.database import Database
from memory_service.domain import Status
from memory_service.index.port import Held, MemoryIndex, audience
from memory_service.tables import MemoryOutboxRow, MemoryRow, MemoryStateRow

#: Ids in one window: some 300 kB on each side.
WINDOW = 2000


@dataclass(frozen=True)
class Drift:
    """How many points differed between SQL and the index; what is merely on its way is not counted."""

    missing: int = 0
    stale: int = 0
    orphaned: int = 0
    misplaced: int = 0
    looked_at: int = 0

    @property
    def total(self) -> int:
        """Return how many points differed."""
        return self.missing + self.stale + self.orphaned + self.misplaced

    def counts(self) -> dict[str, int]:
        """Return the numbers by name."""
        return asdict(self) | {"total": self.total}

    def __add__(self, other: Drift) -> Drift:
        return Drift(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


@dataclass(frozen=True)
class Wanted:
    """What SQL says of a memory: `waiting` is on its way to the index."""

    pk: int
    rev: int
    audience: str
    active: bool
    waiting: bool


@dataclass
class Differences:
    """Ids that differ in one window, and where the next one begins ("": this was the last)."""

    missing: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    #: Stale ones whose revision in the index is the higher one: SQL went back (a restored backup).
    ahead: list[str] = field(default_factory=list)
    orphaned: list[str] = field(default_factory=list)
    #: In the index for somebody else than SQL says.
    misplaced: list[str] = field(default_factory=list)
    after: str = ""
    looked_at: int = 0

    def ids(self) -> list[str]:
        """Return all that differ."""
        return [*self.missing, *self.stale, *self.orphaned, *self.misplaced]

    def drift(self) -> Drift:
        """Return how many differ, of how many."""
        return Drift(
            len(self.missing), len(self.stale), len(self.orphaned), len(self.misplaced), self.looked_at
        )


def windows(database: Database, index: MemoryIndex) -> Iterator[Differences]:
    """Yield the differences of every window."""
    after = ""
    while True:
        found = window(database, index, after)
        yield found
        if not found.after:
            return
        after = found.after


def window(database: Database, index: MemoryIndex, after: str, size: int = WINDOW) -> Differences:
    """Return what differs among the next ids after `after`.

    The two sides cannot be read at one moment, so that what seems to differ is looked at again: a memory that
    was written meanwhile is no drift.
    """
    held = {point.id: point for point in index.page(after, size)}
    with database.reading() as session:
        wanted = _active(session, after, size)
    end = _end(list(held), list(wanted), size)
    held = {id_: point for id_, point in held.items() if not end or id_ <= end}
    wanted = {id_: row for id_, row in wanted.items() if not end or id_ <= end}
    suspects = _compare(held, wanted).ids()
    found = Differences()
    if suspects:
        held_now = {point.id: point for point in index.held(suspects)}
        with database.reading() as session:
            wanted_now = by_id(session, suspects)
        settled = {
            id_: row
            for id_, row in wanted_now.items()
            if not row.waiting and (id_ not in wanted or wanted[id_].rev == row.rev)
        }
        sure = {id_: point for id_, point in held_now.items() if id_ in settled or id_ not in wanted_now}
        found = _compare(sure, {id_: row for id_, row in settled.items() if row.active})
    found.after, found.looked_at = end, len(held.keys() | wanted.keys())
    return found


def _end(held: list[str], wanted: list[str], size: int) -> str:
    """Return the last id that both sides were read up to; "" where both are at their end."""
    return min((ids[-1] for ids in (held, wanted) if len(ids) == size), default="")


def _compare(held: dict[str, Held], wanted: dict[str, Wanted]) -> Differences:
    found = Differences(
        missing=[id_ for id_ in wanted if id_ not in held],
        orphaned=[id_ for id_ in held if id_ not in wanted],
    )
    for id_, row in wanted.items():
        point = held.get(id_)
        if point is None:
            continue
        if point.rev != row.rev:
            found.stale.append(id_)
            if point.rev > row.rev:
                found.ahead.append(id_)
        elif point.audience != row.audience:
            found.misplaced.append(id_)
    return found


def _active(session: Session, after: str, size: int) -> dict[str, Wanted]:
    query = (
        _columns()
        .where(col(MemoryRow.id) > after, col(MemoryStateRow.status) == Status.active.value)
        .order_by(col(MemoryRow.id))
        .limit(size)
    )
    return dict(map(_read, session.execute(query)))


def by_id(session: Session, ids: list[str]) -> dict[str, Wanted]:
    """Return what SQL says of memories, whatever their status."""
    return dict(map(_read, session.execute(_columns().where(col(MemoryRow.id).in_(ids)))))


def _columns() -> Any:
    memory, state = MemoryRow, MemoryStateRow
    return (
        select(  # type: ignore[call-overload] # SQLModel has overloads for four columns
            memory.id,
            state.pk,
            state.rev,
            state.status,
            memory.namespace,
            memory.user,
            memory.valid_to,
            MemoryOutboxRow.pk,
        )
        .join(state, col(state.pk) == col(memory.pk))
        .outerjoin(MemoryOutboxRow, col(MemoryOutboxRow.pk) == col(state.pk))
    )


def _read(row: tuple[str, int, int, str, str, str, datetime | None, int | None]) -> tuple[str, Wanted]:
    id_, pk, rev, status, namespace, user, valid_to, waiting = row
    seen_by = audience(namespace, user, past=valid_to is not None)
    return id_, Wanted(pk, rev, seen_by, status == Status.active.value, waiting is not None)
