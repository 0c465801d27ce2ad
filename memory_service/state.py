"""The state of a memory after a change: its revision and stage, its words in the archive, the note to the relay."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import bindparam, text
from sqlmodel import Session

from kernel.database import UtcDateTime
from memory_service.audit import record
from memory_service.domain import Status
from memory_service.forgetting import archive
from memory_service.forgetting.fading import Fading, stage
from memory_service.tables import MemoryRow, MemoryStateRow

# a late note never hides that something newer waits
_ENQUEUE = text(
    "INSERT INTO memory_outbox (pk, rev, enqueued_at, attempts, last_error) VALUES (:pk, :rev, :at, 0, '') "
    "ON CONFLICT (pk) DO UPDATE SET enqueued_at = excluded.enqueued_at, attempts = 0, last_error = '', "
    "rev = CASE WHEN excluded.rev > memory_outbox.rev THEN excluded.rev ELSE memory_outbox.rev END"
).bindparams(bindparam("at", type_=UtcDateTime()))


def changed(session: Session, state: MemoryStateRow, at: datetime) -> None:
    """Set revision and stage after a change, and ask the relay to look.

    What is archived has its words in the archive, and nothing else has: both change in this transaction.
    """
    state.rev += 1
    if state.status == Status.active.value:
        now_at = stage(fading_of(state), at.timestamp())
        state.status, state.tier, state.next_transition_at = now_at.status.value, now_at.tier, now_at.next_at
    session.add(state)
    if state.status == Status.archived.value:
        archive.keep(session, [state.pk])
    else:
        archive.drop(session, [state.pk])
    enqueue(session, [(state.pk, state.rev)], at)


def restore(
    session: Session, row: MemoryRow, state: MemoryStateRow, *, at: datetime, actor: str, reason: str
) -> None:
    """Bring a memory back from the archive; the caller has said what makes it strong enough to stay."""
    before = {"status": state.status, "rev": state.rev, "importance": state.importance}
    state.status = Status.active.value
    changed(session, state, at)
    record(
        session,
        at=at,
        actor=actor,
        action="restored",
        memory_id=row.id,
        namespace=row.namespace,
        before=before,
        after={"status": state.status, "rev": state.rev, "tier": state.tier},
        reason=reason,
    )


def cited_again(session: Session, state: MemoryStateRow, at: datetime) -> None:
    """Take note that an answer cited a memory and made it stronger: one that was archived comes back."""
    row = session.get(MemoryRow, state.pk)
    if row is not None and state.status == Status.archived.value and row.live:
        restore(session, row, state, at=at, actor="reinforce", reason="cited from the archive")
    else:
        changed(session, state, at)


def fading_of(state: MemoryStateRow) -> Fading:
    """Return all that the strength of a memory depends on."""
    return Fading(
        importance=state.importance,
        weight=state.weight,
        emotion=state.emotion,
        access_count=state.access_count,
        half_life=state.half_life_s,
        last_access=state.last_access_at,
        expires=state.expires_at,
    )


def enqueue(session: Session, behind: Sequence[tuple[int, int]], at: datetime) -> None:
    """Ask the relay to look at memories (pk and revision); entries of one memory coalesce.

    It is one statement: a merge reads first, and on PostgreSQL the relay may take the entry away before it writes.
    """
    if behind:
        session.connection().execute(_ENQUEUE, [{"pk": pk, "rev": rev, "at": at} for pk, rev in behind])
