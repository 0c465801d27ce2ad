"""Reads of memories: one, by ids, by keys, standing preferences, and pages; none crosses a namespace."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from sqlalchemy import String, and_, bindparam, case, cast
from sqlalchemy import select as columns  # SQLModel's knows four at most
from sqlmodel import Session, SQLModel, col, func, or_, select

from kernel.database import Database
from memory_service.domain import Memory, Status
from memory_service.learning.tastes import KEY
from memory_service.tables import MemoryRow, MemoryStateRow

#: A cut id must still name one memory; 8 hex digits are 32 bits.
_ID = re.compile(r"[0-9a-f][0-9a-f\-]{7,35}")
PAGE_MAX = 1000
_STYLE = KEY.partition("{")[0]
_PREFERENCES_READ = 100
#: A language and a length, of everybody and of the user.
_STYLES_READ = 4
#: The outbox is empty but for moments, unless the embedder is away: then it need not be read to its end.
_WAITING_READ = 500


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
        found = session.connection().execute(_BY_IDS, {"ids": list(ids)})
        return {memory.id: memory for memory in map(memory_of, found)}


@dataclass(frozen=True)
class LookedUp:
    """What of an answer needs no ranking; `waits`: a memory of the namespace may not be in the index yet."""

    facts: list[Memory]
    preferences: list[Memory]
    waits: bool


def looked_up(
    database: Database, namespace: str, user: str, *, hashes: Sequence[str], preferences: int
) -> LookedUp:
    """Return the facts of the keys, those of the longest key (the first hash) first, and so many preferences.

    Preferences are the user's weightiest among the newest: they hold whatever the question is. How reports are to be
    written comes first and takes no place of another: every report is written, whatever else its reader prefers.
    """
    asked = {"namespace": namespace, "users": sorted({"", user})}
    with database.reading() as session:
        connection = session.connection()
        queue = connection.execute(_WAITING).scalars().all()
        keyed = connection.execute(_BY_KEYS, {**asked, "hashes": list(hashes)}).all() if hashes else []
        weightiest = {**asked, "most": preferences + _STYLES_READ}
        preferred = connection.execute(_PREFERRED, weightiest).all() if preferences else []
        styles = sum(row.key.startswith(_STYLE) for row in preferred)
        facts = sorted(keyed, key=lambda row: (hashes.index(row.key_hash), row.id))
        return LookedUp(
            facts=[memory_of(row) for row in facts],
            preferences=[memory_of(row) for row in preferred[: styles + preferences]],
            # where very many wait, one of this namespace may
            waits=namespace in queue or len(queue) == _WAITING_READ,
        )


def memory_of(row: Any) -> Memory:
    """Return the value of a row of COLUMNS."""
    told = dict(zip(_FIELDS, row, strict=False))  # the hash of the key stands behind them
    return Memory(**told | {"status": Status(told["status"])})


_M, _S = SQLModel.metadata.tables["memory"].c, SQLModel.metadata.tables["memory_state"].c
#: What a Memory is made of, and the hash of its key, as columns: the objects of two rows cost three times as much.
_FIELDS = [field.name for field in fields(Memory)]
COLUMNS = [*(_M[name] if name in _M else _S[name] for name in _FIELDS), _M.key_hash]
_WHOLE = columns(*COLUMNS).where(_M.pk == _S.pk)
_QUEUE = columns(SQLModel.metadata.tables["memory_outbox"].c.pk).limit(_WAITING_READ).subquery()
_WAITING = columns(_M.namespace).join(_QUEUE, _QUEUE.c.pk == _M.pk)
_BY_IDS = _WHOLE.where(_M.id.in_(bindparam("ids", expanding=True)))
_MINE = and_(_M.namespace == bindparam("namespace"), _M.user.in_(bindparam("users", expanding=True)))
# The status is not in the query, and the kind is hidden from the planner: SQLite, which knows nothing of how many
# rows have one value, would start from the indexes over them, which hold nearly every row.
_BY_KEYS = _WHOLE.where(
    _MINE, _M.kind.concat("") == "fact", _M.key_hash.in_(bindparam("hashes", expanding=True))
)


def _weightiest(of: Any, state: Any) -> list[Any]:
    style = func.substr(of.key, 1, len(_STYLE)) == _STYLE
    return [case((style, 0), else_=1), state.importance.desc(), state.weight.desc(), of.pk]


# the few columns that decide, of all; whole rows, of the chosen alone: they cost fifty times as much
_NEWEST = (
    columns(_M.pk, _M.key, _S.status, _S.importance, _S.weight)
    .where(_M.pk == _S.pk, _MINE, _M.kind == "preference", _M.live)
    .order_by(_M.pk.desc())
    .limit(_PREFERENCES_READ)
    .subquery()
)
_CHOSEN = (
    columns(_NEWEST.c.pk)
    .where(_NEWEST.c.status == Status.active.value)
    .order_by(*_weightiest(_NEWEST.c, _NEWEST.c))
    .limit(bindparam("most"))
)
_PREFERRED = _WHOLE.where(_M.pk.in_(_CHOSEN)).order_by(*_weightiest(_M, _S))


def page(
    database: Database,
    namespace: str,
    *,
    limit: int,
    after: int,
    kinds: Sequence[str],
    at: datetime,
    tags: Sequence[str] = (),
) -> dict[str, Any]:
    """Return up to `limit` memories, newest first, below the cursor `after` (0: from the start)."""
    query = _joined().where(
        col(MemoryRow.namespace) == namespace, col(MemoryStateRow.status) != Status.deleted.value
    )
    if kinds:
        query = query.where(col(MemoryRow.kind).in_(kinds))
    for tag in tags:  # in both engines a list is kept as the text of its JSON
        query = query.where(cast(col(MemoryRow.tags), String).contains(json.dumps(tag), autoescape=True))
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
        "tags": memory.tags,
        "recorded_at": memory.recorded_at.isoformat(),
        "valid_to": memory.valid_to.isoformat() if memory.valid_to else None,
        "age_days": round((at - memory.recorded_at).total_seconds() / 86_400, 3),
    }
