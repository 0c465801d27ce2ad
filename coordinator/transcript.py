"""The transcript of a session: its ended runs as the turns that a new run sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlmodel import col, select

from kernel.contracts import SessionTurn
from kernel.database import Database
from kernel.records import AssignmentRow, RunRow

#: Runs of a session that a new one is told of, most of them in its summary.
_SESSION_RUNS = 40


def earlier(database: Database, session_id: str, namespace: str) -> list[SessionTurn]:
    """Return the latest ended runs of a session of this namespace, oldest first."""
    with database.reading() as db:
        runs = db.exec(
            select(RunRow)
            .where(RunRow.session_id == session_id, RunRow.namespace == namespace)
            .order_by(col(RunRow.created_at).desc())
            .limit(_SESSION_RUNS)
        ).all()[::-1]
        ended = [run for run in runs if run.report]
        rows = db.exec(
            select(AssignmentRow).where(col(AssignmentRow.run_id).in_([r.id for r in ended]))
        ).all()
    return [_session_turn(run, [row for row in rows if row.run_id == run.id]) for run in ended]


def _session_turn(run: RunRow, rows: Sequence[AssignmentRow]) -> SessionTurn:
    facts: dict[str, Any] = {}
    for row in rows:
        facts.update((row.outcome or {}).get("facts", {}))
    return SessionTurn(
        run_id=run.id,
        text=str(run.request.get("text", "")),
        answer=str((run.report or {}).get("answer", "")),
        agents=sorted({row.agent for row in rows}),
        facts=facts,
    )
