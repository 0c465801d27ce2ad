"""Review of what waits in quarantine: a person sees it, accepts it in their name, or has it erased."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from pydantic import Field
from sqlmodel import Session, col, func, or_, select

from kernel import clock
from kernel.contracts import Value
from kernel.database import Database
from kernel.errors import Correctable
from memory_service.asking import read
from memory_service.audit import record, take_turn
from memory_service.domain import Status
from memory_service.forgetting.erasure import erase
from memory_service.learning.known import Pair
from memory_service.reading import PAGE_MAX, one
from memory_service.state import changed
from memory_service.tables import MemoryAuditRow, MemoryRow, MemoryStateRow

_ACCEPTED = {
    "insert": "accepted: it holds from now on",
    "supersede": "accepted in place of what held before",
    "touch": "the same is known already",
    "history": "kept as history: a more trusted source says otherwise",
}


class Waiting(Value):
    """Which page of the quarantine to show."""

    namespace: str = "default"
    limit: int = Field(default=50, ge=1, le=PAGE_MAX)
    after: int = Field(default=0, ge=0)


class Judging(Value):
    """Which memory somebody judges, and why."""

    id: str
    namespace: str = "default"
    by: str = "local"
    reason: str = ""


class Review:
    """The quarantine of a namespace; `tell` brings the index up to date after a judgement, `hide` takes out secrets."""

    def __init__(
        self,
        database: Database,
        tell: Callable[[], Any],
        *,
        hide: Callable[[str], str] = str,
        now: Callable[[], datetime] = clock.now,
    ) -> None:
        self._database = database
        self._hide = hide
        self._tell = tell
        self._now = now

    def waiting(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return a page: `{"memories": [...], "total": n, "next": cursor or None}`, newest first."""
        asked = read(Waiting, question)
        query = (
            select(MemoryRow, MemoryStateRow)
            .where(col(MemoryRow.pk) == col(MemoryStateRow.pk))
            .where(
                col(MemoryRow.namespace) == asked.namespace,
                col(MemoryStateRow.status) == Status.quarantined.value,
            )
        )
        with self._database.reading() as session:
            total = session.exec(select(func.count()).select_from(query.subquery())).one()
            below = query.where(or_(asked.after == 0, col(MemoryRow.pk) < asked.after))
            found = session.exec(below.order_by(col(MemoryRow.pk).desc()).limit(asked.limit)).all()
            memories = [_listed(row, state, _why(session, row.id)) for row, state in found]
        more = found[-1][1].pk if len(found) == asked.limit else None
        return {"memories": memories, "total": total, "next": more}

    def accept(self, question: dict[str, Any]) -> dict[str, Any]:
        """Let a memory hold, in the name of whoever accepts it: `{"id", "outcome", "told"}`.

        Its source stays what it is, and so does the trust in it: a person has read it, not proved it.
        """
        asked = read(Judging, question)
        at = self._now()
        with self._database.writing("memory.accept", durable=True) as session:
            take_turn(session)
            row, state = _quarantined(session, asked)
            outcome = _accept(session, row, state, at)
            self._record(session, asked, row, at, "accept", {"status": state.status, "outcome": outcome})
        self._tell()
        return {"id": row.id, "outcome": outcome, "told": _ACCEPTED[outcome]}

    def reject(self, question: dict[str, Any]) -> dict[str, Any]:
        """Erase a memory; its hash stays, so that the same source does not bring it back: `{"id"}`."""
        asked = read(Judging, question)
        at = self._now()
        with self._database.writing("memory.reject", durable=True) as session:
            take_turn(session)
            row, state = _quarantined(session, asked)
            rejected = row.id
            self._record(session, asked, row, at, "reject", {"status": Status.deleted.value})
            erase(session, [state.pk], at)
        self._tell()
        return {"id": rejected}

    def _record(
        self, session: Session, asked: Judging, row: MemoryRow, at: datetime, action: str, after: Any
    ) -> None:
        record(
            session,
            at=at,
            actor=asked.by,
            action=action,
            memory_id=row.id,
            namespace=row.namespace,
            before={"content": row.content_hash, "status": Status.quarantined.value},
            after=after,
            reason=self._hide(asked.reason),  # an audit keeps it for good
        )


def _quarantined(session: Session, asked: Judging) -> Pair:
    found = one(session, asked.namespace, asked.id)
    if found is None or found[1].status != Status.quarantined.value:
        raise Correctable(
            f"no memory {asked.id!r} waits in {asked.namespace!r}",
            next_step="Run `nightdesk memory quarantine` to see what waits.",
        )
    return found


def _accept(session: Session, row: MemoryRow, state: MemoryStateRow, at: datetime) -> str:
    held = session.exec(
        select(MemoryRow, MemoryStateRow)
        .where(col(MemoryRow.pk) == col(MemoryStateRow.pk))
        .where(
            col(MemoryRow.namespace) == row.namespace,
            col(MemoryRow.user) == row.user,
            col(MemoryRow.kind) == row.kind,
            col(MemoryRow.key_hash) == row.key_hash,
            col(MemoryRow.live),
        )
    ).first()
    state.last_access_at = at.timestamp()
    if held is not None:
        known, its_state = held
        if known.content_hash == row.content_hash or known.trust > row.trust:
            row.superseded_by, row.valid_to = known.id, row.valid_from
            state.status = Status.archived.value
            changed(session, state, at)
            return "touch" if known.content_hash == row.content_hash else "history"
        known.live, known.valid_to, known.superseded_by = False, at, row.id
        changed(session, its_state, at)
        session.flush()  # the key must be free before this one takes it
        row.valid_from = at
    row.live, state.status = True, Status.active.value
    changed(session, state, at)
    return "supersede" if held is not None else "insert"


def _why(session: Session, memory_id: str) -> str:
    newest = (
        select(MemoryAuditRow.reason)
        .where(col(MemoryAuditRow.memory_id) == memory_id, col(MemoryAuditRow.action) == "quarantine")
        .order_by(col(MemoryAuditRow.seq).desc())
    )
    return session.exec(newest).first() or ""


def _listed(row: MemoryRow, state: MemoryStateRow, why: str) -> dict[str, Any]:
    return {
        "id": row.id,
        "kind": row.kind,
        "key": row.key,
        "text": row.text,
        "slots": row.slots,
        "user": row.user,
        "source": row.source_ref or row.source_kind,
        "source_kind": row.source_kind,
        "trust": row.trust,
        "weight": state.weight,
        "recorded_at": row.recorded_at.isoformat(),
        "reason": why,
    }
