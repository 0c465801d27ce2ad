"""The vectors of a batch of memories for one target: those known from the cache, and those made now."""

from __future__ import annotations

from collections.abc import Callable

from sqlmodel import Session, col, select

from memory_service.consistency.space import VectorCache
from memory_service.consistency.targets import Target
from memory_service.domain import Memory, Status
from memory_service.embed.port import Vector
from memory_service.index.port import Point
from memory_service.tables import MemoryRow


class Stock:
    """What one target has for a batch. Without an embedder it has what was embedded before, and no more."""

    def __init__(self, target: Target, session: Session, batch: list[Memory]) -> None:
        self.target = target
        self.cache = VectorCache(target.space)
        self._known = self.cache.known(session, {m.content_hash for m in batch if _active(m)})
        #: Vectors that were made now and are in no cache yet.
        self.fresh: dict[str, Vector] = {}

    def affordable(self, batch: list[Memory], most: int) -> int:
        """Return how many memories of the batch can be taken without embedding more than `most` texts."""
        if self.target.embedder is None:
            return len(batch)
        unknown: set[str] = set()
        for number, memory in enumerate(batch):
            if _active(memory) and memory.content_hash not in self._known:
                unknown.add(memory.content_hash)
            if len(unknown) > most:
                return number
        return len(batch)

    def make(self, batch: list[Memory]) -> None:
        """Embed what is not known."""
        unknown = {m.content_hash: m.text for m in batch if _active(m) and m.content_hash not in self._known}
        if unknown and self.target.embedder is not None:
            made = self.target.embedder.passages(list(unknown.values()))
            self.fresh = dict(zip(unknown, made, strict=True))

    def points(self, batch: list[Memory], point_of: Callable[[Memory, Vector], Point]) -> list[Point]:
        """Return the points of the active memories that have a vector."""
        vectors = self._known | self.fresh
        return [
            point_of(m, vectors[m.content_hash]) for m in batch if _active(m) and m.content_hash in vectors
        ]


def keep_alive(session: Session, stock: Stock) -> None:
    """Cache the fresh vectors, but not that of a text that was forgotten while we embedded it."""
    if stock.fresh:
        alive = select(MemoryRow.content_hash).where(
            col(MemoryRow.content_hash).in_(list(stock.fresh)), col(MemoryRow.text) != ""
        )
        still = set(session.exec(alive))
        stock.cache.keep(session, {hash_: v for hash_, v in stock.fresh.items() if hash_ in still})


def _active(memory: Memory) -> bool:
    return memory.status is Status.active
