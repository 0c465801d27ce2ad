"""How memories are erased: texts, vectors and words go, what was made of them too; a hash stays as a tombstone."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import String, bindparam, cast, delete, exists, text, update
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from kernel.database import UtcDateTime
from memory_service.audit import record
from memory_service.domain import Status
from memory_service.forgetting import archive, copies
from memory_service.forgetting.around import chunks, forget_around
from memory_service.forgetting.fading import NEVER
from memory_service.reading import one
from memory_service.tables import EmbedCacheRow, MemoryRow, MemoryStateRow

_BLANK = {
    **dict.fromkeys(("text", "context", "key", "key_hash", "source_ref", "session"), ""),
    "slots": {},
    "tags": [],
    "made_from": [],
    "live": False,
}
#: The job that erases a whole estate; its row stays, and says until when what it held counts as forgotten.
ESTATE = "estate"
_GONE = {"status": Status.deleted.value, "tier": "deleted", "next_transition_at": NEVER}


def estate_of(namespace: str, user: str | None) -> str:
    """Return the epoch under which the erasure of a namespace, or of one user in it, is noted."""
    return hashlib.sha256(json.dumps([namespace, user]).encode()).hexdigest()


def erase(session: Session, pks: Sequence[int], at: datetime, *, whole: bool = False) -> None:
    """Remove all text of memories; what stays of each is a tombstone with the hash of its content.

    `whole`: what stands around them goes too, and need not be mended first.
    """
    session.flush()
    if not whole:
        forget_around(session, pks, at)
    for some in chunks(pks):
        hashes = set(session.exec(select(MemoryRow.content_hash).where(col(MemoryRow.pk).in_(some))))
        unsynchronized = {"synchronize_session": False}
        blank = update(MemoryRow).where(col(MemoryRow.pk).in_(some)).values(_BLANK)
        session.execute(blank, execution_options=unsynchronized)
        gone = update(MemoryStateRow).where(col(MemoryStateRow.pk).in_(some))
        session.execute(
            gone.values({**_GONE, "rev": MemoryStateRow.rev + 1}), execution_options=unsynchronized
        )
        archive.drop(session, some)
        _drop_unsaid(session, hashes)
        _tell_relay(session, some, at)
    session.expire_all()


def forget(
    session: Session, namespace: str, memory_id: str, *, at: datetime, actor: str, reason: str
) -> str | None:
    """Erase a memory with all that says or holds the same; return its id, None where the namespace has none such."""
    found = family(session, namespace, memory_id)
    for row, state in found:
        record(
            session,
            at=at,
            actor=actor,
            action="forget",
            memory_id=row.id,
            namespace=namespace,
            before={"content": row.content_hash, "kind": row.kind, "status": state.status, "rev": state.rev},
            after={"status": Status.deleted.value, "rev": state.rev + 1, "with": found[0][0].id},
            reason=reason,
        )
    if not found:
        return None
    first = found[0][0].id
    since = min(row.recorded_at for row, _ in found).isoformat()
    ids = [row.id for row, _ in found]
    copies.note(session, first, {"namespace": namespace, "user": None, "ids": ids, "since": since}, at)
    erase(session, [state.pk for _, state in found], at)
    return first


def family(session: Session, namespace: str, memory_id: str) -> list[tuple[MemoryRow, MemoryStateRow]]:
    """Return a memory, what says the same to the same reader, and what was made of any of these; [] where none is.

    The same text in another namespace, or of another user, is that one's own memory and stays.
    """
    found = one(session, namespace, memory_id)
    if found is None:
        return []
    same = _kept(namespace).where(
        col(MemoryRow.user) == found[0].user,
        col(MemoryRow.content_hash) == found[0].content_hash,
        col(MemoryRow.pk) != found[0].pk,
    )
    all_ = [found, *((row, state) for row, state in session.exec(same))]
    known = {row.id for row, _ in all_}
    for row, _ in all_:  # grows while it is walked: a summary may have been summed up again
        made = _kept(namespace).where(
            cast(col(MemoryRow.made_from), String).contains(row.id, autoescape=True)
        )
        fresh = [(other, state) for other, state in session.exec(made) if other.id not in known]
        known |= {other.id for other, _ in fresh}
        all_ += fresh
    return all_


def _kept(namespace: str) -> Any:
    return select(MemoryRow, MemoryStateRow).where(
        col(MemoryRow.pk) == col(MemoryStateRow.pk),
        col(MemoryRow.namespace) == namespace,
        col(MemoryStateRow.status) != Status.deleted.value,
    )


def _drop_unsaid(session: Session, hashes: set[str]) -> None:
    """Delete the cached vectors of texts that no memory says any more."""
    twin = aliased(MemoryRow)
    said = exists().where(col(twin.content_hash) == col(EmbedCacheRow.content_hash), col(twin.text) != "")
    session.execute(
        delete(EmbedCacheRow).where(col(EmbedCacheRow.content_hash).in_(hashes), ~said),
        execution_options={"synchronize_session": False},
    )


_TELL = text(
    "INSERT INTO memory_outbox (pk, rev, enqueued_at, attempts, last_error) "
    "SELECT pk, rev, :at, 0, '' FROM memory_state WHERE pk IN :pks "
    "ON CONFLICT (pk) DO UPDATE SET rev = excluded.rev, enqueued_at = excluded.enqueued_at, attempts = 0"
).bindparams(bindparam("at", type_=UtcDateTime()), bindparam("pks", expanding=True))


def _tell_relay(session: Session, pks: Sequence[int], at: datetime) -> None:
    session.connection().execute(_TELL, {"at": at, "pks": list(pks)})
