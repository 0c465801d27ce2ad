"""The ranked memories of a question: one formula over the candidates, with a flag on what is surely the best."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from memory_service.embed.port import Vector
from memory_service.index.port import Found, IndexHit, MemoryIndex, Scope, Search
from memory_service.lexical import Sparse
from memory_service.scoring import (
    DENSE,
    SPARSE,
    Bound,
    Scale,
    Weights,
    bound,
    compiled,
    keyword_half,
    reaches,
    relevance,
    score_parts,
    total,
)

#: Digits of a score. Engines count in single precision, so that more of them say nothing (seen: 2e-7 apart).
DIGITS = 6
#: By so much a score must lie above what an unseen memory can reach, for the same reason.
_MARGIN = 2e-6


@dataclass(frozen=True, kw_only=True)
class Depth:
    """Candidates per leg, and how far they are widened while an unseen memory might stand above a hit.

    In a large namespace widening costs as much again and certifies next to nothing (measured at 20,000: 25 ms for
    4% against 12 ms), so there one wider look is taken and the flag on each hit tells the truth. A graph that an
    engine may have built is passed by up to `exact_to` memories: without that nothing could be certified.
    Of the candidates the best `looked_at` are told of (all of them cost twice as much at 20,000).
    """

    first: int = 100
    most: int = 400
    large: int = 5000
    of_large: int = 200
    exact_to: int = 100_000
    looked_at: int = 100


@dataclass(frozen=True, kw_only=True)
class Ask:
    """What is ranked by: the question as vectors, whose memories, how many are wanted, and when it is."""

    scope: Scope
    dense: Vector
    sparse: Sparse
    limit: int
    at: float


@dataclass(frozen=True, kw_only=True)
class Ranked:
    """A memory by its place: the four parts of its score, the revision that was scored, and whether it is sure.

    `certified`: no memory of the namespace that is worth showing can stand above it without being in the list.
    """

    id: str
    score: float
    explain: dict[str, float]
    rev: int
    certified: bool


class Ranking:
    """Ranks by one engine query; what cannot reach the middle tier is left out."""

    def __init__(self, index: MemoryIndex, weights: Weights, depth: Depth | None = None) -> None:
        self._index = index
        self._weights = weights
        self._depth = depth or Depth()

    def best(self, ask: Ask, scale: Scale) -> Iterator[Ranked]:
        """Yield the memories worth showing, best first, equal scores by id; candidates are widened once if need be."""
        memories = self._index.count(ask.scope.namespace)
        if not memories:
            return iter(())
        half = keyword_half(memories)
        parts = score_parts(self._weights, scale, now=ask.at, half=half)
        told = {name: compiled(part) for name, part in parts.items()}
        depth = self._depth
        candidates = depth.of_large if memories > depth.large else depth.first
        search = Search(
            scope=ask.scope,
            dense=ask.dense,
            sparse=ask.sparse,
            score=total(parts),
            candidates=candidates,
            limit=min(2 * candidates, depth.looked_at),
            exact=memories <= depth.exact_to,
            worth=reaches(scale, half=half, least=scale.middle_cut - _MARGIN),
        )
        while True:
            found = self._index.search(search)
            outside = self._outside(found, scale, half)
            # where the candidates were cut, one that scores like the last may have a lower id than those told of
            cut = found.hits[-1].score if len(found.hits) == search.limit else 0.0
            above = max(outside.score, cut) if search.exact else float("inf")
            ranked = self._worth(found, told, scale, above)
            first = list(itertools.islice(ranked, ask.limit))
            sure = len(first) == ask.limit and first[-1].certified
            if sure or not outside.score or search.candidates > depth.first:
                return itertools.chain(first, ranked)
            search = replace(search, candidates=depth.most, limit=min(2 * depth.most, depth.looked_at))

    def _outside(self, found: Found, scale: Scale, half: float) -> Bound:
        """Return the most that a memory which was no candidate can reach."""
        if found.complete:
            return Bound()
        floors = {"dense_floor": found.dense_floor, "sparse_floor": found.sparse_floor}
        unseen = bound(self._weights, scale, half=half, **floors)
        # what would be dropped as low anyway cannot be missed
        return unseen if unseen.relevance >= scale.middle_cut - _MARGIN else Bound()

    def _worth(self, found: Found, parts: _Parts, scale: Scale, above: float) -> Iterator[Ranked]:
        """Yield what may reach the middle tier, whatever script its text is in."""
        for score, hit in sorted(
            ((round(hit.score, DIGITS), hit) for hit in found.hits), key=lambda pair: (-pair[0], pair[1].id)
        ):
            explain = _explain(hit, parts)
            told = max(relevance(explain, self._weights, one_script=one) for one in (True, False))
            if told >= scale.middle_cut:
                certified = not above or score > above + _MARGIN
                rev = int(hit.payload.get("rev", 0))
                yield Ranked(id=hit.id, score=score, explain=explain, rev=rev, certified=certified)


#: What tells the parts of a score.
_Parts = dict[str, Callable[[Mapping[str, float]], float]]


def _explain(hit: IndexHit, parts: _Parts) -> dict[str, float]:
    """Return the four parts of a score; the leg that did not find the hit has what the other three leave of the sum."""
    fields = [name for name in ("importance", "last_ts", "hl") if name in hit.payload]
    values: dict[str, float] = {name: float(hit.payload[name]) for name in fields}
    values |= {DENSE: hit.cosine} if hit.cosine is not None else {SPARSE: hit.keywords or 0.0}
    unknown = "keywords" if hit.cosine is not None else "similarity"
    told = {name: part(values) for name, part in parts.items() if name != unknown}
    return told | {unknown: max(0.0, hit.score - sum(told.values()))}
