"""The port of vector indexes: points, one ranked query with its filter, and what comes back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from memory_service.lexical import Sparse
from memory_service.scoring import DEFAULTS, Expr

#: Names of the two vectors of a point.
DENSE_VECTOR, SPARSE_VECTOR = "dense", "lex"
#: Payload fields that filters use, with the type of their index.
INDEXED = {
    "user": "keyword",
    "kind": "keyword",
    "rev": "integer",
    "valid_from": "float",
    "valid_to": "float",
    "expires_ts": "float",
}


@dataclass(frozen=True)
class Point:
    """One memory in the index; the text stays in SQL."""

    id: str
    dense: list[float]
    sparse: Sparse
    payload: dict[str, Any]


@dataclass(frozen=True)
class Among:
    """A field is one of the values, each taken literally."""

    key: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class Within:
    """A number lies between two others; None leaves a side open. `above` is exclusive, so is `below`."""

    key: str
    above: float | None = None
    at_most: float | None = None
    below: float | None = None


Condition = Among | Within


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Which memories a question may see. Callers name values; nobody outside builds a filter."""

    namespace: str
    user: str
    kinds: tuple[str, ...] = ()
    as_of: float
    now: float

    def conditions(self) -> list[Condition]:
        """Return the conditions, all of which must hold."""
        found: list[Condition] = [
            Among("ns", (self.namespace,)),
            Among("user", ("", self.user) if self.user else ("",)),
            Within("valid_from", at_most=self.as_of),
            Within("valid_to", above=self.as_of),
            Within("expires_ts", above=self.now),
        ]
        return [*found, Among("kind", self.kinds)] if self.kinds else found


@dataclass(frozen=True, kw_only=True)
class Search:
    """One ranked query: `candidates` per leg, of which the best `limit` by `score` come back."""

    scope: Scope
    dense: list[float]
    sparse: Sparse
    score: Expr
    candidates: int
    limit: int
    defaults: dict[str, float] = field(default_factory=lambda: dict(DEFAULTS))


@dataclass(frozen=True)
class IndexHit:
    """A ranked point with its true cosine."""

    id: str
    score: float
    cosine: float
    payload: dict[str, Any]


@dataclass(frozen=True)
class Found:
    """The hits, best first, and what the last candidate of each leg scored.

    `complete`: every memory in scope was a candidate, so nothing can have been missed.
    """

    hits: list[IndexHit]
    dense_floor: float = 0.0
    sparse_floor: float = 0.0
    complete: bool = False


class MemoryIndex(Protocol):
    """A vector index of one embedding space."""

    def upsert(self, points: list[Point]) -> None:
        """Insert points, or replace those of a lower `rev`; a late message changes nothing."""
        ...

    def delete(self, ids: list[str]) -> None:
        """Remove points; unknown ids are no error."""
        ...

    def search(self, search: Search) -> Found:
        """Return the best memories in scope."""
        ...

    def count(self, namespace: str | None = None) -> int:
        """Return how many points there are."""
        ...

    def revisions(self) -> dict[str, int]:
        """Return `rev` of every point by id."""
        ...

    def flush(self) -> None:
        """Put everything on the disk."""
        ...

    def close(self) -> None:
        """Release the index."""
        ...
