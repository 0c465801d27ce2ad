"""Questions to people: a call that may have happened becomes `unknown`, with all that is known of it."""

from __future__ import annotations

from typing import Any

from sqlmodel import Session, col, select

from kernel.clock import now
from kernel.ledgers import ChildRow, QuestionRow
from kernel.records import ApprovalRow, CallRow
from kernel.states import CallState, check_move


def ask(session: Session, call: CallRow, why: str, *, known: dict[str, Any] | None = None) -> None:
    """End a call as unknown and ask whether it happened; whoever finds out answers with `nightdesk resolve`."""
    check_move(CallState(call.state), CallState.unknown)
    call.state, call.ended_at = CallState.unknown.value, now()
    session.add(call)
    if session.get(QuestionRow, call.id) is not None:
        return
    approval = session.get(ApprovalRow, call.id)
    seen = {"argv": approval.argv, "target": approval.shown.get("target", "")} if approval else {}
    facts = {
        **seen,
        "arguments": call.arguments,
        "effect": call.effect,
        "started_at": call.started_at.isoformat() if call.started_at else "",
        "worker": call.worker,
        "why": why,
        **_program(session, call.id),
    }
    session.add(
        QuestionRow(
            call_id=call.id,
            run_id=call.run_id,
            assignment_id=call.assignment_id,
            tool=call.tool,
            known={**facts, **(known or {})},
        )
    )


def _program(session: Session, call_id: str) -> dict[str, Any]:
    """Return what is recorded of the program that the call's last attempt started."""
    rows = select(ChildRow).where(ChildRow.call_id == call_id).order_by(col(ChildRow.fence).desc())
    child = session.exec(rows).first()
    if child is None:
        return {}
    ended = child.ended_at.isoformat() if child.ended_at else ""
    started = child.started_at.isoformat()
    return {
        "program": {
            "host": child.host,
            "pid": child.pid,
            "started_at": started,
            "ended_at": ended,
            "exit_code": child.exit_code,
        }
    }
