"""The closed union of events in a run's stream; the stream id is the event id."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from kernel.contracts import Finding, MemoryHit
from kernel.reports import Report


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True)

    run_id: str
    assignment_id: str = ""
    agent: str = ""
    at: str = ""


class StatusChange(_Event):
    """A run (`assignment_id` empty) or an assignment moved to a state."""

    type: Literal["status_change"] = "status_change"
    state: str
    reason: str = ""
    detail: dict[str, Any] = {}


class TextDelta(_Event):
    """A piece of an answer, coalesced over about 40 ms."""

    type: Literal["text_delta"] = "text_delta"
    turn: int = 0
    text: str
    #: The text of this assignment that came before was cut and is being said again.
    superseded: bool = False


class ToolCallStart(_Event):
    """A call begins."""

    type: Literal["tool_call_start"] = "tool_call_start"
    call_id: str
    tool: str
    arguments: dict[str, Any] = {}
    #: Above 1 where it is made again after its worker died (as its effect allows).
    attempt: int = 1


class ToolCallProgress(_Event):
    """How far a call is that takes long; said beside the outbox, so one that is lost is lost."""

    type: Literal["tool_call_progress"] = "tool_call_progress"
    call_id: str
    tool: str
    #: What it reads, such as a log's name, and how many bytes of how many; all of them: it has not answered yet.
    what: str
    done: int = 0
    total: int = 0
    seconds: float = 0.0


class ToolCallResult(_Event):
    """A call ended; `summary` is one short line."""

    type: Literal["tool_call_result"] = "tool_call_result"
    call_id: str
    tool: str
    state: str
    summary: str = ""
    seconds: float = 0.0


class ApprovalRequested(_Event):
    """A call waits for a person; the digest is what the decision binds to."""

    type: Literal["approval_requested"] = "approval_requested"
    call_id: str
    tool: str
    argv: list[str]
    digest: str
    risk: str
    expires_at: str
    why: str = ""
    target: str = ""
    dry_run: str = ""
    undo: str = ""


class ApprovalDecided(_Event):
    """A person, or the clock, decided."""

    type: Literal["approval_decided"] = "approval_decided"
    call_id: str
    decision: Literal["approved", "denied", "expired"]
    by: str
    reason: str = ""


class QuestionAnswered(_Event):
    """A person found out whether a call happened that had ended unknown."""

    type: Literal["question_answered"] = "question_answered"
    call_id: str
    tool: str
    answer: Literal["happened", "not_happened"]
    by: str
    reason: str = ""


class MemoryRecalled(_Event):
    """Memories served to the run; `note` says why there are none."""

    type: Literal["memory_recalled"] = "memory_recalled"
    memories: list[MemoryHit] = []
    note: str = ""


class FindingFound(_Event):
    """A checked finding."""

    type: Literal["finding"] = "finding"
    finding: Finding


class ReportReady(_Event):
    """The run has ended; no event follows."""

    type: Literal["report"] = "report"
    report: Report


Event = Annotated[
    StatusChange
    | TextDelta
    | ToolCallStart
    | ToolCallProgress
    | ToolCallResult
    | ApprovalRequested
    | ApprovalDecided
    | QuestionAnswered
    | MemoryRecalled
    | FindingFound
    | ReportReady,
    Field(discriminator="type"),
]

EVENT: TypeAdapter[Event] = TypeAdapter(Event)
