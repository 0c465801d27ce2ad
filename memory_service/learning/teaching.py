"""Teaching: one turn of a model over each finished run, beside the rules; what it costs counts in the run's budgets.

The model is asked outside of any transaction. A row (job "teach") says how far a run has come: a worker that was
killed while the model thought leaves a claim that lapses, and the run is asked about again, three times at most.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.orm import aliased
from sqlmodel import and_, col, or_, select

from kernel import clock, logs
from kernel.budgets import Spender
from kernel.database import Database
from kernel.errors import NightdeskError, Retryable
from kernel.faults import around
from kernel.model.port import Model, ModelRequest, ignore_text
from memory_service.audit import take_turn
from memory_service.domain import Candidate
from memory_service.extraction import lessons
from memory_service.learning import taught
from memory_service.learning.finished import finished_run
from memory_service.learning.gate import Verdict
from memory_service.learning.runs import FinishedRun
from memory_service.learning.sentences import repeats
from memory_service.store import Store
from memory_service.tables import JobRunRow
from memory_service.upsert import Written

log = logs.get(__name__)

JOB = "teach"
#: A model that is away is asked again after this, longer each time; and so often in all.
_REST_SECONDS, _MOST_ATTEMPTS = 120.0, 3
#: The longest that one answer may take, and how long a claim holds: longer than the answer and its write.
_ANSWER_SECONDS, _LEASE_SECONDS = 120.0, 300.0
#: Runs that are asked about side by side, and those taken up by one sweep.
_SIDE_BY_SIDE, _SWEEP_MOST = 2, 5
#: A run that was learnt longer ago is not asked about any more.
_SWEEP_DAYS = 2
_MOST_TOKENS = 1500

Gated = Callable[[Candidate], tuple[Candidate, Verdict, str]]


class Teaching:
    """Asks a model what a run teaches; `gated` redacts and judges a candidate, `tell` brings the index up to date."""

    def __init__(
        self,
        store: Store,
        model: Model,
        gated: Gated,
        tell: Callable[[], Any],
        *,
        now: Callable[[], datetime] = clock.now,
        lease_seconds: float = _LEASE_SECONDS,
        rest_seconds: float = _REST_SECONDS,
    ) -> None:
        self._store = store
        self._database: Database = store.database
        self._model = model
        self._gated = gated
        self._tell = tell
        self._now = now
        self._lease_seconds = lease_seconds
        self._rest_seconds = rest_seconds
        self._turns = asyncio.Semaphore(_SIDE_BY_SIDE)

    async def teach(self, run_id: str) -> Sequence[Written]:
        """Ask about a run that the rules have learnt from, and keep what is supported; [] where it was done before."""
        async with self._turns:
            run = await asyncio.to_thread(self._claim, run_id)
            if run is None:
                return []
            try:
                with around("memory.teach_ask"):
                    async with asyncio.timeout(_ANSWER_SECONDS):
                        reply = await self._model.reply(_asked(run), ignore_text)
                made, unsupported = taught.candidates(run, reply.text)
            except TimeoutError:
                await asyncio.to_thread(self._leave, run_id, "the model took too long", again=True)
                return []
            except NightdeskError as error:
                again = isinstance(error, Retryable)
                await asyncio.to_thread(self._leave, run_id, str(error), again=again)
                return []
            return await asyncio.to_thread(self._keep, run, made, unsupported)

    async def sweep(self) -> None:
        """Ask about runs that were learnt but not asked about, or not to the end."""
        for run_id in await asyncio.to_thread(self.due):
            await self.teach(run_id)

    def due(self) -> list[str]:
        """Return the runs that a model has still to be asked about, the oldest first."""
        asked = aliased(JobRunRow)
        with self._database.reading() as session:
            open_again = and_(
                col(asked.state).in_(["running", "waiting"]),
                col(asked.lease_until) <= self._database.now(session),
            )
            query = (
                select(JobRunRow.epoch)
                .outerjoin(asked, and_(col(asked.job) == JOB, col(asked.epoch) == col(JobRunRow.epoch)))
                .where(
                    JobRunRow.job == "learn",
                    col(JobRunRow.started_at) > self._now() - timedelta(days=_SWEEP_DAYS),
                    or_(col(asked.job).is_(None), open_again),
                )
            )
            return list(session.exec(query.order_by(col(JobRunRow.started_at)).limit(_SWEEP_MOST)))

    def _claim(self, run_id: str) -> FinishedRun | None:
        found = finished_run(self._database, run_id)
        if found is None:
            return None
        with self._database.writing("memory.teach_claim") as session:
            take_turn(session)
            at = self._database.now(session)
            job = session.get(JobRunRow, (JOB, run_id)) or JobRunRow(
                job=JOB, epoch=run_id, state="waiting", started_at=self._now()
            )
            learnt = session.get(JobRunRow, ("learn", run_id)) is not None
            if not learnt or job.state not in ("running", "waiting") or job.lease_until > at:
                return None
            attempts = int(job.counts.get("attempts", 0))
            if attempts >= _MOST_ATTEMPTS:
                _end(job, "failed", self._now(), why="it was cut short each time")
                session.add(job)
                return None
            job.state, job.lease_until = "running", at + self._lease_seconds
            job.counts = {**job.counts, "attempts": attempts + 1}
            session.add(job)
        return found[0]

    def _leave(self, run_id: str, why: str, *, again: bool) -> None:
        """Mark a run that a model taught nothing: what the rules learnt from it stays."""
        log.warning("not_taught", run=run_id, reason=why)
        with self._database.writing("memory.teach_left") as session:
            job = session.get(JobRunRow, (JOB, run_id))
            if job is None or job.state != "running":
                return
            attempts = int(job.counts.get("attempts", 0))
            if again and attempts < _MOST_ATTEMPTS:
                job.state = "waiting"
                job.lease_until = self._database.now(session) + self._rest_seconds * attempts
                job.counts = {**job.counts, "why": why}
            else:
                _end(job, "failed", self._now(), why=why)
            session.add(job)

    def _keep(self, run: FinishedRun, made: Sequence[Candidate], unsupported: int) -> list[Written]:
        known = [candidate.text for candidate in lessons(run).candidates]
        judged = [self._gated(one) for one in made if not repeats(one.text, known)]
        passed = [(one, verdict, why) for one, verdict, why in judged if verdict != "drop"]
        written: list[Written] = []
        with self._database.writing("memory.teach", durable=True) as session:
            take_turn(session)
            job = session.get(JobRunRow, (JOB, run.run_id))
            if job is None or job.state != "running":
                return []  # the claim lapsed, and another worker came to the end
            for one, verdict, why in passed:
                written.append(
                    self._store.upsert(session, one, verdict, self._now(), f"model:run:{run.run_id}", why)
                )
            kept = [done for done in written if done.outcome != "dropped"]
            dropped = len(made) - len(kept)
            _end(job, "done", self._now(), written=len(kept), dropped=dropped, unsupported=unsupported)
            session.add(job)
        self._tell()
        log.info("taught", run=run.run_id, written=len(kept), dropped=dropped, unsupported=unsupported)
        return kept


def _asked(run: FinishedRun) -> ModelRequest:
    marker = f"=={secrets.token_hex(8)}=="
    return ModelRequest(
        messages=taught.question(run, marker),
        json_schema=taught.SCHEMA,
        max_output_tokens=_MOST_TOKENS,
        spender=Spender(run_id=run.run_id, namespace=run.namespace, name=f"{run.run_id}/memory"),
    )


def _end(job: JobRunRow, state: str, at: datetime, **counts: Any) -> None:
    job.state, job.ended_at, job.lease_until = state, at, 0.0
    job.counts = {**job.counts, **counts}
