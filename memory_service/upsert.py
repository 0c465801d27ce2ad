"""How a candidate becomes a row: insert, say again, replace, supersede or keep beside; and how a row is erased."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlalchemy import delete
from sqlmodel import Session, col, func, select

from memory_service.audit import record
from memory_service.domain import Candidate, Status, Upsert, decide
from memory_service.fading import NEVER, REINFORCEMENT, RETENTION_SECONDS, Fading, stage
from memory_service.gate import Verdict
from memory_service.reading import to_memory
from memory_service.tables import EmbedCacheRow, MemoryOutboxRow, MemoryRow, MemoryStateRow


@dataclass(frozen=True)
class Written:
    """What became of a candidate."""

    id: str
    outcome: Upsert | Literal["quarantine"]


def upsert(
    session: Session, candidate: Candidate, verdict: Verdict, at: datetime, actor: str, reason: str
) -> Written:
    quarantined = verdict == "quarantine"
    existing = _existing(session, candidate, quarantined=quarantined)
    before = to_memory(*existing) if existing else None
    outcome = decide(before, candidate)
    if quarantined and outcome != "touch":
        outcome = "insert"
    if existing is None or outcome in ("insert", "supersede", "history"):
        row = _insert(session, candidate, outcome, at, quarantined=quarantined, old=existing)
    else:
        row = existing[0]
        _tell_again(session, existing, candidate, at, replaced=outcome == "replace")
    record(
        session,
        at=at,
        actor=actor,
        action="quarantine" if quarantined else outcome,
        memory_id=row.id,
        namespace=candidate.namespace,
        before={"id": before.id, "content": before.content_hash, "rev": before.rev} if before else {},
        after={"content": candidate.content_hash, "kind": candidate.kind, "source": candidate.source_ref},
        reason=reason,
    )
    return Written(row.id, "quarantine" if quarantined else outcome)


def _existing(
    session: Session, candidate: Candidate, *, quarantined: bool
) -> tuple[MemoryRow, MemoryStateRow] | None:
    """Return the live memory of the key, or the one in quarantine (which holds no key: it must block nothing)."""
    query = (
        select(MemoryRow, MemoryStateRow)
        .where(col(MemoryRow.pk) == col(MemoryStateRow.pk))
        .where(
            col(MemoryRow.namespace) == candidate.namespace,
            col(MemoryRow.user) == candidate.user,
            col(MemoryRow.kind) == candidate.kind,
            col(MemoryRow.key_hash) == candidate.key_hash,
        )
    )
    if quarantined:
        query = query.where(
            col(MemoryStateRow.status) == Status.quarantined.value,
            col(MemoryRow.content_hash) == candidate.content_hash,
        )
    else:
        query = query.where(col(MemoryRow.live))
    return session.exec(query).first()


def _insert(
    session: Session,
    candidate: Candidate,
    outcome: Upsert,
    at: datetime,
    *,
    quarantined: bool,
    old: tuple[MemoryRow, MemoryStateRow] | None,
) -> MemoryRow:
    beside = outcome == "history" or quarantined
    row = MemoryRow(
        id=str(uuid.uuid4()),
        live=not beside,
        valid_from=candidate.valid_from or at,
        valid_to=at if outcome == "history" else candidate.valid_to,
        recorded_at=at,
        key_hash=candidate.key_hash,
        content_hash=candidate.content_hash,
        trust=candidate.trust,
        **candidate.model_dump(include=_COPIED),
    )
    if outcome == "supersede" and old is not None:
        _close(session, old, row.id, at)
    elif outcome == "history" and old is not None:
        row.superseded_by = old[0].id
    session.add(row)
    session.flush()
    assert row.pk is not None
    state = _first_state(row.pk, candidate, at)
    if beside:
        state.status = (Status.quarantined if quarantined else Status.archived).value
        state.tier, state.next_transition_at = "archived", at.timestamp() + RETENTION_SECONDS
    changed(session, state, at)
    return row


def _first_state(pk: int, candidate: Candidate, at: datetime) -> MemoryStateRow:
    return MemoryStateRow(
        pk=pk,
        status=Status.active.value,
        tier="hot",
        next_transition_at=NEVER,
        importance=candidate.importance,
        emotion=candidate.emotion,
        half_life_s=candidate.half_life_seconds,
        last_access_at=at.timestamp(),
        expires_at=candidate.expires_at.timestamp() if candidate.expires_at else None,
        rev=0,
    )


_COPIED = {
    *("namespace", "user", "owner", "kind", "key", "text", "context", "slots", "tags"),
    *("source_kind", "source_ref", "session", "made_from"),
}


def _close(session: Session, old: tuple[MemoryRow, MemoryStateRow], new_id: str, at: datetime) -> None:
    row, state = old
    row.live, row.valid_to, row.superseded_by = False, at, new_id
    changed(session, state, at)
    session.flush()  # the key must be free before the new row takes it


def _tell_again(
    session: Session,
    existing: tuple[MemoryRow, MemoryStateRow],
    candidate: Candidate,
    at: datetime,
    *,
    replaced: bool,
) -> None:
    row, state = existing
    if candidate.source_ref != row.source_ref:  # the same source saying it twice is no corroboration
        state.importance = max(state.importance, candidate.importance)
        state.importance += REINFORCEMENT * (1 - state.importance)
    if replaced:
        _drop_vectors(session, row)
        row.text, row.content_hash, row.trust = candidate.text, candidate.content_hash, candidate.trust
        row.source_kind, row.tags = candidate.source_kind, candidate.tags
    row.slots = {**row.slots, **{name: value for name, value in candidate.slots.items() if value}}
    row.source_ref = candidate.source_ref or row.source_ref
    state.weight += 1
    state.last_access_at = max(state.last_access_at, at.timestamp())
    if state.status == Status.archived.value:  # what is told again comes back
        state.status = Status.active.value
    changed(session, state, at)


def changed(session: Session, state: MemoryStateRow, at: datetime) -> None:
    """Set revision and stage after a change, and ask the relay to look."""
    state.rev += 1
    if state.status == Status.active.value:
        now_at = stage(fading_of(state), at.timestamp())
        state.status, state.tier, state.next_transition_at = now_at.status.value, now_at.tier, now_at.next_at
    session.add(state)
    enqueue(session, state.pk, state.rev, at)


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


def enqueue(session: Session, pk: int, rev: int, at: datetime) -> None:
    """Ask the relay to look at a memory; entries of one memory coalesce."""
    session.merge(MemoryOutboxRow(pk=pk, rev=rev, enqueued_at=at, attempts=0, last_error=""))


def erase(session: Session, row: MemoryRow, state: MemoryStateRow, at: datetime) -> None:
    """Remove all text of a memory; what stays is a tombstone with the hash of its content."""
    _drop_vectors(session, row)
    row.text = row.context = row.key = row.key_hash = row.source_ref = row.session = ""
    row.slots, row.tags, row.made_from, row.live = {}, [], [], False
    state.status, state.tier, state.next_transition_at = Status.deleted.value, "deleted", NEVER
    session.add(row)
    changed(session, state, at)


def _drop_vectors(session: Session, row: MemoryRow) -> None:
    """Delete the cached vectors of a text that is about to go, unless another memory says the same."""
    twins = select(func.count()).where(
        col(MemoryRow.content_hash) == row.content_hash,
        col(MemoryRow.pk) != row.pk,
        col(MemoryRow.text) != "",
    )
    if session.exec(twins).one() == 0:
        session.execute(delete(EmbedCacheRow).where(col(EmbedCacheRow.content_hash) == row.content_hash))
