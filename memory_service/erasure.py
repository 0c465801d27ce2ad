"""How memories are erased: texts, vectors and words go, what was made of them too; a hash stays as a tombstone."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete
from sqlmodel import Session, col, func, select

from memory_service.domain import Status
from memory_service.fading import NEVER
from memory_service.state import changed
from memory_service.tables import EmbedCacheRow, MemoryRow, MemoryStateRow


def erase(session: Session, row: MemoryRow, state: MemoryStateRow, at: datetime) -> None:
    """Remove all text of a memory; what stays is a tombstone with the hash of its content."""
    drop_vectors(session, row)
    row.text = row.context = row.key = row.key_hash = row.source_ref = row.session = ""
    row.slots, row.tags, row.made_from, row.live = {}, [], [], False
    state.status, state.tier, state.next_transition_at = Status.deleted.value, "deleted", NEVER
    session.add(row)
    changed(session, state, at)


def drop_vectors(session: Session, row: MemoryRow) -> None:
    """Delete the cached vectors of a text that is about to go, unless another memory says the same."""
    twins = select(func.count()).where(
        col(MemoryRow.content_hash) == row.content_hash,
        col(MemoryRow.pk) != row.pk,
        col(MemoryRow.text) != "",
    )
    if session.exec(twins).one() == 0:
        session.execute(delete(EmbedCacheRow).where(col(EmbedCacheRow.content_hash) == row.content_hash))
