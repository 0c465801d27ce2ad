"""The SQL rows that prove what happened beside the calls: events, spending, children, questions to people."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import JSON, Column, Index
from sqlmodel import Field, SQLModel

from kernel.clock import now
from kernel.database import UtcDateTime
from kernel.states import QuestionState


def _moment() -> Any:
    return Field(default_factory=now, sa_type=UtcDateTime)


class EventRow(SQLModel, table=True):
    """One event of a run, committed with what it tells; `seq` counts from 1 without a gap."""

    __tablename__ = "event"
    run_id: str = Field(primary_key=True)
    seq: int = Field(primary_key=True)
    body: dict[str, Any] = Field(sa_column=Column(JSON, nullable=False))


class SpendRow(SQLModel, table=True):
    """What one physical request or call cost: reserved before it is made, settled after it."""

    __tablename__ = "spend"
    __table_args__ = (Index("ix_spend_namespace", "namespace", "day"),)
    #: Names the one attempt: a retry or a take-over is another.
    key: str = Field(primary_key=True)
    run_id: str = Field(index=True)
    assignment_id: str = Field(default="", index=True)
    namespace: str = "default"
    #: UTC, YYYY-MM-DD.
    day: str = Field(index=True)
    settled: bool = False
    model_calls: int = 0
    tool_calls: int = 0
    tokens: int = 0
    #: US dollars.
    cost: float = 0.0
    seconds: float = 0.0
    created_at: datetime = _moment()


class ChildRow(SQLModel, table=True):
    """A process started for a call, named so that it can never be taken for another one."""

    __tablename__ = "child"
    call_id: str = Field(primary_key=True)
    fence: int = Field(primary_key=True)
    host: str
    boot_id: str
    pid: int
    #: Clock ticks after boot, /proc/PID/stat field 22.
    start_ticks: int
    started_at: datetime = _moment()
    ended_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    exit_code: int | None = None


class QuestionRow(SQLModel, table=True):
    """A call whose outcome the desk cannot know: what is known of it, and what a person found out."""

    __tablename__ = "question"
    call_id: str = Field(primary_key=True)
    run_id: str = Field(index=True)
    assignment_id: str
    tool: str
    #: argv, target, started_at, worker, what the probe said.
    known: dict[str, Any] = Field(default_factory=dict, sa_column=Column(JSON, nullable=False))
    state: str = Field(default=QuestionState.open.value, index=True)
    answered_by: str = ""
    reason: str = ""
    created_at: datetime = _moment()
    answered_at: datetime | None = Field(default=None, sa_type=UtcDateTime)


class WorkingRow(SQLModel, table=True):
    """One slot of a run's working memory: what, where, when, which ids; gone a day after the run ended."""

    __tablename__ = "working"
    run_id: str = Field(primary_key=True)
    slot: str = Field(primary_key=True)
    value: Any = Field(default=None, sa_column=Column(JSON, nullable=False))
    #: Who wrote it: `request`, or the key of an assignment.
    source: str = ""
    at: datetime = _moment()
