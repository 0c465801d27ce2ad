"""Opening the memory: embedder, space, index and use cases, made on first use and once per process."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

from kernel.database import Database
from kernel.redaction import Redactor
from kernel.settings import Settings
from memory_service.citations import CitationCheck
from memory_service.index.port import MemoryIndex
from memory_service.service import MemoryService
from memory_service.space import Space


@dataclass(frozen=True, kw_only=True)
class Opened:
    """The use cases of an opened memory, by what they are about."""

    service: MemoryService
    index: MemoryIndex
    citations: CitationCheck


class Opening:
    """Opens the memory when it is first asked for; a failure is raised each time until it succeeds."""

    def __init__(self, settings: Settings, database: Database, worker: str) -> None:
        self._settings = settings
        self._database = database
        self._worker = worker
        self._lock = Lock()
        self._opened: Opened | None = None

    def memory(self) -> Opened:
        """Return the opened memory."""
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
            return self._opened

    def flush(self) -> None:
        """Put the index on the disk, where one is open."""
        with self._lock:
            if self._opened is not None:
                self._opened.index.flush()

    def _open(self) -> Opened:
        from memory_service.decay import Decay
        from memory_service.embed import embedder_of
        from memory_service.embed.port import CachedQuestions
        from memory_service.recall import Recall
        from memory_service.relay import Relay
        from memory_service.scoring import Weights
        from memory_service.space import current_space
        from memory_service.store import Store

        settings = self._settings
        embedder = CachedQuestions(embedder_of(settings))
        space = current_space(self._database, embedder)
        index = _index(settings, space)
        store = Store(self._database)
        service = MemoryService(
            store=store,
            recall=Recall(store, index, embedder, Weights.of(*settings.recall_weights)),
            relay=Relay(self._database, index, embedder, space),
            decay=Decay(self._database, self._worker),
            redaction=Redactor(settings.secrets()),
            recall_limit=settings.recall_limit,
        )
        return Opened(service=service, index=index, citations=CitationCheck(self._database))


def _index(settings: Settings, space: Space) -> MemoryIndex:
    if settings.qdrant_url is None:
        from memory_service.index.edge import EdgeIndex

        return EdgeIndex(settings.data / "memory" / "edge" / space.id, space.dimensions)
    from memory_service.index.server import ServerIndex, connect

    key = settings.qdrant_api_key.get_secret_value() if settings.qdrant_api_key else None
    return ServerIndex(connect(settings.qdrant_url, key), f"mem__{space.id}", space.dimensions)
