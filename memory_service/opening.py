"""Opening the memory: embedder, space, index and use cases, made on first use and once per process."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Event, Lock
from typing import TYPE_CHECKING

from kernel.database import Database
from kernel.redaction import make_redactor
from kernel.settings import Settings
from memory_service.consistency.doctor import Doctor
from memory_service.consistency.engines import engines_of, made_by
from memory_service.consistency.spaces import Spaces
from memory_service.consistency.targets import Targets
from memory_service.forgetting.estate import Estate
from memory_service.forgetting.upkeep import Upkeep
from memory_service.index.port import MemoryIndex
from memory_service.learning.rates import Limits
from memory_service.learning.review import Review
from memory_service.recalling.citations import CitationCheck
from memory_service.recalling.cutoffs import Cutoffs
from memory_service.recalling.history import History
from memory_service.recalling.model_turn import ModelTurn
from memory_service.recalling.models import aids_of
from memory_service.service import MemoryService

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable

    from kernel.model.port import Model
    from memory_service.consistency.tending import Tending
    from memory_service.embed.port import Embedder
    from memory_service.learning.teaching import Teaching
    from memory_service.recall import Recall
    from memory_service.store import Store


@dataclass(frozen=True, kw_only=True)
class Opened:
    """The use cases of an opened memory, by what they are about."""

    service: MemoryService
    index: MemoryIndex
    citations: CitationCheck
    cutoffs: Cutoffs
    history: History
    review: Review
    spaces: Spaces
    tending: Tending
    upkeep: Upkeep
    estate: Estate
    doctor: Doctor
    #: None where no model is configured, or `memory_extraction` is off.
    teaching: Teaching | None


class Opening:
    """Opens the memory when it is first asked for; a failure is raised each time until it succeeds."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        worker: str,
        *,
        stop: Event | None = None,
        model: Model | None = None,
        loop: Callable[[], AbstractEventLoop] | None = None,
    ) -> None:
        """`loop` is the one that the model's connections live on."""
        self._model = model
        self._settings = settings
        self._database = database
        self._worker = worker
        self._stop = stop or Event()
        self._turn = ModelTurn(lambda: model, loop=loop) if model is not None else None
        self._lock = Lock()
        self._targets = Targets(database, engines_of(settings))
        self._tending: Tending | None = None
        self._opened: Opened | None = None
        self._version = 0

    def memory(self) -> Opened:
        """Return the opened memory; after a swap it is one on the new index, and questions under way end on the old."""
        with self._lock:
            if self._tending is None:
                self._tending = self._begun()
            if self._opened is None or self._version != self._targets.version:
                version = self._targets.version
                self._opened, self._version = self._open(self._tending), version
            return self._opened

    def flush(self) -> None:
        """Put the index on the disk, where one is open."""
        with self._lock:
            self._targets.flush()

    def _begun(self) -> Tending:
        """Make what outlives a swap, once: there must be one lock around the writes of this process."""
        from memory_service.consistency.building import Build
        from memory_service.consistency.tending import Tending
        from memory_service.relay import Relay

        settings = self._settings
        relay = Relay(self._database, self._targets.written)
        by = made_by(settings)
        engines = engines_of(settings)
        spaces = Spaces(
            self._database,
            self._targets,
            Build(self._database, self._targets, relay),
            configured=lambda: engines.embedder(by),
            made_by=by,
            keep_days=settings.memory_space_days,
        )
        spaces.begin()
        spaces.renew_words()
        return Tending(relay, self._targets, spaces, self._stop)

    def _recall(self, store: Store, index: MemoryIndex, embedder: Embedder, cutoffs: Cutoffs) -> Recall:
        from memory_service.recall import Recall
        from memory_service.scoring import Weights

        weights = Weights.of(*self._settings.recall_weights)
        aids = aids_of(self._settings, self._turn)
        return Recall(store, index, embedder, weights, scale=cutoffs.scale, aids=aids)

    def _open(self, tending: Tending) -> Opened:
        from memory_service.decay import REST_SECONDS, Decay
        from memory_service.store import Store

        settings = self._settings
        redactor = make_redactor(settings)
        index, embedder = self._served()
        cutoffs = Cutoffs(self._database, self._targets.current().space.id, embedder)
        limits = Limits(session=settings.memory_session_limit, source=settings.memory_source_limit)
        store = Store(self._database, limits)
        service = MemoryService(
            store=store,
            recall=self._recall(store, index, embedder, cutoffs),
            relay=tending.relay,
            decay=Decay(self._database, self._worker, rest_seconds=REST_SECONDS),
            redaction=redactor,
            recall_limit=settings.recall_limit,
        )
        return Opened(
            teaching=self._teaching(store, service, tending),
            service=service,
            index=index,
            citations=CitationCheck(self._database),
            cutoffs=cutoffs,
            history=History(self._database),
            review=Review(self._database, tending.relay.drain, hide=redactor.text),
            spaces=tending.spaces,
            tending=tending,
            upkeep=Upkeep(self._database, drain=tending.relay.drain, decay=service.decay, hide=redactor.text),
            estate=Estate(self._database, redaction=redactor, drain=tending.relay.drain),
            doctor=Doctor(self._database, self._targets, tending.relay, tending.spaces),
        )

    def _teaching(self, store: Store, service: MemoryService, tending: Tending) -> Teaching | None:
        if self._model is None or not self._settings.memory_extraction:
            return None
        from memory_service.learning.teaching import Teaching

        return Teaching(store, self._model, service.gated, tending.relay.drain)

    def _served(self) -> tuple[MemoryIndex, Embedder]:
        """Return what recall ranks by; nothing is ranked where the old model cannot be made."""
        target = self._targets.current()
        if target.embedder is not None:
            return target.index, target.embedder
        from memory_service.consistency.unranked import NoEmbedder, NoIndex

        return NoIndex(), NoEmbedder(target.space.id, target.space.dimensions)
