"""Ringing: every doorbell of some runs, again and again, as a lost and restored message or a second reconciler would."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from sqlmodel import col, select

from kernel.broker import MAINTENANCE
from kernel.errors import Retryable
from kernel.records import AssignmentRow
from kernel.states import ASSIGNMENT_ENDED
from tests.chaos.plan import RunSpec
from tests.chaos.stage import Stage


async def ring_all(stage: Stage, runs: Sequence[RunSpec], *, times: int = 2) -> int:
    """Ring for each of the runs and each of its open assignments, and for the reconciler; return how often."""
    return await asyncio.to_thread(_ring, stage, [spec.id for spec in runs], times)


def _ring(stage: Stage, ids: list[str], times: int) -> int:
    parts = stage.parts
    with parts.store.database.reading() as session:
        query = select(AssignmentRow).where(col(AssignmentRow.run_id).in_(ids))
        rows = session.exec(query.where(col(AssignmentRow.state).not_in(ASSIGNMENT_ENDED))).all()
    rung = 0
    try:
        for _ in range(times):
            parts.doorbell.ring("maintenance.reconcile", "", queue_name=MAINTENANCE)
            for run_id in {row.run_id for row in rows}:
                parts.doorbell.ring_run(run_id)
            for row in rows:
                parts.doorbell.ring_work(row)
            rung += 1 + len(rows) + len({row.run_id for row in rows})
    except Retryable:
        return rung  # Redis is away; there will be another ring
    return rung
