"""The transcript of a session: its ended runs as the turns that a new run sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlmodel import col, select

from kernel.contracts import Request, SessionTurn, Source
from kernel.database import Database
from kernel.records import AssignmentRow, RunRow

#: Runs of a session that a new one is told of, most of them in its summary.
_SESSION_RUNS = 40


def in_session(database: Database, request: Request) -> tuple[Request, list[SessionTurn]]:
    """Return the request with what its session knows: earlier turns, and their sources where it names none."""
    if not request.session_id:
        return request, []
    place = (database, request.session_id, request.namespace)
    if not request.sources:
        request = request.model_copy(update={"sources": latest_sources(*place)})
    return request, earlier(*place)


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


def latest_sources(database: Database, session_id: str, namespace: str) -> list[Source]:
    """Return what the session's latest request with sources named: "and the line before that?" means the same log."""
    with database.reading() as db:
        runs = db.exec(
            select(RunRow.request)
            .where(RunRow.session_id == session_id, RunRow.namespace == namespace)
            .order_by(col(RunRow.created_at).desc())
            .limit(_SESSION_RUNS)
        ).all()
    named: list[Any] = next((request["sources"] for request in runs if request.get("sources")), [])
    return [Source.model_validate(source) for source in named]


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
