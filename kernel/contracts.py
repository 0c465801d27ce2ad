"""The frozen values that cross a border: requests, plans, outcomes, findings, cards."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class Value(BaseModel):
    """A frozen value that refuses unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Effect(StrEnum):
    """What a call does to the world, and so what may be done when its outcome is not known."""

    read = "read"
    idempotent = "idempotent"
    keyed = "keyed"
    probe = "probe"
    unsafe = "unsafe"


class Priority(StrEnum):
    """How urgent a request is."""

    high = "high"
    normal = "normal"
    low = "low"


class Source(Value):
    """One log a run may read: a path under an allowed root, or an attached artifact.

    `name` is what evidence cites; `path` is absolute; `artifact` is an id in the artifact store. With neither, it is
    the name of a source that some worker's card carries. `format` and `zone` (an IANA name, for time stamps that name
    none) overrule what the reader would find by itself.
    """

    name: str
    path: str | None = None
    artifact: str | None = None
    format: str = ""
    zone: str = ""


class Request(Value):
    """What is submitted."""

    text: str
    sources: list[Source] = []
    labels: dict[str, str] = {}
    namespace: str = "default"
    user: str = "local"
    session_id: str | None = None
    priority: Priority = Priority.normal
    deadline_seconds: float | None = Field(default=None, gt=0)
    brain: Literal["auto", "routine", "model"] = "auto"


class Evidence(Value):
    """A log line as proof: `line` counts from 1, `quote` is redacted and may be cut with …."""

    source: str
    line: int = Field(ge=1)
    quote: str


class Finding(Value):
    """A claim with its evidence; `score` is 0..1, `key` names the kind of cause for playbooks and memory.

    `reasons` say in plain words what the score rests on; `against` are lines that speak against the claim.
    """

    title: str
    severity: Literal["critical", "error", "warning", "info"] = "error"
    score: float = Field(default=0.5, ge=0, le=1)
    detail: str = ""
    key: str = ""
    evidence: list[Evidence] = []
    reasons: list[str] = []
    against: list[Evidence] = []


class ActionOutcome(Value):
    """What became of one action; `state` is a call state; `verified` is None where nothing was verified."""

    name: str
    argv: list[str] = []
    state: str
    verified: bool | None = None
    detail: str = ""
    call_id: str = ""
    parameters: dict[str, Any] = {}


class NotificationOutcome(Value):
    """What became of one message to one channel."""

    channel: str
    state: Literal["sent", "failed", "skipped", "unknown"]
    detail: str = ""


class MemoryHit(Value):
    """A memory served to a run; `slots` holds its structured part (cause, pattern, remedy)."""

    id: str
    kind: Literal["fact", "preference", "episode", "procedure", "summary"] = "fact"
    text: str
    tier: Literal["high", "middle"] = "middle"
    score: float = 0.0
    age_days: float = 0.0
    source: str = ""
    slots: dict[str, Any] = {}
    explain: dict[str, float] = {}
    certified: bool = False


class NotDone(Value):
    """Something that was wanted and not done, and why."""

    what: str
    why: str


class Usage(Value):
    """What something cost; times in seconds, money in US dollars."""

    turns: int = 0
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0

    def plus(self, other: Usage) -> Usage:
        """Return the sum of both."""
        return Usage(**{name: getattr(self, name) + getattr(other, name) for name in Usage.model_fields})


class Outcome(Value):
    """What an assignment leaves behind."""

    answer: str = ""
    findings: list[Finding] = []
    not_found: list[str] = []
    actions: list[ActionOutcome] = []
    notifications: list[NotificationOutcome] = []
    not_done: list[NotDone] = []
    cited_memories: list[str] = []
    #: Structured facts for the session's next turns; never shown as the answer.
    facts: dict[str, Any] = {}
    brain: str = "routine"
    #: False where nothing could be done at all (no log given, none readable, no such action): the part failed.
    achieved: bool = True
    partial: bool = False
    usage: Usage = Usage()


class PlannedAssignment(Value):
    """One agent's part of a plan; `needs` names keys of other assignments of the same run."""

    #: Part of the ids that people type, so it holds nothing but a word.
    key: str = Field(pattern=r"^[a-z][a-z0-9_]{0,30}$")
    agent: str
    goal: str
    inputs: dict[str, Any] = {}
    needs: list[str] = []


class Plan(Value):
    """Assignments of one round, with who planned them (`playbook:<name>` or `model`)."""

    planned_by: str
    assignments: list[PlannedAssignment] = Field(max_length=8)


class SessionTurn(Value):
    """An earlier run of the session: what was asked, what was answered, what the agents kept as facts."""

    run_id: str
    text: str
    answer: str
    agents: list[str] = []
    facts: dict[str, Any] = {}


class Work(Value):
    """Everything an agent is told about its assignment."""

    run_id: str
    assignment_id: str
    agent: str
    goal: str
    request: str
    inputs: dict[str, Any] = {}
    sources: list[Source] = []
    memories: list[MemoryHit] = []
    earlier: dict[str, Outcome] = {}
    labels: dict[str, str] = {}
    namespace: str = "default"
    user: str = "local"
    session: list[SessionTurn] = []
    session_summary: str = ""
    #: The run's working memory: what, where, when, ids, and what its assignments found so far.
    working: dict[str, Any] = {}
    brain: Literal["auto", "routine", "model"] = "auto"
    deadline_at: datetime | None = None


class Card(Value):
    """What a live worker says it can do; published to Redis with a time to live."""

    agent: str
    purpose: str
    queue: str
    worker: str
    tools: list[str] = []
    #: Named sources that it reaches, and their queues, which it consumes beside `queue` (kernel.source_queues).
    sources: list[str] = []
    queues: list[str] = []
    #: RE2 patterns over the request text: what this agent is for where no playbook and no model plans.
    handles: list[str] = []
    version: str = ""
