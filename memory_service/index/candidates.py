"""The candidates of a search: which of them are ranked, and what is known of the ranked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from memory_service.index.port import Found, IndexHit, Search


class Scored(Protocol):
    """A point as an engine returns it."""

    id: Any
    score: float


class Candidates:
    """What the legs of a search found: the ids to rank, and what becomes of the ranked."""

    def __init__(self, search: Search, dense: Sequence[Scored], sparse: Sequence[Scored]) -> None:
        full = search.candidates
        # each reading of an id makes an object
        self._cosines = {point.id: point.score for point in dense}
        self._keywords = {point.id: point.score for point in sparse}
        self._dense_floor = dense[-1].score if len(dense) == full else 0.0
        self._sparse_floor = sparse[-1].score if len(sparse) == full else 0.0
        self._complete = len(dense) < full
        self.ids = {
            id_
            for id_ in self._cosines.keys() | self._keywords.keys()
            if search.worth(
                self._cosines.get(id_, self._dense_floor), self._keywords.get(id_, self._sparse_floor)
            )
        }

    def found(self, ranked: Sequence[Any]) -> Found:
        """Return the ranked points with what is known of them."""
        told = [(point.id, point) for point in ranked]
        return Found(
            hits=[
                IndexHit(str(id_), p.score, self._cosines.get(id_), self._keywords.get(id_), p.payload or {})
                for id_, p in told
            ],
            dense_floor=self._dense_floor,
            sparse_floor=self._sparse_floor,
            complete=self._complete,
        )
