"""The audit of memories: rows are only ever added, each hashed with the one before."""

from __future__ import annotations

import hashlib
import json
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, select

from kernel.database import Database
from memory_service.tables import MemoryAuditRow


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


def take_turn(session: Session) -> None:
    """Wait until no other writer of the chain is under way, and be the only one until this transaction ends.

    SQLite has one writer at a time; on PostgreSQL a lock makes them take turns. Whoever reads what it is about to
    change calls this first: then nobody else changes it in between.
    """
    if session.get_bind().dialect.name == "postgresql":
        session.connection().exec_driver_sql(f"SELECT pg_advisory_xact_lock({_CHAIN_LOCK})")


def broken_link(database: Database) -> int | None:
    """Return the number of the first row that was changed or lost its predecessor, or None."""
    previous = ""
    with database.reading() as session:
        for row in session.exec(select(MemoryAuditRow).order_by(col(MemoryAuditRow.seq))).yield_per(1000):
            if row.previous_hash != previous or row.hash != _hash(row):
                return row.seq
            previous = row.hash
    return None


#: Any fixed number; names the lock of this chain among PostgreSQL's advisory locks.
_CHAIN_LOCK = 7_304_001


def _last_hash(session: Session) -> str:
    newest = select(MemoryAuditRow.hash).order_by(col(MemoryAuditRow.seq).desc()).limit(1)
    return session.exec(newest).first() or ""


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
