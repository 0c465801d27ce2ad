"""The nightly decay: visits only memories that are due, commits by batch, and may run twice or be killed anywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, delete, text
from sqlmodel import Session, col, select

from kernel.database import Database, UtcDateTime
from memory_service.audit import record
from memory_service.domain import Status
from memory_service.erasure import erase
from memory_service.fading import Fading, stage
from memory_service.tables import JobRunRow, MemoryAccessRow, MemoryRow, MemoryStateRow

JOB = "decay"
#: Rows per commit: 63,600 due rows/s at this size (reference: memory.md, 4.5).
BATCH = 5000
#: A batch takes well under a second; a lease this long outlives a busy disk.
_LEASE_SECONDS = 60.0
#: How long marks of learnt runs and flushed citations are kept.
_KEEP_DAYS = 90

#: Both statuses fade: active memories to archived, archived and quarantined ones to deleted.
_DUE = text(
    "SELECT pk, status, tier, importance, weight, emotion, access_count, half_life_s, last_access_at, expires_at, rev "
    "FROM memory_state WHERE status = :status AND next_transition_at <= :at "
    "ORDER BY next_transition_at, pk LIMIT :batch"
)
_MOVE = text(
    "UPDATE memory_state SET status = :status, tier = :tier, next_transition_at = :next, rev = :rev WHERE pk = :pk"
)
_ENQUEUE = text(
    "INSERT INTO memory_outbox (pk, rev, enqueued_at, attempts, last_error) VALUES (:pk, :rev, :at, 0, '') "
    "ON CONFLICT (pk) DO UPDATE SET rev = excluded.rev, enqueued_at = excluded.enqueued_at, attempts = 0"
).bindparams(bindparam("at", type_=UtcDateTime()))


@dataclass(frozen=True)
class Night:
    """What a run of the job did; `ran` is False where it was done before or another worker is at it."""

    epoch: str
    ran: bool
    counts: dict[str, int]


class Decay:
    """The job of one night, named by its date."""

    def __init__(self, database: Database, worker: str, *, batch: int = BATCH) -> None:
        self._database = database
        self._worker = worker
        self._batch = batch

    def run(self, at: datetime, *, after_batch: Callable[[], None] = lambda: None) -> Night:
        """Move everything that is due at `at`; a night that was cut short goes on with its own time.

        Missed nights need no runs of their own: a due memory moves to where it belongs now.
        """
        epoch = at.date().isoformat()
        started = self._claim(epoch, at)
        if started is None:
            return Night(epoch, ran=False, counts={})
        for status in (Status.active, Status.archived, Status.quarantined):
            while self._move_batch(epoch, status, started):
                after_batch()
        return Night(epoch, ran=True, counts=self._finish(epoch, started))

    def due(self, at: datetime) -> bool:
        """Return whether no night of the last day was finished (the machine was off)."""
        with self._database.reading() as session:
            done = select(JobRunRow.ended_at).where(
                col(JobRunRow.job) == JOB, col(JobRunRow.ended_at) > at - timedelta(days=1)
            )
            return session.exec(done).first() is None

    def _claim(self, epoch: str, at: datetime) -> datetime | None:
        with self._database.writing("memory.decay.claim") as session:
            clock = self._database.now(session)
            job = session.get(JobRunRow, (JOB, epoch)) or JobRunRow(job=JOB, epoch=epoch, started_at=at)
            if job.state == "done" or (job.lease_until > clock and job.holder != self._worker):
                return None
            job.holder, job.lease_until = self._worker, clock + _LEASE_SECONDS
            session.add(job)
            return job.started_at

    def _move_batch(self, epoch: str, status: Status, at: datetime) -> bool:
        """Move one batch in one transaction; return whether there may be more."""
        moment = at.timestamp()
        with self._database.writing("memory.decay.move") as session:
            job = session.get(JobRunRow, (JOB, epoch))
            if job is None or job.holder != self._worker:
                return False  # another worker took over while we slept
            parameters = {"status": status.value, "at": moment, "batch": self._batch}
            rows = session.connection().execute(_DUE, parameters).all()
            if not rows:
                return False
            moved = [_move(row, status, moment) for row in rows]
            counts = Counter(move["tier"] for move in moved)
            self._write(session, moved, at)
            job.counts = dict(Counter(job.counts) + counts + Counter(batches=1))
            job.cursor = f"{status.value}:{rows[-1].pk}"
            job.lease_until = self._database.now(session) + _LEASE_SECONDS
            session.add(job)
            return len(rows) == self._batch

    def _write(self, session: Session, moved: list[dict[str, Any]], at: datetime) -> None:
        deleted = [move["pk"] for move in moved if move["status"] == Status.deleted.value]
        kept = sorted(
            (move for move in moved if move["status"] != Status.deleted.value), key=lambda move: move["pk"]
        )
        left = [move for move in kept if move["left"]]
        connection = session.connection()
        if kept:
            connection.execute(_MOVE, kept)
        if left:
            connection.execute(_ENQUEUE, [{"pk": move["pk"], "rev": move["rev"], "at": at} for move in left])
        for pk in deleted:
            row, state = session.get(MemoryRow, pk), session.get(MemoryStateRow, pk)
            if row is not None and state is not None:
                erase(session, row, state, at)
        if left or deleted:  # a move from hot to cold changes nothing that anybody sees
            after = {"archived": [move["pk"] for move in left], "deleted": deleted}
            record(session, at=at, actor="decay", action="decay", after=after, reason=at.date().isoformat())

    def _finish(self, epoch: str, at: datetime) -> dict[str, int]:
        old = at - timedelta(days=_KEEP_DAYS)
        with self._database.writing("memory.decay.finish") as session:
            job = session.get(JobRunRow, (JOB, epoch))
            if job is None or job.holder != self._worker:
                return {}
            job.state, job.ended_at, job.lease_until = "done", at, 0.0
            session.add(job)
            session.execute(
                delete(JobRunRow).where(col(JobRunRow.job) == "learn", col(JobRunRow.ended_at) < old)
            )
            session.execute(
                delete(MemoryAccessRow).where(
                    col(MemoryAccessRow.flushed), col(MemoryAccessRow.at) < old.timestamp()
                )
            )
            return {name: int(count) for name, count in job.counts.items()}


def _move(row: Any, status: Status, at: float) -> dict[str, Any]:
    """Return where a due row goes; what leaves its status leaves the index too."""
    if status is not Status.active:
        return {"pk": row.pk, "status": Status.deleted.value, "tier": "deleted", "left": True}
    fading = Fading(
        importance=row.importance,
        weight=row.weight,
        emotion=row.emotion,
        access_count=row.access_count,
        half_life=row.half_life_s,
        last_access=row.last_access_at,
        expires=row.expires_at,
    )
    to = stage(fading, at)
    left = to.status is not Status.active
    return {
        "pk": row.pk,
        "status": to.status.value,
        "tier": to.tier,
        "next": to.next_at,
        "rev": row.rev + 1 if left else row.rev,
        "left": left,
    }
