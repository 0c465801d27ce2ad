"""The report: what a run answers. Its shape is versioned and frozen by a golden schema."""

from __future__ import annotations

from kernel.contracts import ActionOutcome, Finding, NotDone, NotificationOutcome, Usage, Value

#: A reader checks it before anything else. Documented in docs/report.md.
REPORT_VERSION = 1


class AssignmentSummary(Value):
    """Who did which part, with what brain, and how it ended."""

    key: str
    agent: str
    state: str
    worker: str = ""
    brain: str = ""
    attempts: int = 0
    reason: str = ""


class ReportMemory(Value):
    """A memory that was served to the run, and whether the report cites it."""

    id: str
    text: str
    cited: bool = False


class Report(Value):
    """What a run answers. The shape is versioned: see docs/report.md."""

    version: int = REPORT_VERSION
    run_id: str
    state: str
    reason: str = ""
    request: str = ""
    answer: str = ""
    findings: list[Finding] = []
    not_found: list[str] = []
    actions: list[ActionOutcome] = []
    notifications: list[NotificationOutcome] = []
    memories: list[ReportMemory] = []
    not_done: list[NotDone] = []
    assignments: list[AssignmentSummary] = []
    planned_by: str = ""
    usage: Usage = Usage()
    timings: dict[str, float] = {}
    #: What the requester's preferences ask for (kernel.style), as the report's own words follow it.
    language: str = ""
    length: str = ""
