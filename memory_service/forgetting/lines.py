"""One memory as a line of an export, and what becomes of a line that is taken in."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime
from typing import Any, Literal

from pydantic import AwareDatetime, Field
from sqlalchemy import or_
from sqlmodel import Session, col, select

from memory_service.domain import Candidate, Status, decide
from memory_service.forgetting.fading import RETENTION_SECONDS
from memory_service.learning.gate import doubtful
from memory_service.learning.known import forgotten, holding
from memory_service.reading import to_memory
from memory_service.state import changed
from memory_service.tables import MemoryAuditRow, MemoryRow, MemoryStateRow

#: Columns that a line has as they are.
_OF_ROW = {
    *(
        "id",
        "user",
        "owner",
        "kind",
        "key",
        "text",
        "context",
        "slots",
        "tags",
        "live",
        "source_kind",
        "source_ref",
    ),
    *("session", "made_from", "superseded_by"),
}
_OF_STATE = {"status", "importance", "emotion", "weight", "access_count"}
_DAY = 86_400.0

Became = Literal["new", "known", "kept as history", "forgotten"]


class Line(Candidate):
    """A memory with all that it is made of; a candidate with its past."""

    id: uuid.UUID
    live: bool
    superseded_by: str = ""
    status: Literal["active", "archived", "quarantined"]
    weight: int = Field(ge=1)
    access_count: int = Field(ge=0)
    half_life_days: float = Field(gt=0, le=36_500)
    last_access_at: AwareDatetime
    valid_from: AwareDatetime
    recorded_at: AwareDatetime


def line_of(row: MemoryRow, state: MemoryStateRow) -> str:
    """Return a memory as one line of JSON: every moment with its zone, history included, no vector."""
    told: dict[str, Any] = {
        **row.model_dump(include=_OF_ROW),
        **state.model_dump(include=_OF_STATE),
        "half_life_days": state.half_life_s / _DAY,
        "last_access_at": _moment(state.last_access_at),
        "expires_at": _moment(state.expires_at) if state.expires_at is not None else None,
        "valid_from": row.valid_from.isoformat(),
        "valid_to": row.valid_to.isoformat() if row.valid_to else None,
        "recorded_at": row.recorded_at.isoformat(),
    }
    return json.dumps(told, ensure_ascii=False, sort_keys=True)


def read_line(told: Any, namespace: str) -> Line:
    """Read a line; raise ValueError. The namespace is that of the import: one that the line names is refused."""
    if not isinstance(told, dict) or "namespace" in told:
        raise ValueError("it is not a memory as `nightdesk memory export` writes it")
    return Line.model_validate({**told, "namespace": namespace})


def reviewed(session: Session, line: Line) -> Line:
    """Return a line that holds, or waits where the gate would have a person look at it.

    A file may have been written by anybody. That a person has accepted these very words in this namespace is told by
    the audit, which no file can write; of several judgements the last counts. Nothing else that the gate says is asked:
    importing is a person's act, and what the file holds was worth keeping.
    """
    if line.status == Status.quarantined.value or not doubtful(line):
        return line
    same = select(MemoryRow.id).where(
        col(MemoryRow.content_hash) == line.content_hash, col(MemoryRow.namespace) == line.namespace
    )
    judged = (
        select(MemoryAuditRow.action)
        .where(col(MemoryAuditRow.memory_id).in_(same), col(MemoryAuditRow.action).in_(["accept", "reject"]))
        .order_by(col(MemoryAuditRow.seq).desc())
    )
    if session.exec(judged).first() == "accept":
        return line
    return line.model_copy(update={"status": Status.quarantined.value, "live": False})


def take(session: Session, line: Line, at: datetime, *, anew: bool = False) -> Became:
    """Take a line in by the rules of its key: known ones grow no stronger, and nothing newer is overwritten.

    `anew`: somebody says on purpose that what was forgotten may come back.
    """
    if not anew and forgotten(session, line, line.recorded_at, taken_in=True):
        return "forgotten"
    known = _same(session, line)
    if known is not None:
        _catch_up(session, known, line, at)
        return "known"
    in_force = line.live and line.status != Status.quarantined.value
    held = holding(session, line, quarantined=False) if in_force else None
    if held is None or held[0].key_hash != line.key_hash:
        _insert(session, line, at, live=in_force)
        return "new"
    row, state = held
    if decide(to_memory(row, state), line, at) != "supersede":
        past = _insert(session, line, at, live=False)
        past.valid_to, past.superseded_by = max(line.valid_from, row.valid_from), row.id
        return "kept as history"
    row.live, row.valid_to = False, line.valid_from
    changed(session, state, at)
    session.flush()  # the key must be free before the line takes it
    row.superseded_by = _insert(session, line, at, live=True).id
    return "new"


def _same(session: Session, line: Line) -> MemoryStateRow | None:
    """Return the state of the very memory that a line tells of, wherever it stands in the history of its key."""
    query = select(MemoryStateRow).where(
        col(MemoryRow.pk) == col(MemoryStateRow.pk),
        col(MemoryRow.namespace) == line.namespace,
        col(MemoryRow.user) == line.user,
        col(MemoryRow.kind) == line.kind,
        col(MemoryRow.key_hash) == line.key_hash,
        col(MemoryRow.content_hash) == line.content_hash,
        col(MemoryStateRow.status) != Status.deleted.value,
        or_(col(MemoryRow.valid_from) == line.valid_from, col(MemoryRow.live) & line.live),
    )
    return session.exec(query).first()


def _catch_up(session: Session, state: MemoryStateRow, line: Line, at: datetime) -> None:
    """Give a known memory what the line knows better; taking the same file in twice changes nothing."""
    better = {
        "importance": max(state.importance, line.importance),
        "weight": max(state.weight, line.weight),
        "access_count": max(state.access_count, line.access_count),
        "last_access_at": max(state.last_access_at, min(line.last_access_at, at).timestamp()),
    }
    if any(getattr(state, name) != value for name, value in better.items()):
        for name, value in better.items():
            setattr(state, name, value)
        changed(session, state, at)


def _insert(session: Session, line: Line, at: datetime, *, live: bool) -> MemoryRow:
    row = MemoryRow(
        **line.model_dump(include=_OF_ROW - {"id", "live", "superseded_by", "made_from"}),
        id=_id(session, line.namespace, str(line.id), taken=True),
        superseded_by=_id(session, line.namespace, line.superseded_by) if line.superseded_by else "",
        made_from=[_id(session, line.namespace, id_) for id_ in line.made_from],
        live=live,
        namespace=line.namespace,
        key_hash=line.key_hash,
        content_hash=line.content_hash,
        trust=line.trust,
        valid_from=line.valid_from,
        valid_to=line.valid_to,
        recorded_at=line.recorded_at,
    )
    session.add(row)
    session.flush()
    assert row.pk is not None
    state = MemoryStateRow(
        pk=row.pk,
        **line.model_dump(include=_OF_STATE),
        tier="hot" if line.status == Status.active.value else "archived",
        next_transition_at=at.timestamp() + RETENTION_SECONDS,
        half_life_s=line.half_life_seconds,
        last_access_at=min(line.last_access_at, at).timestamp(),
        expires_at=line.expires_at.timestamp() if line.expires_at else None,
        rev=0,
    )
    changed(session, state, at)
    return row


def _id(session: Session, namespace: str, told: str, *, taken: bool = False) -> str:
    """Return the id that a memory of a file has here: its own, where that is free or this namespace's.

    Otherwise one made from it, the same each time, so that what refers to it still does. `taken`: it must be free.
    """
    number = 0
    while True:
        id_ = told if not number else str(uuid.uuid5(_IDS, f"{namespace}\x1f{told}\x1f{number}"))
        query = select(MemoryRow.namespace, MemoryStateRow.status).where(
            col(MemoryRow.pk) == col(MemoryStateRow.pk), col(MemoryRow.id) == id_
        )
        found = session.exec(query).first()
        if found is None or (not taken and found[0] == namespace and found[1] != Status.deleted.value):
            return id_
        number += 1


_IDS = uuid.UUID("5f0d6d5e-3b0e-4d0a-9a52-6e69676874d1")


def _moment(epoch: float) -> str:
    return datetime.fromtimestamp(epoch, UTC).isoformat()
