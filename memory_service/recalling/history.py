"""Looking at what is stored, not at what is served: all versions of a fact, and one memory with all its fields."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sqlmodel import Session, col, or_, select

from kernel import clock
from kernel.contracts import Value
from kernel.database import Database
from kernel.errors import Correctable
from memory_service.domain import Status, check_name, key_hash
from memory_service.forgetting.fading import strength
from memory_service.reading import one
from memory_service.state import fading_of
from memory_service.tables import MemoryRow, MemoryStateRow

#: More versions than a person reads; a key that changes more often is a metric, not a memory.
VERSIONS_MOST = 200
_RUN = "run:"

Found = tuple[MemoryRow, MemoryStateRow]


class Looking(Value):
    """Which memory to look at: `of` is an id, the start of one, or a key; without a user, everybody's."""

    of: str
    namespace: str = "default"
    user: str | None = None


class History:
    """Reads for people; nothing here strengthens a memory, and no read crosses a namespace."""

    def __init__(self, database: Database, now: Callable[[], datetime] = clock.now) -> None:
        self._database = database
        self._now = now

    def versions(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return `{"key", "versions"}`: what was held of a key or an id, newest first; forgotten texts are gone."""
        asked = _read(question)
        with self._database.reading() as session:
            found = one(session, asked.namespace, asked.of)
            rows = _of_row(session, found[0]) if found else _of_key(session, asked)
        key = next((row.key for row, _ in rows if row.key), "" if found else asked.of)
        return {"key": key, "versions": [_version(*version) for version in rows]}

    def show(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return `{"memory"}`: every field of one memory, how strong it is now and which run it comes from, or None."""
        asked = _read(question)
        with self._database.reading() as session:
            found = one(session, asked.namespace, asked.of)
            return {"memory": _shown(*found, self._now()) if found else None}


def _read(question: dict[str, Any]) -> Looking:
    fields = {name: value for name, value in question.items() if value is not None}
    unknown = sorted(set(fields) - set(Looking.model_fields))
    if unknown or not all(isinstance(value, str) for value in fields.values()) or not fields.get("of"):
        why = f"unknown: {', '.join(unknown)}" if unknown else "no id or key was given, or it is no text"
        raise Correctable("the question cannot be read", why=why, next_step="Give an id or a key.")
    asked = Looking(**fields)
    check_name("the namespace", asked.namespace)
    check_name("the key or id", asked.of)
    return asked


def _of_row(session: Session, row: MemoryRow) -> list[Found]:
    same = (MemoryRow.kind == row.kind, MemoryRow.user == row.user)
    return _held(session, row.namespace, row.key_hash, *same)


def _of_key(session: Session, asked: Looking) -> list[Found]:
    mine = () if asked.user is None else (or_(MemoryRow.user == "", MemoryRow.user == asked.user),)
    return _held(session, asked.namespace, key_hash(asked.of), *mine)


def _held(session: Session, namespace: str, hashed: str, *more: Any) -> list[Found]:
    query = (
        select(MemoryRow, MemoryStateRow)
        .where(
            col(MemoryRow.pk) == col(MemoryStateRow.pk),
            col(MemoryRow.key_hash) == hashed,
            col(MemoryRow.namespace) == namespace,
            col(MemoryStateRow.status) != Status.deleted.value,
            *more,
        )
        # the one in force first; then by when it became true, and of two at once the later told
        .order_by(col(MemoryRow.live).desc(), col(MemoryRow.valid_from).desc(), col(MemoryRow.pk).desc())
    )
    return [(row, state) for row, state in session.exec(query.limit(VERSIONS_MOST))]


def _version(row: MemoryRow, state: MemoryStateRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "kind": row.kind,
        "user": row.user,
        "text": row.text,
        "status": state.status,
        "in_force": row.live,
        "valid_from": row.valid_from.isoformat(),
        "valid_to": row.valid_to.isoformat() if row.valid_to else None,
        "recorded_at": row.recorded_at.isoformat(),
        "trust": row.trust,
        "source_kind": row.source_kind,
        "source": row.source_ref or row.source_kind,
        "superseded_by": row.superseded_by or None,
    }


def _shown(row: MemoryRow, state: MemoryStateRow, at: datetime) -> dict[str, Any]:
    return {
        **_version(row, state),
        "namespace": row.namespace,
        "owner": row.owner,
        "key": row.key,
        "slots": row.slots,
        "tags": row.tags,
        "session": row.session,
        "run": row.source_ref.removeprefix(_RUN).partition(":")[0]
        if row.source_ref.startswith(_RUN)
        else None,
        "made_from": row.made_from,
        "tier": state.tier,
        "strength": round(strength(fading_of(state), at.timestamp()), 4),
        "importance": round(state.importance, 4),
        "emotion": state.emotion,
        "weight": state.weight,
        "access_count": state.access_count,
        "half_life_days": round(state.half_life_s / 86_400, 2),
        "last_access_at": _moment(state.last_access_at),
        "expires_at": _moment(state.expires_at),
        "changes": _moment(state.next_transition_at),
        "revision": state.rev,
        "content_hash": row.content_hash,
    }


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()
