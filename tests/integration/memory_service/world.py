"""A whole memory on one folder: a real database, real Edge, the hash embedder, and a clock that tests move."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlmodel import SQLModel

import kernel.records  # noqa: F401 the tables of runs
from kernel.contracts import ActionOutcome, Evidence, Finding, MemoryHit, Request
from kernel.database import Database
from kernel.errors import Fatal
from kernel.records import RunRow
from kernel.redaction import Redactor
from kernel.reports import Report, ReportMemory
from memory_service.consistency.building import Build
from memory_service.consistency.doctor import Doctor
from memory_service.consistency.space import Space
from memory_service.consistency.spaces import Spaces
from memory_service.consistency.targets import Engines, Targets
from memory_service.consistency.unranked import NoEmbedder, NoIndex
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
from memory_service.store import Store
from tests.support.empty_index import empty_index

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
    indexes: Indexes | None = None

    @property
    def spaces(self) -> Spaces:
        assert self.indexes is not None
        return self.indexes.spaces

    @property
    def targets(self) -> Targets:
        assert self.indexes is not None
        return self.indexes.targets

    @property
    def doctor(self) -> Doctor:
        return Doctor(self.database, self.targets, self.relay, self.spaces)

    def serve(self) -> None:
        """Go on with the space that SQL serves, as the worker does after a swap."""
        assert self.indexes is not None
        self.index = self.targets.current().index
        self.memory = self.indexes.service()

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


@dataclass
class Indexes:
    targets: Targets
    spaces: Spaces
    service: Callable[[], MemoryService]


@contextmanager
def world(
    folder: Path,
    *,
    embedder: Embedder | None = None,
    others: Sequence[Embedder] = (),
    secrets: list[str] | None = None,
    database_url: str | None = None,
) -> Iterator[World]:
    """Open the memory of a folder; `database_url` names another database than the folder's own SQLite.

    `others` are models that are not configured and can be made again all the same.
    """
    folder.mkdir(parents=True, exist_ok=True)
    database = Database(database_url or f"sqlite:///{folder / 'nightdesk.db'}")
    if database_url is None:  # others have been migrated
        SQLModel.metadata.create_all(database.engine)
    embedder = embedder or HashEmbedder()
    targets = Targets(database, _engines(folder, [*others, embedder]))
    relay = Relay(database, targets.written)
    spaces = Spaces(
        database,
        targets,
        Build(database, targets, relay),
        configured=lambda: embedder,
        made_by={"embedder": embedder.name},
        keep_days=7,
        now=lambda: made.now,
    )
    store, decay = Store(database), Decay(database, "test-worker")

    def service() -> MemoryService:
        target = targets.current()
        index, ranker = target.index, target.embedder
        if ranker is None:
            index, ranker = NoIndex(), NoEmbedder(target.space.id, target.space.dimensions)
        return MemoryService(
            store=store,
            recall=Recall(store, index, ranker, Weights.of(0.6, 0.25, 0.15)),
            relay=relay,
            decay=decay,
            redaction=Redactor(secrets or []),
            recall_limit=5,
            now=lambda: made.now,
        )

    indexes = Indexes(targets, spaces, service)
    try:
        spaces.begin()
        made = World(database, targets.current().index, store, relay, decay, service(), indexes=indexes)
        yield made
    finally:
        targets.close()
        database.close()


def _engines(folder: Path, models: list[Embedder]) -> Engines:
    def made_again(by: dict[str, Any]) -> Embedder:
        found = [model for model in models if model.name == by["embedder"]]
        if not found:
            raise Fatal(f"{by['embedder']} is not installed")
        return found[-1]

    def open_index(space: Space) -> EdgeIndex:
        empty_index(folder / "edge" / space.id, space.dimensions)
        return EdgeIndex(folder / "edge" / space.id, space.dimensions)

    return Engines(
        open_index=open_index,
        drop_index=lambda space: shutil.rmtree(folder / "edge" / space.id, ignore_errors=True),
        publish=lambda space: None,
        embedder=made_again,
    )


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
