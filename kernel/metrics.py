"""Metrics: every name in one list, read from SQL and Redis at the moment of the scrape."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from sqlalchemy import JSON, String, column, func, text, true
from sqlmodel import Session, col, select

from kernel.broker import COORDINATOR, FIXED_QUEUES
from kernel.cards import Cards
from kernel.clock import now
from kernel.control import Control
from kernel.database import Database
from kernel.records import ApprovalRow, AssignmentRow, DeadLetterRow, RunRow
from kernel.states import ApprovalState, AssignmentState, DeadLetterState, RunState

#: Every metric: name, labels, help. All are gauges: rows and Redis are the truth, and no process counts for itself.
METRICS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("nightdesk_runs", ("state",), "Runs by state."),
    ("nightdesk_assignments", ("state",), "Assignments by state."),
    ("nightdesk_approvals_waiting", (), "Calls that wait for a person."),
    ("nightdesk_queue_length", ("queue",), "Messages that wait, over all priorities."),
    (
        "nightdesk_oldest_waiting_seconds",
        ("queue",),
        "Age of the oldest run not yet planned, or of the oldest queued assignment since it was planned.",
    ),
    ("nightdesk_live_workers", ("agent",), "Workers whose card is up."),
    ("nightdesk_dead_letters", ("queue",), "Unreadable messages and given-up work, kept for a person."),
    (
        "nightdesk_memory_index_drift",
        ("extent",),
        "Memories that differed between SQL and the vector index when they were last compared.",
    ),
    ("nightdesk_citations", ("verdict",), "Citations of memories that were judged, counted in Redis."),
)

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

#: What a citation can turn out to be (memory_service.recalling.citations), and those that nobody could ask after.
CITATION_VERDICTS = ("ok", "unknown", "foreign", "stale", "unsupported", "unchecked")

_EVERY = true()
_UNPLANNED = (RunState.accepted.value, RunState.planning.value)


@dataclass
class Reading:
    """The samples of one scrape: metric name → label values → value."""

    samples: dict[str, dict[tuple[str, ...], float]] = field(default_factory=dict)

    def put(self, name: str, values: Mapping[str, float]) -> None:
        """Set the samples of a metric with one label."""
        self.samples[name] = {(label,): value for label, value in values.items()}


async def read(database: Database, control: Control, cards: Cards) -> Reading:
    """Return what there is to measure now; raise Retryable where SQL or Redis does not answer."""
    reading = await asyncio.to_thread(read_rows, database, now())
    live: dict[str, float] = {}
    queues = {*FIXED_QUEUES, *(labels[0] for labels in reading.samples["nightdesk_oldest_waiting_seconds"])}
    for card in await cards.live():
        live[card.agent] = live.get(card.agent, 0) + 1
        queues.update((card.queue, *card.queues))
    reading.put("nightdesk_live_workers", live)
    reading.put("nightdesk_queue_length", dict(await control.queue_lengths(sorted(queues))))
    judged = dict.fromkeys(CITATION_VERDICTS, 0.0)
    reading.put("nightdesk_citations", {**judged, **await control.tallied("citations")})
    return reading


def render(reading: Reading) -> bytes:
    """Return the samples in Prometheus' text format."""
    registry = CollectorRegistry()
    registry.register(_Collector(reading))
    return generate_latest(registry)


class _Collector:
    """Hands one reading to prometheus_client."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def collect(self) -> Iterable[Metric]:
        """Yield every metric of the list, also those without a sample."""
        for name, labels, told in METRICS:
            family = GaugeMetricFamily(name, told, labels=labels)
            for values, value in sorted(self._reading.samples.get(name, {}).items()):
                family.add_metric(values, value)
            yield family


def read_rows(database: Database, at: datetime) -> Reading:
    """Return the part of a reading that comes from SQL."""
    reading = Reading()
    with database.reading() as db:
        # states without a row are told as 0, so that a graph has no holes
        reading.put("nightdesk_runs", _counts(db, RunRow.state, {s.value for s in RunState}))
        reading.put(
            "nightdesk_assignments", _counts(db, AssignmentRow.state, {s.value for s in AssignmentState})
        )
        kept = DeadLetterRow.state == DeadLetterState.kept.value
        reading.put("nightdesk_dead_letters", _counts(db, DeadLetterRow.queue, set(), where=kept))
        pending = select(func.count()).where(ApprovalRow.state == ApprovalState.pending.value)
        reading.samples["nightdesk_approvals_waiting"] = {(): db.exec(pending).one()}
        reading.put("nightdesk_oldest_waiting_seconds", _oldest(db, at))
        reading.put("nightdesk_memory_index_drift", _drift(db))
    return reading


def _counts(db: Session, column: str, known: set[str], *, where: Any = _EVERY) -> dict[str, float]:
    rows = db.exec(select(column, func.count()).where(where).group_by(column)).all()
    return {**dict.fromkeys(known, 0.0), **{name: float(count) for name, count in rows}}


#: Written by the memory service (memory_service.relay), whose rows are not ours to import.
_COMPARED = text("SELECT epoch, counts FROM job_run WHERE job = 'reconcile'").columns(
    column("epoch", String), column("counts", JSON)
)


def _drift(db: Session) -> dict[str, float]:
    found = {epoch: float(counts.get("total", 0)) for epoch, counts in db.connection().execute(_COMPARED)}
    return {"full": 0.0, "sample": 0.0} | found


def _oldest(db: Session, at: datetime) -> dict[str, float]:
    unplanned = db.exec(select(func.min(RunRow.created_at)).where(col(RunRow.state).in_(_UNPLANNED))).one()
    queued = db.exec(
        select(AssignmentRow.queue, func.min(AssignmentRow.created_at))
        .where(AssignmentRow.state == AssignmentState.queued.value)
        .group_by(AssignmentRow.queue)
    ).all()
    since: dict[str, datetime | None] = {COORDINATOR: unplanned, **dict(queued)}
    return {queue: max(0.0, (at - then).total_seconds()) if then else 0.0 for queue, then in since.items()}
