"""The nightly decay: visits only memories that are due, commits by batch, and may run twice or be killed anywhere."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Event

from sqlalchemy import delete
from sqlmodel import Session, col, select

from kernel.database import Database
from memory_service.audit import record, take_turn
from memory_service.domain import Status
from memory_service.forgetting import archive, stages
from memory_service.forgetting.erasure import erase
from memory_service.tables import JobRunRow, MemoryAccessRow, MemoryRateRow

JOB = "decay"
#: Jobs of one run each, whose rows go with time.
_RUNS = ["learn", "teach"]
#: Rows per commit: larger ones save little, and keep other writers waiting longer (at this size 0.3 s where they only
#: change their tier, 0.6 s and more where their words go into the archive).
BATCH = 20_000
#: Between two batches everybody else may write for so long: who waits for SQLite's one lock looks every 0.1 s, and
#: without a rest had no turn before the night was over.
REST_SECONDS = 0.15
#: A batch takes well under a second; a lease this long outlives a busy disk.
_LEASE_SECONDS = 60.0
#: How long marks of learnt runs and flushed citations are kept.
_KEEP_DAYS = 90
#: Rates are of one day each; the day before may still be counted at midnight.
_KEEP_RATES = timedelta(days=2)


@dataclass(frozen=True)
class Night:
    """What a run of the job did; `ran` is False where it was done before or another worker is at it."""

    epoch: str
    ran: bool
    counts: dict[str, int]


class Decay:
    """The job of one night, named by its date."""

    def __init__(
        self, database: Database, worker: str, *, batch: int = BATCH, rest_seconds: float = 0.0
    ) -> None:
        self._database = database
        self._worker = worker
        self._batch = batch
        self._rest_seconds = rest_seconds

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
                Event().wait(self._rest_seconds)
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
            take_turn(session)  # of two that claim at once one gets the night
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
            take_turn(session)
            job = session.get(JobRunRow, (JOB, epoch))
            if job is None or job.holder != self._worker:
                return False  # another worker took over while we slept
            batch = stages.stage_due(session.connection(), status.value, moment, self._batch)
            if batch is None:
                return False
            self._write(session, batch, epoch, at)
            job.counts = dict(Counter(job.counts) + Counter(batch.counts) + Counter(batches=1))
            job.cursor = f"{status.value}:{batch.last}"
            job.lease_until = self._database.now(session) + _LEASE_SECONDS
            session.add(job)
            return sum(batch.counts.values()) == self._batch

    def _write(self, session: Session, batch: stages.Batch, epoch: str, at: datetime) -> None:
        stages.move(session.connection(), at)
        archive.keep(session, batch.archived)
        erase(session, batch.deleted, at)
        if batch.archived or batch.deleted:  # a move from hot to cold changes nothing that anybody sees
            after = {"archived": batch.archived, "deleted": batch.deleted}
            record(session, at=at, actor="decay", action="decay", after=after, reason=epoch)

    def _finish(self, epoch: str, at: datetime) -> dict[str, int]:
        old = at - timedelta(days=_KEEP_DAYS)
        with self._database.writing("memory.decay.finish") as session:
            take_turn(session)
            job = session.get(JobRunRow, (JOB, epoch))
            if job is None or job.holder != self._worker:
                return {}
            job.state, job.ended_at, job.lease_until = "done", at, 0.0
            session.add(job)
            session.execute(
                delete(JobRunRow).where(col(JobRunRow.job).in_(_RUNS), col(JobRunRow.ended_at) < old)
            )
            session.execute(
                delete(MemoryAccessRow).where(
                    col(MemoryAccessRow.flushed), col(MemoryAccessRow.at) < old.timestamp()
                )
            )
            counted = (at - _KEEP_RATES).date().isoformat()
            session.execute(delete(MemoryRateRow).where(col(MemoryRateRow.day) < counted))
            return {name: int(count) for name, count in job.counts.items()}
