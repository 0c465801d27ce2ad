"""A guard in front of any embedder: what is no usable vector goes no further."""

from __future__ import annotations

import math

from kernel.errors import Fatal
from memory_service.embed.port import Embedder, Vector


class Guarded:
    """An embedder whose vectors are numbers, one for each text, and all of the length of the first.

    The first is that of the probe, by which a space is known: so no vector of another length reaches its index.
    """

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self.scale = embedder.scale
        self._embedder = embedder
        self._length: int | None = None

    def passages(self, texts: list[str]) -> list[Vector]:
        """Return one vector for each stored text, or raise Fatal."""
        vectors = self._embedder.passages(texts)
        if len(vectors) != len(texts):
            raise self._unusable(f"it sent {len(vectors)} vectors for {len(texts)} texts")
        return [self._checked(vector) for vector in vectors]

    def question(self, text: str) -> Vector:
        """Return the vector of a question, or raise Fatal."""
        return self._checked(self._embedder.question(text))

    def _checked(self, vector: Vector) -> Vector:
        if not vector or not math.isfinite(
            sum(vector)
        ):  # a sum with a NaN is NaN; with infinities it is no number
            raise self._unusable("its vector is empty or holds what is no number")
        if self._length is None:
            self._length = len(vector)
        if len(vector) != self._length:
            raise self._unusable(f"its vectors had {self._length} numbers, now one has {len(vector)}")
        return vector

    def _unusable(self, why: str) -> Fatal:
        return Fatal(
            f"the embedder {self.name} sent no usable vector",
            why=why,
            next_step="See whether its model was changed; `nightdesk memory migrate` moves to another one.",
        )
