"""What the truth says about runs: rows found by the beginning of an id, and reports of open runs too."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from sqlalchemy import or_
from sqlmodel import Session, col, select

from coordinator.chronicle import marks
from coordinator.report import compose
from coordinator.stopping import look
from kernel.clock import local, now
from kernel.database import Database
from kernel.errors import Correctable, Fatal, Retryable
from kernel.records import ApprovalRow, AssignmentRow, CallRow, RunRow
from kernel.reports import Report
from kernel.settings import Settings
from kernel.shapes import present, readable
from kernel.states import ApprovalState, AssignmentState

_TEXT_LENGTH = 60
_AMBIGUOUS_SHOWN = 5

Row = TypeVar("Row", RunRow, CallRow)


@contextmanager
def reading(settings: Settings) -> Iterator[Session]:
    """Yield a session on the truth; raise Fatal where it was never made."""
    database = Database(settings.database)
    try:
        with database.reading() as session:
            yield session
    except Retryable as error:
        if "no such table" not in error.why:
            raise
        raise Fatal(
            "the desk has no database yet",
            why=error.why,
            next_step="Run `nightdesk up` or `nightdesk migrate`.",
        ) from error
    finally:
        database.close()


def find_run(session: Session, prefix: str) -> RunRow:
    """Return the run whose id begins so; raise Correctable where none or several do."""
    exact = session.get(RunRow, prefix)
    if exact is not None:
        return exact
    found = session.exec(
        select(RunRow).where(col(RunRow.id).startswith(prefix, autoescape=True)).limit(_AMBIGUOUS_SHOWN)
    ).all()
    return _only(list(found), "run", prefix, "Run `nightdesk runs` to see them.")


def find_call(session: Session, run_id: str, prefix: str) -> CallRow:
    """Return the call of a run with this id, in full or without the run before it."""
    found = session.exec(
        select(CallRow).where(
            col(CallRow.run_id) == run_id,
            or_(col(CallRow.id) == prefix, col(CallRow.id).endswith(f":{prefix}", autoescape=True)),
        )
    ).all()
    return _only(list(found), "call", prefix, f"Run `nightdesk show {run_id[:8]}` to see what waits.")


def short_call(call_id: str) -> str:
    """Return what people type for a call: its id without the run before it."""
    return call_id.rpartition(":")[2]


def _only(found: list[Row], kind: str, prefix: str, next_step: str) -> Row:
    if len(found) == 1:
        return found[0]
    if not found:
        raise Correctable(f"there is no {kind} {prefix!r}", next_step=next_step)
    raise Correctable(
        f"{prefix!r} is the beginning of several {kind}s",
        why=", ".join(row.id for row in found),
        next_step="Give more of the id.",
    )


def assignments_of(session: Session, run_id: str) -> list[AssignmentRow]:
    """Return the assignments of a run in the order they were made."""
    rows = session.exec(select(AssignmentRow).where(col(AssignmentRow.run_id) == run_id)).all()
    return sorted(map(present, rows), key=lambda row: (row.round, row.created_at, row.key))


def pending_approvals(session: Session, run_id: str) -> list[ApprovalRow]:
    """Return the calls of a run that wait for a person."""
    rows = session.exec(
        select(ApprovalRow).where(
            col(ApprovalRow.run_id) == run_id, col(ApprovalRow.state) == ApprovalState.pending.value
        )
    ).all()
    return [present(row) for row in rows]


def waiting_row(approval: ApprovalRow) -> dict[str, Any]:
    """Return a pending approval as scripts read it: all that the digest covers, and how to decide."""
    return {
        "call": short_call(approval.call_id),
        "tool": approval.tool,
        "argv": approval.argv,
        "risk": approval.risk,
        "digest": approval.digest,
        **approval.shown,
        "expires_at": approval.expires_at.isoformat() if approval.expires_at else None,
    }


def report_of(session: Session, run: RunRow) -> Report:
    """Return the report of a run; of an open one, what there is so far, in the run's present state."""
    if present(run).report is not None:
        return Report.model_validate(run.report)
    parts = assignments_of(session, run.id)
    so_far = compose(run, parts, now=now())
    changed = {"state": run.state, "reason": run.reason, "not_done": []}
    if not any(part.outcome for part in parts):
        changed["answer"] = _no_answer_yet(session, run, planned=bool(parts))
    return so_far.model_copy(update=changed)


def _no_answer_yet(session: Session, run: RunRow, *, planned: bool) -> str:
    """Return what is under way in place of an answer."""
    verb = {AssignmentState.waiting.value: "over"}
    doing = [
        f"{part.key} is {part.state}" + (f", {verb.get(part.state, 'in')} {part.doing}" if part.doing else "")
        for part in look(session, run, again=False).parts
    ]
    nothing = "no part is under way" if planned else "nothing is planned yet"
    return f"No answer yet: {'; '.join(doing) or nothing}."


def recent(session: Session, *, state: str | None, limit: int) -> list[dict[str, Any]]:
    """Return the newest runs, as rows of a table."""
    query = select(RunRow).order_by(col(RunRow.created_at).desc()).limit(limit)
    if state is not None:
        query = query.where(col(RunRow.state) == state)
    rows = session.exec(query).all()
    beside = marks(session, rows)
    return [
        {
            "run_id": row.id,
            "state": row.state,
            "marks": beside[row.id],
            "reason": row.reason,
            "text": _short(_asked(row)),
            "session_id": row.session_id,
            "priority": row.priority,
            "created_at": row.created_at.isoformat(),
            "created_local": local(row.created_at),
            "seconds": round(((row.ended_at or now()) - row.created_at).total_seconds(), 1),
        }
        for row in rows
    ]


def _asked(run: RunRow) -> str:
    """Return what was asked; one run of a newer version must not hide all others."""
    return str(present(run).request.get("text", "")) if readable(run) else "(written by a newer version)"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TEXT_LENGTH else f"{line[:_TEXT_LENGTH]}…"
