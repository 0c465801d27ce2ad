"""What recall is given where the old model cannot be made: nothing is ranked, and lookups by key go on."""

from __future__ import annotations

from memory_service.embed.port import Vector
from memory_service.index.port import Found, Held, Point, Search
from memory_service.scoring import Scale


class NoIndex:
    """An index without points: it takes nothing and finds nothing."""

    def upsert(self, points: list[Point]) -> None:
        """Take nothing."""

    def delete(self, ids: list[str]) -> None:
        """Have nothing to remove."""

    def search(self, search: Search) -> Found:
        """Find nothing."""
        return Found(hits=[], complete=True)

    def count(self, namespace: str | None = None) -> int:
        """Return 0."""
        return 0

    def page(self, after: str, limit: int) -> list[Held]:
        """Return nothing."""
        return []

    def held(self, ids: list[str]) -> list[Held]:
        """Return nothing."""
        return []

    def revisions(self) -> dict[str, int]:
        """Return nothing."""
        return {}

    def broken(self) -> bool:
        """Return False: there is nothing to break."""
        return False

    def flush(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class NoEmbedder:
    """Stands for a model that cannot be made; its vectors are asked of an index without points only."""

    scale = Scale(low=0.0, middle_cut=0.0, high_cut=1.0)

    def __init__(self, name: str, dimensions: int) -> None:
        self.name = name
        self._dimensions = dimensions

    def passages(self, texts: list[str]) -> list[Vector]:
        """Return vectors that mean nothing."""
        return [self.question(text) for text in texts]

    def question(self, text: str) -> Vector:
        """Return a vector that means nothing."""
        return [1.0] + [0.0] * (self._dimensions - 1)
