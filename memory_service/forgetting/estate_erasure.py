"""The erasure of a whole namespace or user, batch by batch: a job whose row says how far it came, and stays."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from threading import Event
from typing import Any

from sqlalchemy import delete
from sqlmodel import Session, col, func, select

from kernel.database import Database
from memory_service import audit
from memory_service.domain import Status
from memory_service.forgetting import copies
from memory_service.forgetting.erasure import ESTATE, erase, estate_of
from memory_service.tables import JobRunRow, MemoryRateRow, MemoryRow, MemoryStateRow

#: Memories erased in one transaction, and transactions in one answer.
_ERASED, _BATCHES = 500, 10
#: Between two of them everybody else may write: who waits for SQLite's one lock looks every 0.1 s.
_REST_SECONDS = 0.15
#: What the note of an erasure repeats of what was asked.
_TOLD = ("namespace", "user", "by", "reason")
#: Before every run.
_EVER = datetime(2000, 1, 1, tzinfo=UTC).isoformat()


def owned(namespace: str, user: str | None) -> list[Any]:
    """Return the conditions for all memories of a namespace, or of one user in it, that are not deleted."""
    whose = [] if user is None else [col(MemoryRow.user) == user]
    return [
        col(MemoryRow.pk) == col(MemoryStateRow.pk),
        col(MemoryRow.namespace) == namespace,
        col(MemoryStateRow.status) != Status.deleted.value,
        *whose,
    ]


class EstateErasure:
    """Erases what `told` names: its namespace, its user (None: all), by whom and for what reason."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def begun(self) -> list[dict[str, Any]]:
        """Return what is not erased to its end."""
        with self._database.reading() as session:
            running = select(JobRunRow).where(JobRunRow.job == ESTATE, JobRunRow.state == "running")
            return [{name: job.counts[name] for name in _TOLD} for job in session.exec(running)]

    def go_on(self, told: dict[str, Any], now: Callable[[], datetime]) -> tuple[int, int]:
        """Erase some more; return how many went and how many are left."""
        erased, left = 0, self._count(told)
        for _ in range(_BATCHES):
            with self._database.writing("memory.estate.erase", durable=True) as session:
                gone, left = self._batch(session, told, left, now())
            erased += gone
            if not left:
                break
            Event().wait(_REST_SECONDS)
        return erased, left

    def _count(self, told: dict[str, Any]) -> int:
        """Return how many memories there are: counted once, before the first batch, and under no lock."""
        with self._database.reading() as session:
            job = session.get(JobRunRow, (ESTATE, estate_of(told["namespace"], told["user"])))
            if job is not None and job.state == "running":
                return int(job.counts["left"])
            query = select(func.count(col(MemoryRow.pk))).where(*owned(told["namespace"], told["user"]))
            return int(session.exec(query).one())

    def _batch(self, session: Session, told: dict[str, Any], left: int, at: datetime) -> tuple[int, int]:
        """Erase behind the batch before; who began anew each time would walk over all graves again."""
        audit.take_turn(session)
        epoch = estate_of(told["namespace"], told["user"])
        job = session.get(JobRunRow, (ESTATE, epoch)) or JobRunRow(job=ESTATE, epoch=epoch, started_at=at)
        query = select(MemoryRow.pk).where(
            *owned(told["namespace"], told["user"]), col(MemoryRow.pk) > int(job.cursor or 0)
        )
        found = [pk for pk in session.exec(query.order_by(col(MemoryRow.pk)).limit(_ERASED + 1)) if pk]
        pks = found[:_ERASED]
        rest = max(left - len(pks), 1) if len(found) > _ERASED else 0
        if pks:
            erase(session, pks, at, whole=True)
            audit.record(
                session,
                at=at,
                actor=told["by"],
                action="erase",
                namespace=told["namespace"],
                before={"memories": rest + len(pks)},
                after={"memories": rest, "user": told["user"]},
                reason=told["reason"],
            )
            job.cursor = str(pks[-1])
        job.counts, job.state, job.ended_at = {**told, "left": rest}, "running" if rest else "done", at
        session.add(job)
        if not rest:
            self._finish(session, told, epoch, at)
        return len(pks), rest

    def _finish(self, session: Session, told: dict[str, Any], epoch: str, at: datetime) -> None:
        """Forget what is beside the memories, and note that runs still hold copies of them."""
        if told["user"] is None:
            session.execute(delete(MemoryRateRow).where(col(MemoryRateRow.namespace) == told["namespace"]))
        whose = {"namespace": told["namespace"], "user": told["user"]}
        copies.note(session, epoch, {**whose, "ids": [], "since": _EVER}, at)
