"""Reads of memories: one, by ids, by keys, standing preferences, and pages; none crosses a namespace."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import select as columns  # SQLModel's knows four at most
from sqlmodel import Session, col, func, or_, select

from kernel.database import Database
from memory_service.domain import Memory, Status
from memory_service.tables import MemoryRow, MemoryStateRow
from memory_service.tastes import KEY

#: A cut id must still name one memory; 8 hex digits are 32 bits.
_ID = re.compile(r"[0-9a-f][0-9a-f\-]{7,35}")
PAGE_MAX = 1000
_STYLE = KEY.partition("{")[0]
_PREFERENCES_READ = 100


def to_memory(row: MemoryRow, state: MemoryStateRow) -> Memory:
    """Return the value of a row and its state."""
    return Memory(
        pk=state.pk,
        id=row.id,
        namespace=row.namespace,
        user=row.user,
        kind=row.kind,  # type: ignore[arg-type] # only candidates are stored, and they are checked
        key=row.key,
        text=row.text,
        context=row.context,
        slots=row.slots,
        tags=row.tags,
        source_kind=row.source_kind,  # type: ignore[arg-type] # as above
        source_ref=row.source_ref,
        trust=row.trust,
        content_hash=row.content_hash,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        recorded_at=row.recorded_at,
        status=Status(state.status),
        rev=state.rev,
        importance=state.importance,
        weight=state.weight,
        half_life_s=state.half_life_s,
        last_access_at=state.last_access_at,
        expires_at=state.expires_at,
    )


def _joined() -> Any:
    return select(MemoryRow, MemoryStateRow).where(col(MemoryRow.pk) == col(MemoryStateRow.pk))


def one(session: Session, namespace: str, memory_id: str) -> tuple[MemoryRow, MemoryStateRow] | None:
    """Return the memory of an id, or of the start of one, that is not deleted; None where it is not one."""
    if _ID.fullmatch(memory_id) is None:
        return None
    query = _joined().where(
        col(MemoryRow.namespace) == namespace,
        col(MemoryRow.id).startswith(memory_id, autoescape=True),
        col(MemoryStateRow.status) != Status.deleted.value,
    )
    found = session.exec(query.limit(2)).all()
    return (found[0][0], found[0][1]) if len(found) == 1 else None


def by_ids(database: Database, ids: Sequence[str]) -> dict[str, Memory]:
    """Return the memories of the ids, in one SELECT."""
    if not ids:
        return {}
    with database.reading() as session:
        return {
            row.id: to_memory(row, state)
            for row, state in session.exec(_joined().where(col(MemoryRow.id).in_(ids)))
        }


def by_keys(database: Database, namespace: str, user: str, hashes: Sequence[str]) -> list[Memory]:
    """Return the facts that have one of the keys, the longest key (the first hash) first.

    The status is not in the query, and the kind is hidden from the planner: SQLite, which knows nothing of how many
    rows have one value, would start from the indexes over them, which hold nearly every row.
    """
    if not hashes:
        return []
    query = _joined().where(
        col(MemoryRow.namespace) == namespace,
        col(MemoryRow.user).in_(["", user]),
        col(MemoryRow.kind).concat("") == "fact",
        col(MemoryRow.key_hash).in_(hashes),
    )
    with database.reading() as session:
        found = [(hashes.index(row.key_hash), to_memory(row, state)) for row, state in session.exec(query)]
    return [memory for _, memory in sorted(found, key=lambda pair: (pair[0], pair[1].id))]


def standing(database: Database, namespace: str, user: str, limit: int) -> list[Memory]:
    """Return the user's weightiest preferences among the newest: they hold whatever the question is.

    How reports are to be written comes first: every report is, whatever else its reader prefers.
    """
    # the few columns that decide, of all; whole rows, of the chosen alone: they cost fifty times as much
    newest = (
        columns(
            col(MemoryRow.pk),
            col(MemoryRow.key),
            col(MemoryStateRow.status),
            col(MemoryStateRow.importance),
            col(MemoryStateRow.weight),
        )
        .where(
            col(MemoryRow.pk) == col(MemoryStateRow.pk),
            col(MemoryRow.namespace) == namespace,
            col(MemoryRow.user).in_(["", user]),
            col(MemoryRow.kind) == "preference",
            col(MemoryRow.live),
        )
        .order_by(col(MemoryRow.pk).desc())
        .limit(_PREFERENCES_READ)
    )
    with database.reading() as session:
        told = [row for row in session.execute(newest) if row.status == Status.active.value]
        order = sorted(
            told, key=lambda row: (not row.key.startswith(_STYLE), -row.importance, -row.weight, row.pk)
        )
        best = [row.pk for row in order[:limit]]
        chosen = _joined().where(col(MemoryRow.pk).in_(best))
        found = {state.pk: to_memory(row, state) for row, state in session.exec(chosen)} if best else {}
    return [found[pk] for pk in best if pk in found]


def page(
    database: Database, namespace: str, *, limit: int, after: int, kinds: Sequence[str], at: datetime
) -> dict[str, Any]:
    """Return up to `limit` memories, newest first, below the cursor `after` (0: from the start)."""
    query = _joined().where(
        col(MemoryRow.namespace) == namespace, col(MemoryStateRow.status) != Status.deleted.value
    )
    if kinds:
        query = query.where(col(MemoryRow.kind).in_(kinds))
    with database.reading() as session:
        total = session.exec(select(func.count()).select_from(query.subquery())).one()
        below = query.where(or_(after == 0, col(MemoryRow.pk) < after)).order_by(col(MemoryRow.pk).desc())
        found = session.exec(below.limit(max(1, min(limit, PAGE_MAX)))).all()
    memories = [_listed(to_memory(row, state), state.tier, at) for row, state in found]
    more = len(found) == max(1, min(limit, PAGE_MAX))
    return {"memories": memories, "total": total, "next": found[-1][1].pk if found and more else None}


def _listed(memory: Memory, tier: str, at: datetime) -> dict[str, Any]:
    return {
        "id": memory.id,
        "kind": memory.kind,
        "key": memory.key,
        "text": memory.text,
        "status": memory.status.value,
        "tier": tier,
        "importance": round(memory.importance, 3),
        "weight": memory.weight,
        "source": memory.source_ref or memory.source_kind,
        "user": memory.user,
        "recorded_at": memory.recorded_at.isoformat(),
        "valid_to": memory.valid_to.isoformat() if memory.valid_to else None,
        "age_days": round((at - memory.recorded_at).total_seconds() / 86_400, 3),
    }
