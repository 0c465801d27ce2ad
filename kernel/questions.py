"""Questions to people: a call that may have happened becomes `unknown`; approvals nobody needs are withdrawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import update
from sqlmodel import Session, col, select

from kernel.clock import now
from kernel.errors import Refused
from kernel.ledgers import ChildRow, QuestionRow
from kernel.records import ApprovalRow, CallRow
from kernel.shapes import present
from kernel.states import ApprovalState, CallState, QuestionState, check_move


def ask(session: Session, call: CallRow, why: str, *, known: dict[str, Any] | None = None) -> None:
    """End a call as unknown and ask whether it happened; whoever finds out answers with `nightdesk resolve`."""
    check_move(CallState(call.state), CallState.unknown)
    call.state, call.ended_at = CallState.unknown.value, now()
    session.add(call)
    if session.get(QuestionRow, call.id) is not None:
        return
    approval = session.get(ApprovalRow, call.id)
    seen = _shown(present(approval)) if approval else {}
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


def answer(
    session: Session, call: CallRow, question: QuestionRow, *, happened: bool, by: str, reason: str
) -> None:
    """Record what a person found out: the call is done or failed in their words; raise Refused the second time."""
    if question.state != QuestionState.open.value:
        raise Refused(
            f"whether {question.tool} happened was already answered",
            why=f"{question.answered_by} said {question.state.replace('_', ' ')}: {question.reason}",
        )
    said = QuestionState.happened if happened else QuestionState.not_happened
    state = CallState.done if happened else CallState.failed
    check_move(QuestionState(question.state), said)
    check_move(CallState(call.state), state)
    question.state, question.answered_by, question.reason = said.value, by, reason
    question.answered_at = now()
    call.state, call.result = state.value, _said(call, happened=happened, by=by, reason=reason)
    session.add_all([question, call])


def withdraw(session: Session, assignment_ids: Sequence[str], reason: str) -> None:
    """End the approvals that assignments wait for no more: nobody is asked about a call that is never made."""
    session.execute(
        update(ApprovalRow)
        .where(
            col(ApprovalRow.assignment_id).in_(assignment_ids),
            col(ApprovalRow.state) == ApprovalState.pending.value,
        )
        .values(state=ApprovalState.expired.value, reason=reason, decided_at=now())
    )


def _said(call: CallRow, *, happened: bool, by: str, reason: str) -> dict[str, Any]:
    """Return the result that a call has by a person's word; what the tool itself returned stays in it."""
    words = f"said by {by}: it {'happened' if happened else 'did not happen'}: {reason}"
    value = (call.result or {}).get("value")
    if not happened:
        return {"value": value, "error": {"code": "not_happened", "message": words, "suggestion": ""}}
    kept = value if isinstance(value, dict) else {}
    return {"value": {**kept, "state": CallState.done.value, "note": words}}


def _shown(approval: ApprovalRow) -> dict[str, Any]:
    return {"argv": approval.argv, "target": approval.shown.get("target", "")}


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
