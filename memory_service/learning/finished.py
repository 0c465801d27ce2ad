"""Finished runs as the kernel's records tell of them: what one says, and which are not learnt from yet."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import col, select

from kernel.contracts import Request
from kernel.database import Database
from kernel.recalls import recalled
from kernel.records import AssignmentRow, CallRow, RunRow
from kernel.reports import Report
from kernel.shapes import column, present
from kernel.states import RUN_ENDED
from memory_service.learning.runs import FinishedRun
from memory_service.tables import JobRunRow


@dataclass(frozen=True)
class Citations:
    """The served memories that a run cites; `by` is counted once (its session, where it has one)."""

    ids: list[str]
    by: str


def finished_run(database: Database, run_id: str) -> tuple[FinishedRun, Citations] | None:
    """Return a run with all that extraction needs; None where it has not ended."""
    with database.reading() as session:
        row = session.get(RunRow, run_id)
        if row is None or row.state not in RUN_ENDED:
            return None
        calls = session.exec(select(CallRow.id, CallRow.state).where(CallRow.run_id == run_id)).all()
        left = session.exec(
            select(AssignmentRow.outcome, AssignmentRow.shape).where(AssignmentRow.run_id == run_id)
        ).all()
        by_tool = recalled(session, run_id)
    present(row)
    outcomes = [column(AssignmentRow, "outcome", outcome, shape) for outcome, shape in left]
    report = Report.model_validate(row.report or {"run_id": run_id, "state": row.state})
    request = Request.model_validate(row.request)
    served = by_tool | {str(memory["id"]): str(memory.get("text", "")) for memory in row.memories}
    cited = {memory.id for memory in report.memories if memory.cited}
    cited |= {str(id_) for outcome in outcomes for id_ in (outcome or {}).get("cited_memories", [])}
    run = FinishedRun(
        run_id=run_id,
        namespace=row.namespace,
        user=row.user,
        request=request.text,
        told_at=min(row.created_at, row.ended_at or row.created_at),
        session=row.session_id or "",
        labels=request.labels,
        report=report,
        calls=dict(calls),
        served=list(served.values()),
    )
    by = f"session:{row.session_id}" if row.session_id else f"run:{run_id}"
    # only what was served to this run can have been cited by it
    return run, Citations(sorted(cited & set(served)), by)


def unlearnt(database: Database, *, since: datetime, limit: int) -> list[str]:
    """Return runs that ended after `since` and were not learnt from: their doorbell was lost."""
    learnt = select(JobRunRow.epoch).where(JobRunRow.job == "learn")
    query = select(RunRow.id).where(
        col(RunRow.state).in_([state.value for state in RUN_ENDED]),
        col(RunRow.ended_at) > since,
        col(RunRow.id).not_in(learnt),
    )
    with database.reading() as session:
        return list(session.exec(query.order_by(col(RunRow.ended_at)).limit(limit)))
