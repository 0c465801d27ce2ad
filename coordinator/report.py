"""The report, pure: put together from what the assignments left, and rendered as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from kernel.contracts import ActionOutcome, MemoryHit, NotDone, Outcome, Request, Usage
from kernel.records import AssignmentRow, CallRow, RunRow
from kernel.reports import AssignmentSummary, Report, ReportMemory
from kernel.states import CALL_ENDED, AssignmentState, CallState, RunState

_A = AssignmentState
#: A report stays readable, and under the 64 KiB that a message in Redis may have.
_MAX_FINDINGS = 20
_MAX_EVIDENCE = 6
_REQUEST_CHARACTERS = 500


def refusal(run_id: str, reason: str) -> Report:
    """Return the report of a request that was not accepted."""
    return Report(run_id=run_id, state=RunState.failed.value, reason=reason, answer=f"Not accepted: {reason}")


def end_state(run: RunRow, assignments: Sequence[AssignmentRow]) -> tuple[RunState, str]:
    """Return how a run ends and why: as it was stopped, succeeded where any part was done, else failed or expired."""
    if run.stop:
        return RunState(run.stop), run.stop_reason
    states = [_A(a.state) for a in assignments]
    if _A.done in states:
        return RunState.succeeded, ""
    bad = next((a for a in assignments if a.reason), None)
    reason = f"{bad.key}: {bad.reason}" if bad else "no assignment was made"
    return (RunState.expired if _A.expired in states else RunState.failed), reason


def compose(
    run: RunRow, assignments: Sequence[AssignmentRow], *, now: datetime, effects: Sequence[CallRow] = ()
) -> Report:
    """Return the report of a run that ends now; `effects` are calls of parts that left no outcome."""
    state, reason = end_state(run, assignments)
    ordered = sorted(assignments, key=lambda a: (a.round, a.created_at, a.key))
    outcomes = [Outcome.model_validate(a.outcome) for a in ordered if a.outcome]
    request = Request.model_validate(run.request)
    cited = {id_ for outcome in outcomes for id_ in outcome.cited_memories}
    findings = sorted((f for o in outcomes for f in o.findings), key=lambda f: -f.score)[:_MAX_FINDINGS]
    usage = Usage()
    for outcome in outcomes:
        usage = usage.plus(outcome.usage)
    return Report(
        run_id=run.id,
        state=state.value,
        reason=reason,
        request=request.text[:_REQUEST_CHARACTERS],
        answer=_answer(outcomes, reason),
        findings=[f.model_copy(update={"evidence": f.evidence[:_MAX_EVIDENCE]}) for f in findings],
        not_found=_unique(n for o in outcomes for n in o.not_found),
        actions=[*(a for o in outcomes for a in o.actions), *(_effect(call) for call in effects)],
        notifications=[n for o in outcomes for n in o.notifications],
        memories=_memories(run, cited),
        not_done=[*_unique_not_done(outcomes), *_undone(run, ordered)],
        assignments=[_summary(a) for a in ordered],
        planned_by=run.planned_by,
        usage=usage,
        timings=_timings(run, ordered, now),
    )


def _effect(call: CallRow) -> ActionOutcome:
    """Return what the ledger knows of a call; one that never ended may have happened."""
    state = CallState(call.state)
    value = (call.result or {}).get("value")
    argv = value.get("argv") if isinstance(value, dict) else None
    error = (call.result or {}).get("error") or {}
    return ActionOutcome(
        name=call.tool,
        argv=[str(part) for part in argv] if isinstance(argv, list) else [],
        state=(state if state in CALL_ENDED else CallState.unknown).value,
        detail=error.get("message", ""),
        call_id=call.id,
        parameters=call.arguments,
    )


def _answer(outcomes: Sequence[Outcome], reason: str) -> str:
    parts = [o.answer.strip() for o in outcomes if o.answer.strip()]
    return "\n\n".join(parts) or (f"No answer: {reason}." if reason else "No answer.")


def _memories(run: RunRow, cited: set[str]) -> list[ReportMemory]:
    hits = [MemoryHit.model_validate(memory) for memory in run.memories]
    return [ReportMemory(id=hit.id, text=hit.text, cited=hit.id in cited) for hit in hits]


def _unique(texts: object) -> list[str]:
    return list(dict.fromkeys(texts))  # type: ignore[call-overload] # an iterable of str; keeps order


def _unique_not_done(outcomes: Sequence[Outcome]) -> list[NotDone]:
    return list({(n.what, n.why): n for o in outcomes for n in o.not_done}.values())


def _undone(run: RunRow, assignments: Sequence[AssignmentRow]) -> list[NotDone]:
    notes = []
    for a in assignments:
        told = [note.get("why") for note in (a.outcome or {}).get("not_done", [])]
        if a.state != _A.done and a.reason not in told:  # else the part said so itself
            notes.append(NotDone(what=f"{a.agent}: {a.goal}"[:200], why=a.reason or a.state))
    if run.memory_note:
        notes.append(NotDone(what="recall of memories", why=run.memory_note))
    return notes


def _summary(row: AssignmentRow) -> AssignmentSummary:
    return AssignmentSummary(
        key=row.key,
        agent=row.agent,
        state=row.state,
        worker=row.worker,
        brain=row.brain,
        attempts=row.attempts + 1 if row.fence else 0,
        reason=row.reason,
    )


def _timings(run: RunRow, assignments: Sequence[AssignmentRow], now: datetime) -> dict[str, float]:
    started = [a.started_at for a in assignments if a.started_at]
    times = {"total_seconds": _seconds(run.created_at, now)}
    if started:
        times["until_first_work_seconds"] = _seconds(run.created_at, min(started))
    for a in assignments:
        if a.started_at and a.ended_at:
            times[f"{a.key}_seconds"] = _seconds(a.started_at, a.ended_at)
    return times


def _seconds(start: datetime, end: datetime) -> float:
    return round((end - start).total_seconds(), 3)


def markdown(report: Report) -> str:
    """Return the report for people."""
    lines = [f"# Run {report.run_id[:13]}: {_ended(report)}", "", report.answer, ""]
    if report.findings:
        lines += ["## Findings", ""]
    for number, finding in enumerate(report.findings, start=1):
        lines.append(f"{number}. **{finding.title}** ({finding.severity}, score {finding.score:.2f})")
        lines += [f"   - `{e.source}:{e.line}` {_quoted(e.quote)}" for e in finding.evidence]
    for title, items in (
        (
            "Actions",
            [_done(action) for action in report.actions],
        ),
        ("Notifications", [f"{n.channel}: {n.state} {n.detail}".strip() for n in report.notifications]),
        ("Memories", [f"[mem:{m.id}]{' (cited)' if m.cited else ''} {m.text}" for m in report.memories]),
        ("Not found", report.not_found),
        ("Not done", [f"{n.what}: {n.why}" for n in report.not_done]),
    ):
        if items:
            lines += ["", f"## {title}", "", *(f"- {item}" for item in items)]
    return "\n".join(lines).rstrip() + "\n"


def _quoted(text: str) -> str:
    """Return a quote as a code span whose fence is longer than any run of backticks in it."""
    runs = [len(ticks) for ticks in re.findall("`+", text)]
    if not runs:
        return f"`{text}`"
    fence = "`" * (max(runs) + 1)
    # blanks beside the fence keep a backtick at the edge of the code from joining it
    return f"{fence} {text} {fence}"


def _ended(report: Report) -> str:
    """Return the state, and beside it what a reader of one line must not miss."""
    states = [action.state for action in report.actions]
    counts = ((state, states.count(state)) for state in (CallState.unknown, CallState.denied))
    return ", ".join([report.state, *(f"{count} {state}" for state, count in counts if count)])


def _done(action: ActionOutcome) -> str:
    """Return an action as one line; only what was done can be verified."""
    seen = {True: ", verified", False: ", NOT verified", None: ", not verified"}[action.verified]
    text = f"{action.name}: {action.state}" + (seen if action.state == CallState.done else "")
    return f"{text}: {_quoted(' '.join(action.argv))}" if action.argv else text
