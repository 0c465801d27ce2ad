"""The SQL rows of runs and everything below them; every row carries the version of its shape."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, Index, UniqueConstraint
from sqlmodel import Field, SQLModel

from kernel.clock import now
from kernel.database import UtcDateTime
from kernel.states import ApprovalState, AssignmentState, CallState, DeadLetterState, RunState


def _moment(*, index: bool = False) -> Any:
    return Field(default_factory=now, sa_type=UtcDateTime, index=index)


def _no_moment() -> Any:
    return Field(default=None, sa_type=UtcDateTime)


def _json(factory: Any = dict) -> Any:
    return Field(default_factory=factory, sa_column=Column(JSON, nullable=False))


#: The shape of the JSON in a row, see kernel.shapes; 0 is what was written before shapes were counted.
SHAPE = 3


def _shape() -> Any:
    return Field(default=SHAPE)


class SessionRow(SQLModel, table=True):
    """A conversation; its turns are the runs that name it, in order."""

    __tablename__ = "session"
    id: str = Field(primary_key=True)
    namespace: str = "default"
    user: str = "local"
    summary: str = ""
    created_at: datetime = _moment()
    updated_at: datetime = _moment()
    version: int = 0


class RunRow(SQLModel, table=True):
    """The handling of one request. Moves by compare-and-swap on `version`."""

    __tablename__ = "run"
    id: str = Field(primary_key=True)
    namespace: str = Field(default="default", index=True)
    user: str = "local"
    session_id: str | None = Field(default=None, index=True)
    state: str = Field(default=RunState.accepted.value, index=True)
    reason: str = ""
    request: dict[str, Any] = _json()
    playbook: str = ""
    planned_by: str = ""
    #: Names of the playbook rounds that were added, in order.
    rounds: list[str] = _json(list)
    priority: str = "normal"
    memories: list[dict[str, Any]] = _json(list)
    memory_note: str = ""
    session: list[dict[str, Any]] = _json(list)
    session_summary: str = ""
    #: `cancelled`, `expired` or `failed` once somebody, the clock or a budget said stop; the run ends in that state.
    stop: str = ""
    stop_reason: str = ""
    report: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON))
    deadline_at: datetime | None = _no_moment()
    created_at: datetime = _moment(index=True)
    updated_at: datetime = _moment()
    ended_at: datetime | None = _no_moment()
    #: True once the report is in the result back end; the reconciler stores it again until then.
    published: bool = False
    #: The number of its latest event; numbers have no gap.
    event_seq: int = 0
    version: int = 0
    shape: int = _shape()


class AssignmentRow(SQLModel, table=True):
    """One agent's part of a run. Every write names the fence."""

    __tablename__ = "assignment"
    __table_args__ = (UniqueConstraint("run_id", "key"), Index("ix_assignment_due", "state", "lease_until"))
    id: str = Field(primary_key=True)
    run_id: str = Field(index=True)
    key: str
    agent: str
    queue: str
    goal: str = ""
    inputs: dict[str, Any] = _json()
    needs: list[str] = _json(list)
    round: int = 1
    state: str = AssignmentState.pending.value
    reason: str = ""
    attempts: int = 0
    fence: int = 0
    #: Epoch seconds on the database's clock; 0 when nobody holds it.
    lease_until: float = 0.0
    worker: str = ""
    brain: str = ""
    outcome: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON))
    created_at: datetime = _moment()
    rung_at: datetime | None = _no_moment()
    started_at: datetime | None = _no_moment()
    ended_at: datetime | None = _no_moment()
    shape: int = _shape()


class TurnRow(SQLModel, table=True):
    """One answer of the brain, committed before its calls run."""

    __tablename__ = "turn"
    __table_args__ = (UniqueConstraint("assignment_id", "number"),)
    id: int | None = Field(default=None, primary_key=True)
    assignment_id: str = Field(index=True)
    number: int
    brain: str
    text: str = ""
    calls: list[dict[str, Any]] = _json(list)
    outcome: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON))
    note: str = ""
    usage: dict[str, Any] = _json()
    fence: int = 0
    created_at: datetime = _moment()
    shape: int = _shape()


class CallRow(SQLModel, table=True):
    """One use of one tool: the journal and, for calls with an effect, the ledger."""

    __tablename__ = "call"
    __table_args__ = (UniqueConstraint("assignment_id", "turn", "position"),)
    id: str = Field(primary_key=True)
    run_id: str = Field(index=True)
    assignment_id: str = Field(index=True)
    turn: int
    position: int
    tool: str
    arguments: dict[str, Any] = _json()
    effect: str
    #: sha256(run, assignment, tool, canonical arguments): the name of the effect in the world.
    key: str = Field(index=True)
    state: str = CallState.claimed.value
    result: dict[str, Any] | None = Field(default=None, sa_column=Column(JSON))
    fence: int = 0
    worker: str = ""
    attempts: int = 0
    created_at: datetime = _moment()
    started_at: datetime | None = _no_moment()
    ended_at: datetime | None = _no_moment()
    shape: int = _shape()


class ApprovalRow(SQLModel, table=True):
    """A person's decision on a call, bound to a digest; single use; expiry means no."""

    __tablename__ = "approval"
    call_id: str = Field(primary_key=True)
    run_id: str = Field(index=True)
    assignment_id: str
    tool: str
    argv: list[str] = _json(list)
    digest: str
    risk: str
    why: str = ""
    #: target, dry_run and undo, as the person saw them.
    shown: dict[str, Any] = _json()
    requester: str = ""
    state: str = Field(default=ApprovalState.pending.value, index=True)
    decided_by: str = ""
    reason: str = ""
    created_at: datetime = _moment()
    expires_at: datetime | None = _no_moment()
    decided_at: datetime | None = _no_moment()
    shape: int = _shape()


class DeliveryRow(SQLModel, table=True):
    """One message to one channel: the key (run, channel) makes it one."""

    __tablename__ = "delivery"
    key: str = Field(primary_key=True)
    run_id: str = Field(index=True)
    channel: str
    state: str = "claimed"
    attempts: int = 0
    answer: str = ""
    created_at: datetime = _moment()
    updated_at: datetime = _moment()


class AuditRow(SQLModel, table=True):
    """Who did what and why; rows are only ever added, each hashed with the one before."""

    __tablename__ = "audit"
    id: int | None = Field(default=None, primary_key=True)
    at: datetime = _moment()
    actor: str
    action: str
    subject: str
    detail: dict[str, Any] = _json()
    previous_hash: str = ""
    hash: str = ""


class DeadLetterRow(SQLModel, table=True):
    """Work that could not be done, kept for a person: a message no worker can read, or an assignment given up."""

    __tablename__ = "dead_letter"
    id: int | None = Field(default=None, primary_key=True)
    kind: str = "work"
    queue: str
    subject: str = ""
    reason: str
    #: Of a message: its beginning as text, for people; its size in bytes; the whole of it where it is short enough.
    first_bytes: str = ""
    size: int = 0
    body: bytes | None = None
    #: Its id in the dead-letter stream, so that taking it over twice keeps one row.
    stream_id: str | None = Field(default=None, unique=True, index=True)
    state: str = Field(default=DeadLetterState.kept.value, index=True)
    decided_by: str = ""
    created_at: datetime = _moment()
    decided_at: datetime | None = _no_moment()
