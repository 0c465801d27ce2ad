"""A whole memory on one folder: real SQLite, real Edge, the hash embedder, and a clock that tests move."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlmodel import SQLModel

import kernel.records  # noqa: F401 the tables of runs
from kernel.contracts import ActionOutcome, Evidence, Finding, MemoryHit, Request
from kernel.database import Database
from kernel.records import RunRow
from kernel.redaction import Redactor
from kernel.reports import Report, ReportMemory
from memory_service.decay import Decay
from memory_service.domain import Candidate
from memory_service.embed.hash import HashEmbedder
from memory_service.embed.port import Embedder
from memory_service.index.edge import EdgeIndex
from memory_service.index.port import MemoryIndex
from memory_service.recall import Recall
from memory_service.relay import Relay
from memory_service.scoring import Weights
from memory_service.service import MemoryService
from memory_service.space import current_space
from memory_service.store import Store

START = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


@dataclass
class World:
    database: Database
    index: MemoryIndex
    store: Store
    relay: Relay
    decay: Decay
    memory: MemoryService
    now: datetime = START
    secrets: list[str] = field(default_factory=list)

    def pass_days(self, days: float) -> None:
        self.now += timedelta(days=days)

    def remember(self, text: str, *, relay: bool = True, **fields: Any) -> str:
        values = {"namespace": "default", "kind": "fact", "importance": 0.7, "source_kind": "user", **fields}
        candidate = Candidate(text=text, **values)
        if not relay:
            return self.store.write(candidate, "store", at=self.now, actor="test").id
        written = self.memory.remember(candidate, actor="test")
        assert written is not None
        return written.id

    def recall(self, text: str, **fields: Any) -> list[MemoryHit]:
        return self.memory.recall({"text": text, **fields})

    def texts(self, text: str, **fields: Any) -> list[str]:
        return [hit.text for hit in self.recall(text, **fields)]

    def drift(self) -> int:
        return self.relay.reconcile().total


@contextmanager
def world(
    folder: Path, *, embedder: Embedder | None = None, secrets: list[str] | None = None
) -> Iterator[World]:
    folder.mkdir(parents=True, exist_ok=True)
    database = Database(f"sqlite:///{folder / 'nightdesk.db'}")
    SQLModel.metadata.create_all(database.engine)
    embedder = embedder or HashEmbedder()
    space = current_space(database, embedder)
    index = EdgeIndex(folder / "edge" / space.id, space.dimensions)
    store, relay = Store(database), Relay(database, index, embedder, space)
    decay = Decay(database, "test-worker")
    memory = MemoryService(
        store=store,
        recall=Recall(store, index, embedder, Weights.of(0.6, 0.25, 0.15)),
        relay=relay,
        decay=decay,
        redaction=Redactor(secrets or []),
        recall_limit=5,
        now=lambda: made.now,
    )
    made = World(database, index, store, relay, decay, memory)
    try:
        yield made
    finally:
        index.close()
        database.close()


def finding(title: str = "connection pool exhausted (size 2)", **fields: Any) -> Finding:
    quote = fields.pop(
        "quote",
        "2026-11-02 08:59:58,114 ERROR pool: QueuePool limit of size 2 overflow 0 reached, timeout 5.00",
    )
    values = {
        "severity": "critical",
        "score": 0.9,
        "key": "pool_exhausted",
        "evidence": [Evidence(source="checkout.log", line=17, quote=quote)],
        **fields,
    }
    return Finding(title=title, **values)


def restart(*, verified: bool | None = True, **fields: Any) -> ActionOutcome:
    values = {
        "name": "restart_service",
        "argv": ["restart", "checkout"],
        "state": "done",
        "verified": verified,
        "parameters": {"service": "checkout", "config": "last-good"},
        **fields,
    }
    return ActionOutcome(**values)


def end_run(
    world_: World,
    run_id: str,
    text: str = "why does checkout return 503?",
    *,
    memories: list[ReportMemory] | None = None,
    labels: dict[str, str] | None = None,
    session_id: str | None = None,
    **told: Any,
) -> None:
    """Insert a run that has ended; `told` are fields of its report, or the run's namespace and user."""
    state = told.pop("state", "succeeded")
    own = {"namespace": told.pop("namespace", "default"), "user": told.pop("user", "ann")}
    request = Request(text=text, labels=labels or {}, **own)
    report = Report(run_id=run_id, state=state, request=text, memories=memories or [], **told)
    with world_.database.writing("test") as session:
        session.add(
            RunRow(
                id=run_id,
                session_id=session_id,
                state=state,
                request=request.model_dump(mode="json"),
                report=report.model_dump(mode="json"),
                memories=[{"id": m.id, "text": m.text} for m in memories or []],
                ended_at=world_.now,
                **own,
            )
        )
