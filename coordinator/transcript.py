"""The transcript of a session: its ended runs as the turns that a new run sees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlmodel import col, select

from kernel import logs, shapes
from kernel.contracts import Request, SessionTurn, Source
from kernel.database import Database
from kernel.records import SHAPE, AssignmentRow, RunRow

log = logs.get(__name__)

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
        ended = [run for run in runs if run.report and _known(run)]
        rows = db.exec(
            select(AssignmentRow).where(col(AssignmentRow.run_id).in_([r.id for r in ended]))
        ).all()
    return [_session_turn(run, [row for row in rows if row.run_id == run.id]) for run in ended]


def latest_sources(database: Database, session_id: str, namespace: str) -> list[Source]:
    """Return what the session's latest request with sources named: "and the line before that?" means the same log."""
    with database.reading() as db:
        runs = db.exec(
            select(RunRow.request, RunRow.shape)
            .where(RunRow.session_id == session_id, RunRow.namespace == namespace, RunRow.shape <= SHAPE)
            .order_by(col(RunRow.created_at).desc())
            .limit(_SESSION_RUNS)
        ).all()
    requests = (shapes.column(RunRow, "request", request, shape) for request, shape in runs)
    named: list[Any] = next((request["sources"] for request in requests if request.get("sources")), [])
    return [Source.model_validate(source) for source in named]


def _known(run: RunRow) -> bool:
    """Tell whether a run can be told of; one of a newer version is left out, and a new run goes on without it."""
    if not shapes.readable(run):
        log.warning("session_run_left_out", run=run.id, shape=run.shape)
    return shapes.readable(run)


def _session_turn(run: RunRow, rows: Sequence[AssignmentRow]) -> SessionTurn:
    shapes.present(run)
    facts: dict[str, Any] = {}
    for row in rows:
        if shapes.readable(row):
            facts.update((shapes.present(row).outcome or {}).get("facts", {}))
    return SessionTurn(
        run_id=run.id,
        text=str(run.request.get("text", "")),
        answer=str((run.report or {}).get("answer", "")),
        agents=sorted({row.agent for row in rows}),
        facts=facts,
    )
