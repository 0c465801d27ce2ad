"""Events of a run as one line of text each."""

from __future__ import annotations

from coordinator.cli.history import short_call
from coordinator.cli.wording import one_line, size
from kernel.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    FindingFound,
    MemoryRecalled,
    QuestionAnswered,
    StatusChange,
    ToolCallProgress,
    ToolCallResult,
    ToolCallStart,
)
from kernel.states import AssignmentState

SUMMARY_LENGTH = 160
_MEMORY_LENGTH = 50
_WHAT_LENGTH = 80


def event_line(event: Event) -> str:
    """Return an event as one line of text, for output that is no terminal; empty where it says nothing."""
    who = event.agent or "run"
    if isinstance(event, StatusChange):
        attempt = event.detail.get("attempt", 1) if event.state == AssignmentState.running else 1
        reason = event.reason or (f"taken over, attempt {attempt}" if attempt > 1 else "")
        return f"{who}: {event.state}" + (f" ({reason})" if reason else "")
    if isinstance(event, ToolCallStart | ToolCallProgress | ToolCallResult):
        return _call_line(who, event)
    if isinstance(event, FindingFound):
        return f"{who}: found {event.finding.title}"
    if isinstance(event, ApprovalRequested):
        call = f"digest {event.digest}, call {short_call(event.call_id)}"
        return f"{who}: waits for approval of {event.tool} {event.argv!r}, {call}"
    if isinstance(event, ApprovalDecided | QuestionAnswered):
        said = answered(event) if isinstance(event, QuestionAnswered) else f"{event.decision} by {event.by}"
        return f"{who}: {said}"
    if isinstance(event, MemoryRecalled):
        return f"{who}: recalled {recalled(event)}"
    return ""


def _call_line(who: str, event: ToolCallStart | ToolCallProgress | ToolCallResult) -> str:
    if isinstance(event, ToolCallStart):
        return f"{who}: {event.tool} is made again (attempt {event.attempt})" if event.attempt > 1 else ""
    if isinstance(event, ToolCallProgress):
        return f"{who}: {event.tool} is {progressed(event)}"
    summary = one_line(event.summary, SUMMARY_LENGTH)
    return f"{who}: {event.tool} {event.state} in {event.seconds:.2f} s" + (f": {summary}" if summary else "")


def progressed(event: ToolCallProgress) -> str:
    """Return how far a call is, as one line; rounded down: what is not all read is not called all."""
    what = one_line(event.what, _WHAT_LENGTH)
    if not event.total:
        return f"reading {what}"
    if event.done >= event.total:
        return f"through with {what} ({size(event.total)}), working out the answer"
    return f"reading {what} {event.done * 100 // event.total} % ({size(event.done)} of {size(event.total)})"


def answered(event: QuestionAnswered) -> str:
    """Return what a person found out about a call, as one line."""
    return f"{event.tool} {event.answer.replace('_', ' ')}, said {event.by}: {event.reason}"


def recalled(event: MemoryRecalled) -> str:
    """Return what was recalled as one line: how many memories and the first."""
    if not event.memories:
        return f"nothing: {event.note}" if event.note else "nothing"
    first, count = event.memories[0], len(event.memories)
    more = f"{count} memories, the first" if count > 1 else "1 memory,"
    return f"{more} [mem:{first.id}] {one_line(first.text, _MEMORY_LENGTH)}"
