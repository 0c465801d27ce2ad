"""The audit of memories: rows are only ever added, each hashed with the one before."""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import JSON, bindparam, text
from sqlmodel import Session, col, select

from kernel.database import Database, UtcDateTime
from memory_service.tables import JobRunRow, MemoryAuditRow


def record(
    session: Session,
    *,
    at: datetime,
    actor: str,
    action: str,
    memory_id: str = "",
    namespace: str = "",
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
    reason: str = "",
) -> None:
    """Add a row inside the transaction of the change it tells of."""
    take_turn(session)
    row = MemoryAuditRow(
        at=at,
        actor=actor,
        action=action,
        memory_id=memory_id,
        namespace=namespace,
        before=before or {},
        after=after or {},
        reason=reason,
        previous_hash=_last_hash(session),
        hash="",
    )
    row.hash = _hash(row)
    session.add(row)
    session.flush()
    head = {"job": HEAD, "counts": {"seq": row.seq, "hash": row.hash}, "at": at}
    session.connection().execute(_NOTE_HEAD, head)


def take_turn(session: Session) -> None:
    """Wait until no other writer of the chain is under way, and be the only one until this transaction ends.

    SQLite has one writer at a time; on PostgreSQL a lock makes them take turns. Whoever reads what it is about to
    change calls this first: then nobody else changes it in between.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.connection().exec_driver_sql(f"SELECT pg_advisory_xact_lock({_CHAIN_LOCK})")


@dataclass(frozen=True)
class Verified:
    """How far the chain was followed: the first broken row with the reason, or where to go on (None: it is whole)."""

    checked: int
    broken: int | None = None
    why: str = ""
    after: tuple[int, str] | None = None


def verify(database: Database, after: tuple[int, str] = (0, ""), *, most: int) -> Verified:
    """Follow the chain for up to `most` rows behind a row whose hash is known; holds a thousand rows at a time."""
    (seq, previous), checked = after, 0
    with database.reading() as session:
        if not database.is_sqlite:  # rows and their head as of one moment: others write meanwhile
            session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        rows = select(MemoryAuditRow).where(col(MemoryAuditRow.seq) > seq).order_by(col(MemoryAuditRow.seq))
        with closing(session.exec(rows.limit(most).execution_options(yield_per=_ROWS))) as found:
            for row in found:
                if row.previous_hash != previous:
                    return Verified(checked, row.seq, "the row before it was changed or is gone")
                if row.hash != _hash(row):
                    return Verified(checked, row.seq, "the row was changed")
                seq, previous, checked = row.seq or 0, row.hash, checked + 1
                session.expunge(row)
        if checked == most:
            return Verified(checked, after=(seq, previous))
        head = session.get(JobRunRow, (HEAD, "newest"))
    if head is None:
        return Verified(checked, seq, "the note of the newest row is gone") if seq else Verified(checked)
    if (head.counts["seq"], head.counts["hash"]) != (seq, previous):
        return Verified(checked, seq + 1, "rows after this place are gone")
    return Verified(checked)


def broken_link(database: Database) -> int | None:
    """Return the number of the first row that was changed, lost its predecessor or is gone; None: all is whole."""
    found = verify(database, most=_CHUNK)
    while found.after is not None:
        found = verify(database, found.after, most=_CHUNK)
    return found.broken


def entries(
    database: Database, namespace: str, *, memory: tuple[str, int] | None, before: int, limit: int
) -> list[MemoryAuditRow]:
    """Return rows of a namespace, the newest first, below the number `before` (0: from the newest).

    Of one memory (its id and number) the nights that moved it too: these rows belong to no namespace.
    """
    query = select(MemoryAuditRow).order_by(col(MemoryAuditRow.seq).desc())
    if before:
        query = query.where(col(MemoryAuditRow.seq) < before)
    of = col(MemoryAuditRow.namespace) == namespace
    if memory is not None:
        query = query.where(
            (of & (col(MemoryAuditRow.memory_id) == memory[0])) | (col(MemoryAuditRow.action) == "decay")
        )
    else:
        query = query.where(of)
    found: list[MemoryAuditRow] = []
    with (
        database.reading() as session,
        closing(session.exec(query.execution_options(yield_per=_ROWS))) as rows,
    ):
        for row in rows:
            session.expunge(row)
            if row.action == "decay" and memory is not None:
                moved = [name for name, pks in row.after.items() if memory[1] in pks]
                if not moved:
                    continue
                row.after = {"status": moved[0]}  # the numbers of others are none of this memory's business
            found.append(row)
            if len(found) == limit:
                break
    return found


#: Under this job the newest row is noted in a second place: that the last rows were removed is seen by it.
HEAD = "audit-head"
#: Rows held at a time, and those followed in one go.
_ROWS, _CHUNK = 1000, 100_000
#: Any fixed number; names the lock of this chain among PostgreSQL's advisory locks.
_CHAIN_LOCK = 7_304_001
_NEWEST = text("SELECT hash FROM memory_audit ORDER BY seq DESC LIMIT 1")
_NOTE_HEAD = text(
    "INSERT INTO job_run (job, epoch, state, cursor, counts, holder, lease_until, started_at) "
    "VALUES (:job, 'newest', 'done', '', :counts, '', 0, :at) "
    "ON CONFLICT (job, epoch) DO UPDATE SET counts = excluded.counts, started_at = excluded.started_at"
).bindparams(bindparam("counts", type_=JSON), bindparam("at", type_=UtcDateTime()))


def _last_hash(session: Session) -> str:
    session.flush()
    return str(session.connection().execute(_NEWEST).scalar() or "")


def _hash(row: MemoryAuditRow) -> str:
    told = [
        row.previous_hash,
        row.at.isoformat(),
        row.actor,
        row.action,
        row.memory_id,
        row.namespace,
        row.before,
        row.after,
        row.reason,
    ]
    return hashlib.sha256(json.dumps(told, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
