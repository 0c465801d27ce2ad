"""What people ask about forgetting: what would go, tonight's pass, bringing back, and the audit."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from pydantic import Field
from sqlmodel import col, func, select

from kernel import clock
from kernel.contracts import Value
from kernel.database import Database
from kernel.errors import Correctable
from memory_service import audit
from memory_service.asking import read
from memory_service.decay import JOB, Night
from memory_service.domain import Status
from memory_service.forgetting import archive
from memory_service.forgetting.copies import Copies
from memory_service.forgetting.erasure import family
from memory_service.forgetting.fading import UNIMPORTANT
from memory_service.forgetting.tonight import preview
from memory_service.reading import one
from memory_service.state import restore
from memory_service.tables import EmbedCacheRow, JobRunRow, MemoryAuditRow, MemoryRow, MemoryStateRow

#: Rows of the audit followed in one answer: about two seconds.
_VERIFIED = 20_000


class OfOne(Value):
    """One memory of a namespace, and who asks."""

    id: str
    namespace: str = "default"
    by: str = "local"
    reason: str = ""


class Entries(Value):
    """Which rows of the audit to list, the newest first, below the number `before`."""

    namespace: str = "default"
    id: str = ""
    limit: int = Field(default=50, ge=1, le=1000)
    before: int = Field(default=0, ge=0)


class Following(Value):
    """From where on to verify the audit: the number and the hash of the last row that was found whole."""

    seq: int = Field(default=0, ge=0)
    hash: str = ""


class Upkeep:
    """Questions of people, answered with JSON."""

    def __init__(
        self,
        database: Database,
        *,
        drain: Callable[[], object],
        decay: Callable[[], Night],
        hide: Callable[[str], str] = str,
        now: Callable[[], datetime] = clock.now,
    ) -> None:
        self._database = database
        self._copies = Copies(database)
        self._drain = drain
        self._decay = decay
        self._hide = hide
        self._now = now

    def tidy(self) -> int:
        """Blank the copies of what was forgotten; return how many there were."""
        return self._copies.resume(self._now())

    def renew(self) -> int:
        """Put words into the archive anew that another version wrote, for a while; return how many memories."""
        return archive.renew(self._database)

    def after(self, forgotten: dict[str, Any]) -> dict[str, Any]:
        """Return the answer of a forgetting once its copies are blanked too."""
        self.tidy()
        return forgotten

    def would_forget(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return what forgetting a memory would erase, by place; `memories` is empty where there is none such."""
        asked = read(OfOne, question)
        with self._database.reading() as session:
            found = family(session, asked.namespace, asked.id)
            ids = [row.id for row, _ in found]
            pks = [state.pk for _, state in found]
            hashes = {row.content_hash for row, _ in found}
            vectors = select(func.count()).where(col(EmbedCacheRow.content_hash).in_(hashes))
            counted = {
                "indexed": sum(state.status == Status.active.value for _, state in found),
                "vectors": session.exec(vectors).one(),
                "archived": sum(state.status == Status.archived.value for _, state in found),
            }
            told = [
                {"id": row.id, "kind": row.kind, "status": state.status, "text": row.text}
                for row, state in found
            ]
        since = min((row.recorded_at for row, _ in found), default=self._now())
        copies = self._copies.count(asked.namespace, ids, since=since) if pks else 0
        return {"memories": told, **counted, "copies": copies}

    def tonight(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return what a pass would do now; nothing is written."""
        asked = read(Entries, question)
        at = self._now()
        return {
            **preview(self._database, at, asked.namespace),
            "done_at": self._done_at(at.date().isoformat()),
        }

    def fade(self) -> dict[str, Any]:
        """Run the pass of this night now: `{"epoch", "ran", "counts", "done_at"}`; a night is done once.

        Where it did not run, `done_at` says when this night was done, None where another worker is at it.
        """
        night = self._decay()
        return {
            "epoch": night.epoch,
            "ran": night.ran,
            "counts": night.counts,
            "done_at": self._done_at(night.epoch),
        }

    def _done_at(self, epoch: str) -> str | None:
        with self._database.reading() as session:
            job = session.get(JobRunRow, (JOB, epoch))
            return job.ended_at.isoformat() if job and job.state == "done" and job.ended_at else None

    def restore(self, question: dict[str, Any]) -> dict[str, Any]:
        """Bring an archived memory back: `{"restored": id, or None where the namespace has no such memory}`."""
        asked = read(OfOne, question)
        at = self._now()
        with self._database.writing("memory.restore") as session:
            audit.take_turn(session)
            found = one(session, asked.namespace, asked.id)
            if found is None:
                return {"restored": None}
            row, state = found
            _check_archived(row, state, at)
            state.last_access_at = at.timestamp()
            state.importance = max(
                state.importance, UNIMPORTANT
            )  # somebody asked for it: it is not unimportant
            reason = self._hide(asked.reason) or "asked for"
            restore(session, row, state, at=at, actor=asked.by, reason=reason)
        self._drain()
        return {"restored": row.id}

    def entries(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return rows of the audit: `{"entries": [...], "next": number to go on below, or None}`."""
        asked = read(Entries, question)
        memory = self._memory(asked) if asked.id else None
        if asked.id and memory is None:
            return {"entries": [], "next": None}
        found = audit.entries(
            self._database, asked.namespace, memory=memory, before=asked.before, limit=asked.limit
        )
        more = len(found) == asked.limit
        return {"entries": [_told(row) for row in found], "next": found[-1].seq if more else None}

    def verify(self, question: dict[str, Any]) -> dict[str, Any]:
        """Follow the audit for a while: `{"checked", "broken", "why", "after": where to go on, or None}`."""
        asked = read(Following, question)
        found = audit.verify(self._database, (asked.seq, asked.hash), most=_VERIFIED)
        after = found.after and {"seq": found.after[0], "hash": found.after[1]}
        return {"checked": found.checked, "broken": found.broken, "why": found.why, "after": after}

    def _memory(self, asked: Entries) -> tuple[str, int] | None:
        """Return id and number of a memory, forgotten ones too: their audit stays."""
        with self._database.reading() as session:
            query = select(MemoryRow.id, MemoryRow.pk).where(
                col(MemoryRow.namespace) == asked.namespace,
                col(MemoryRow.id).startswith(asked.id, autoescape=True),
            )
            found = session.exec(query.limit(2)).all()
        return (found[0][0], found[0][1] or 0) if len(found) == 1 else None


def _check_archived(row: MemoryRow, state: MemoryStateRow, at: datetime) -> None:
    if state.status != Status.archived.value:
        raise Correctable(f"memory {row.id} is not archived", why=f"it is {state.status}")
    if not row.live or (row.valid_to is not None and row.valid_to <= at):
        raise Correctable(
            f"memory {row.id} is history", why="a newer value holds, or its time is over: it stays as it was"
        )
    if state.expires_at is not None and state.expires_at <= at.timestamp():
        raise Correctable(f"memory {row.id} has expired", next_step="Remember it anew if it holds again.")


def _told(row: MemoryAuditRow) -> dict[str, Any]:
    return {**row.model_dump(include=_SHOWN), "at": row.at.isoformat()}


_SHOWN = {"seq", "actor", "action", "memory_id", "namespace", "before", "after", "reason"}
