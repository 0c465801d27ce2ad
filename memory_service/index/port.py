"""The port of vector indexes: points, one ranked query with its filter, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from memory_service.lexical import Sparse
from memory_service.scoring import DEFAULTS, Expr

#: Names of the two vectors of a point.
DENSE_VECTOR, SPARSE_VECTOR = "dense", "lex"
#: Payload fields with an index, by type: those of filters, and those of the score (unindexed ones are read from
#: the disk for each candidate, which doubles the time of a query).
INDEXED = {
    "audience": "keyword",
    "kind": "keyword",
    "rev": "integer",
    "valid_from": "float",
    "valid_to": "float",
    "importance": "float",
    "last_ts": "float",
    "hl": "float",
}
#: What a ranked hit tells of its point: the parts of its score, and the revision that was scored.
RANKED = ("importance", "last_ts", "hl", "rev")
#: Stands between the parts of an audience; names hold no control characters, so no two audiences collide.
_SEPARATOR = "\x1f"


def audience(namespace: str, user: str, *, past: bool) -> str:
    """Return who may see a memory, and whether it tells of the past, in one word.

    One condition costs a third of three (measured at 20,000 points: 3 ms against 7), so that the usual question
    has this one only; what has expired since is dropped by the check against SQL.
    """
    return _SEPARATOR.join((namespace, user, "past" if past else "now"))


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
    """Which memories a question may see. Callers name values; nobody outside builds a filter.

    `as_of` is None for the present; otherwise closed memories are looked at too.
    """

    namespace: str
    user: str
    kinds: tuple[str, ...] = ()
    as_of: float | None = None

    def conditions(self) -> list[Condition]:
        """Return the conditions, all of which must hold."""
        users = ("", self.user) if self.user else ("",)
        times = (False,) if self.as_of is None else (False, True)
        seen = tuple(audience(self.namespace, user, past=past) for user in users for past in times)
        found: list[Condition] = [Among("audience", seen)]
        if self.kinds:
            found.append(Among("kind", self.kinds))
        if self.as_of is not None:
            found += [Within("valid_from", at_most=self.as_of), Within("valid_to", above=self.as_of)]
        return found


@dataclass(frozen=True, kw_only=True)
class Search:
    """One ranked query: `candidates` per leg, of which the best `limit` by `score` come back.

    `exact`: the candidates of similarity are those of all memories, not of a graph that may miss some. `worth` tells of
    a candidate's cosine and keywords (or the most that they can be) whether it may be worth showing: the others are not
    ranked, so that no number of them takes its place.
    """

    scope: Scope
    dense: list[float]
    sparse: Sparse
    score: Expr
    candidates: int
    limit: int
    exact: bool = True
    worth: Callable[[float, float], bool] = lambda *_: True
    defaults: dict[str, float] = field(default_factory=lambda: dict(DEFAULTS))


@dataclass(frozen=True)
class IndexHit:
    """A ranked point with its true scores of the legs that found it, one at least; `payload` has the fields in RANKED.

    What the other leg would give is what the parts that are known leave of the score.
    """

    id: str
    score: float
    cosine: float | None
    keywords: float | None
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


@dataclass(frozen=True)
class Held:
    """What an index holds of a memory beside its vectors: enough to compare it with SQL."""

    id: str
    rev: int
    audience: str


#: The payload fields that Held is made of.
HELD = ("rev", "audience")


def held_of(id_: object, payload: dict[str, Any] | None) -> Held:
    """Return a point as it is compared; ids are uuids in their usual form in every engine."""
    told = payload or {}
    return Held(str(id_), int(told.get("rev", 0)), str(told.get("audience", "")))


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
        """Return how many points there are, of one namespace or of all; the first may be an estimate."""
        ...

    def page(self, after: str, limit: int) -> list[Held]:
        """Return up to `limit` points behind the id `after` ("": from the first), in the order of their ids."""
        ...

    def held(self, ids: list[str]) -> list[Held]:
        """Return what there is of these ids."""
        ...

    def revisions(self) -> dict[str, int]:
        """Return `rev` of every point by id."""
        ...

    def broken(self) -> bool:
        """Return whether its content turned out to be unreadable; opened anew it starts empty."""
        ...

    def flush(self) -> None:
        """Put everything on the disk."""
        ...

    def close(self) -> None:
        """Release the index."""
        ...


#: Points read at once where all are.
_PAGE = 1000


def all_revisions(index: MemoryIndex) -> dict[str, int]:
    """Return `rev` of every point by id, page by page."""
    found: dict[str, int] = {}
    after = ""
    while page := index.page(after, _PAGE):
        found.update({held.id: held.rev for held in page})
        after = page[-1].id
    return found
