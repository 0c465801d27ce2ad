"""The port of embedders, and a cache in front of any of them."""

from __future__ import annotations

import math
from collections import OrderedDict
from operator import mul
from threading import Lock
from typing import Protocol

from memory_service.scoring import Scale

Vector = list[float]

#: Questions are often asked again (retries, rounds of one run); 512 vectors are under 2 MB.
_CACHED = 512


class Embedder(Protocol):
    """Turns texts into unit vectors. `name` (provider, model, prefix rules) tells embedding spaces apart."""

    name: str
    scale: Scale

    def passages(self, texts: list[str]) -> list[Vector]:
        """Return one vector for each stored text."""
        ...

    def question(self, text: str) -> Vector:
        """Return the vector of a question."""
        ...


class CachedQuestions:
    """An embedder that remembers the vectors of recent questions."""

    def __init__(self, embedder: Embedder) -> None:
        self.name = embedder.name
        self.scale = embedder.scale
        self._embedder = embedder
        self._recent: OrderedDict[str, Vector] = OrderedDict()
        self._lock = Lock()

    def passages(self, texts: list[str]) -> list[Vector]:
        """Return one vector for each stored text."""
        return self._embedder.passages(texts)

    def question(self, text: str) -> Vector:
        """Return the vector of a question, from memory where it was asked a moment ago."""
        with self._lock:
            if text in self._recent:
                self._recent.move_to_end(text)
                return self._recent[text]
        vector = self._embedder.question(text)
        with self._lock:
            self._recent[text] = vector
            if len(self._recent) > _CACHED:
                self._recent.popitem(last=False)
        return vector


def unit(vector: Vector) -> Vector:
    """Return the vector at length 1; a zero vector becomes the first axis, since cosine has no zero."""
    length = math.sqrt(math.fsum(x * x for x in vector))
    if length == 0:
        return [1.0] + [0.0] * (len(vector) - 1)
    return [x / length for x in vector]


def cosine(a: Vector, b: Vector) -> float:
    """Return the cosine of two unit vectors; of different lengths it is 0."""
    return sum(map(mul, a, b)) if len(a) == len(b) else 0.0
