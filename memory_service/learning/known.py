"""What is known already of a candidate, read inside its write: the memory of its key, its like, its past, its grave."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, func, select

from memory_service.domain import Candidate, Status
from memory_service.forgetting.erasure import ESTATE, estate_of
from memory_service.learning.near import LOOK_BACK, Telling
from memory_service.tables import JobRunRow, MemoryAuditRow, MemoryRow, MemoryStateRow

#: A row with its state.
Pair = tuple[MemoryRow, MemoryStateRow]


def holding(session: Session, candidate: Candidate, *, quarantined: bool) -> Pair | None:
    """Return the live memory of the key, or the one in quarantine (which holds no key: it must block nothing).

    An episode is also held by one that tells of the same in slightly other words.
    """
    if quarantined:
        waiting: Pair | None = session.exec(
            _of_key(candidate).where(
                col(MemoryStateRow.status) == Status.quarantined.value,
                col(MemoryRow.content_hash) == candidate.content_hash,
            )
        ).first()
        return waiting
    found: Pair | None = session.exec(_of_key(candidate).where(col(MemoryRow.live))).first()
    if found is None and candidate.kind == "episode" and not candidate.key:
        return _near(session, candidate)
    return found


def versions(session: Session, candidate: Candidate) -> Sequence[Pair]:
    """Return all that was ever in force under the key, the earliest first."""
    active = _of_key(candidate).where(col(MemoryStateRow.status) == Status.active.value)
    found: Sequence[Pair] = session.exec(active.order_by(col(MemoryRow.valid_from), col(MemoryRow.pk))).all()
    return found


def tellings(session: Session, memory_id: str, candidate: Candidate) -> int:
    """Return how often this very source has told a memory before: only other sources corroborate it.

    What a person stated in a run and what a model read out of that same run are one source.
    """
    after: Any = col(MemoryAuditRow.after)
    query = select(func.count()).where(
        col(MemoryAuditRow.memory_id) == memory_id, after["source"].as_string() == candidate.source_ref
    )
    if not candidate.source_ref:
        query = query.where(after["source_kind"].as_string() == candidate.source_kind)
    return session.exec(query).one()


def forgotten(session: Session, candidate: Candidate, told_at: datetime, *, taken_in: bool = False) -> bool:
    """Return whether this was forgotten on purpose and is not said anew by a person since.

    What has only faded leaves no row in the audit that names it, and may be learnt again. `taken_in`: from a file,
    which is the one way back of what was erased as a whole.
    """
    graves = (
        select(MemoryRow.id)
        .where(col(MemoryRow.pk) == col(MemoryStateRow.pk))
        .where(
            col(MemoryRow.content_hash) == candidate.content_hash,
            col(MemoryRow.namespace) == candidate.namespace,
            col(MemoryRow.user) == candidate.user,
            col(MemoryStateRow.status) == Status.deleted.value,
        )
    )
    ids = session.exec(graves).all()
    if not ids:
        return False
    after: Any = col(MemoryAuditRow.after)
    one_by_one = select(func.max(MemoryAuditRow.at)).where(
        col(MemoryAuditRow.memory_id).in_(ids), after["status"].as_string() == Status.deleted.value
    )
    told: list[datetime | None] = [session.exec(one_by_one).one()]  # of no rows the maximum is None
    if not taken_in:  # of what was erased whole the audit has no row for each memory
        whose = [estate_of(candidate.namespace, user) for user in (None, candidate.user)]
        whole: Any = select(JobRunRow.ended_at).where(
            JobRunRow.job == ESTATE, col(JobRunRow.epoch).in_(whose)
        )
        told += session.exec(whole)
    when = max((moment for moment in told if moment is not None), default=None)
    return when is not None and (candidate.source_kind != "user" or told_at < when)


def _of_key(candidate: Candidate) -> Any:
    return (
        select(MemoryRow, MemoryStateRow)
        .where(col(MemoryRow.pk) == col(MemoryStateRow.pk))
        .where(
            col(MemoryRow.namespace) == candidate.namespace,
            col(MemoryRow.user) == candidate.user,
            col(MemoryRow.kind) == candidate.kind,
            col(MemoryRow.key_hash) == candidate.key_hash,
        )
    )


def _near(session: Session, candidate: Candidate) -> Pair | None:
    # the texts alone first: the objects of two hundred pairs of rows cost more than to compare them
    query = (
        select(MemoryRow.pk, MemoryRow.text)
        .where(
            col(MemoryRow.namespace) == candidate.namespace,
            col(MemoryRow.kind) == candidate.kind,
            col(MemoryRow.user) == candidate.user,
            col(MemoryRow.live),
            col(MemoryRow.key) == "",
        )
        .order_by(col(MemoryRow.pk).desc())
        .limit(LOOK_BACK)
    )
    telling = Telling(candidate.text)
    found = next((pk for pk, text in session.exec(query).all() if telling.alike(text)), None)
    row, state = (
        (session.get(MemoryRow, found), session.get(MemoryStateRow, found)) if found else (None, None)
    )
    return (row, state) if row is not None and state is not None else None
