"""The SQL rows of the memory service: the truth that the vector index can be rebuilt from."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import DDL, JSON, Column, Index, LargeBinary, UniqueConstraint, event, text
from sqlmodel import Field, SQLModel

from kernel.clock import now
from kernel.database import UtcDateTime


def _moment() -> Any:
    return Field(default_factory=now, sa_type=UtcDateTime)


def _no_moment() -> Any:
    return Field(default=None, sa_type=UtcDateTime)


def _json(factory: Any) -> Any:
    return Field(default_factory=factory, sa_column=Column(JSON, nullable=False))


class MemoryRow(SQLModel, table=True):
    """What is remembered. `live` holds the key: one row per namespace, user, kind and key."""

    __tablename__ = "memory"
    __table_args__ = (
        Index(
            "ux_memory_live",
            "namespace",
            "user",
            "kind",
            "key_hash",
            unique=True,
            sqlite_where=text("live"),
            postgresql_where=text("live"),
        ),
        Index("ix_memory_namespace", "namespace", "pk"),
        Index("ix_memory_kind", "namespace", "kind", "pk"),
        # history too, for questions about the past: the unique index holds live rows only
        Index("ix_memory_key", "key_hash", "namespace"),
    )
    pk: int | None = Field(default=None, primary_key=True)
    id: str = Field(unique=True)
    namespace: str
    user: str = ""
    owner: str = "user"
    kind: str
    key: str = ""
    key_hash: str
    live: bool = True
    text: str
    #: Words beside the text (the turns before and after it): indexed, never shown.
    context: str = ""
    slots: dict[str, Any] = _json(dict)
    tags: list[str] = _json(list)
    source_kind: str
    source_ref: str = ""
    #: The session it was told in; a session may leave only so many memories a day.
    session: str = ""
    #: Ids of the memories it was made of (summaries): it is forgotten with any of them.
    made_from: list[str] = _json(list)
    trust: float
    #: All that is left of a forgotten memory is this hash.
    content_hash: str = Field(index=True)
    valid_from: datetime = _moment()
    valid_to: datetime | None = _no_moment()
    superseded_by: str = ""
    recorded_at: datetime = _moment()


class MemoryStateRow(SQLModel, table=True):
    """What changes often, kept narrow (decay is 4 times as fast); times are epoch seconds, for arithmetic."""

    __tablename__ = "memory_state"
    __table_args__ = (Index("ix_memory_state_due", "status", "next_transition_at"),)
    pk: int = Field(primary_key=True, foreign_key="memory.pk", sa_column_kwargs={"autoincrement": False})
    status: str
    tier: str
    next_transition_at: float
    importance: float
    emotion: float = 0.0
    weight: int = 1
    half_life_s: float
    last_access_at: float
    access_count: int = 0
    expires_at: float | None = None
    rev: int = 1


class MemoryOutboxRow(SQLModel, table=True):
    """A memory whose index entry is to be looked at again; one row each, never the content."""

    __tablename__ = "memory_outbox"
    pk: int = Field(primary_key=True, foreign_key="memory.pk", sa_column_kwargs={"autoincrement": False})
    rev: int
    enqueued_at: datetime = _moment()
    attempts: int = 0
    last_error: str = ""


class MemoryAuditRow(SQLModel, table=True):
    """Who changed what and why; no text of a memory, since forgotten texts must be gone everywhere."""

    __tablename__ = "memory_audit"
    seq: int | None = Field(default=None, primary_key=True)
    at: datetime = _moment()
    actor: str
    action: str
    memory_id: str = Field(default="", index=True)
    namespace: str = ""
    before: dict[str, Any] = _json(dict)
    after: dict[str, Any] = _json(dict)
    reason: str = ""
    previous_hash: str = ""
    hash: str


class MemoryAccessRow(SQLModel, table=True):
    """A citation, buffered until the next flush; once per memory and run or session."""

    __tablename__ = "memory_access"
    __table_args__ = (UniqueConstraint("pk", "cited_by"),)
    id: int | None = Field(default=None, primary_key=True)
    pk: int = Field(foreign_key="memory.pk")
    cited_by: str
    at: float
    flushed: bool = Field(default=False, index=True)


class JobRunRow(SQLModel, table=True):
    """One job of one epoch (a night, a run): its lease, how far it came, what it did."""

    __tablename__ = "job_run"
    job: str = Field(primary_key=True)
    epoch: str = Field(primary_key=True)
    state: str = "running"
    cursor: str = ""
    counts: dict[str, Any] = _json(dict)
    holder: str = ""
    #: Epoch seconds on the database's clock.
    lease_until: float = 0.0
    started_at: datetime = _moment()
    ended_at: datetime | None = _no_moment()


class EmbedSpaceRow(SQLModel, table=True):
    """An embedding space; `probe` is the vector of a fixed text, by which a swapped model is noticed."""

    __tablename__ = "embed_space"
    id: str = Field(primary_key=True)
    name: str
    dimensions: int
    probe: list[float] = _json(list)
    #: `current` (served), `shadow` (being built beside it), `retired` (kept for a way back).
    state: str = "current"
    #: Settings that make its embedder again: embedder, model, base_url; never a key.
    made_by: dict[str, Any] = _json(dict)
    #: Where its vectors are cached: a rebuilt space shares those of the space it replaces. "": under its own id.
    vectors_of: str = ""
    #: Highest memory that a shadow build has come to.
    built_to: int = 0
    #: Measured cut-offs and what they rest on (`nightdesk memory calibrate`); empty: the embedder's seed values.
    calibration: dict[str, Any] = _json(dict)
    created_at: datetime = _moment()
    retired_at: datetime | None = _no_moment()


class EmbedCacheRow(SQLModel, table=True):
    """A vector by the hash of its text, so that rebuilding the index embeds nothing again."""

    __tablename__ = "embed_cache"
    space_id: str = Field(primary_key=True)
    content_hash: str = Field(primary_key=True)
    vector: bytes = Field(sa_column=Column(LargeBinary, nullable=False))


class MemoryRateRow(SQLModel, table=True):
    """How many memories a session or source left on a day (UTC, YYYY-MM-DD)."""

    __tablename__ = "memory_rate"
    namespace: str = Field(primary_key=True)
    source: str = Field(primary_key=True)
    day: str = Field(primary_key=True, index=True)
    count: int = 0


#: The words of archived memories, found by text alone: hashed tokens of `lexical`, so that engines split them alike
#: whatever the language. A virtual table of FTS5 in SQLite; a tsvector with its index in PostgreSQL.
ARCHIVE_DDL: dict[str, tuple[str, ...]] = {
    "sqlite": ("CREATE VIRTUAL TABLE IF NOT EXISTS memory_archive USING fts5(words)",),
    "postgresql": (
        "CREATE TABLE IF NOT EXISTS memory_archive (rowid INTEGER PRIMARY KEY, words TSVECTOR NOT NULL)",
        "CREATE INDEX IF NOT EXISTS ix_memory_archive ON memory_archive USING gin (words)",
    ),
}
for _dialect, _statements in ARCHIVE_DDL.items():
    for _statement in _statements:
        _ddl = DDL(_statement).execute_if(dialect=_dialect)  # type: ignore[no-untyped-call] # SQLAlchemy has no types for it
        event.listen(SQLModel.metadata, "after_create", _ddl)
