"""Recall: what is known about a question, ranked by one query and checked again against SQL."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime, Field, ValidationError

from kernel.contracts import MemoryHit, Value
from kernel.errors import Correctable
from memory_service import lexical
from memory_service.domain import Kind, Memory, check_name, question_keys
from memory_service.embed.port import Embedder
from memory_service.index.port import Found, IndexHit, MemoryIndex, Scope, Search
from memory_service.naming import Named, named
from memory_service.reading import by_ids, by_keys, standing
from memory_service.scoring import (
    DENSE,
    Bound,
    Expr,
    Tier,
    Weights,
    bound,
    evaluate,
    keyword_half,
    relevance,
    score_parts,
    tier,
    total,
)
from memory_service.store import Store

#: Candidates per leg, and how far they are widened while an unseen memory might stand above a hit. In a large
#: namespace widening costs as much again and certifies next to nothing (measured at 20,000: 25 ms for 4% against
#: 12 ms), so there one wider look is taken and the flag on each hit tells the truth.
_CANDIDATES, _CANDIDATES_MOST = 100, 400
_LARGE, _CANDIDATES_LARGE = 5000, 200
#: Hits asked of the engine beyond those wanted: some are of low relevance, some are gone from SQL.
_SPARE = 15
#: Preferences of the user that hold whatever the question is.
_STANDING = 3
_LIMIT_MOST = 50
#: A request may carry pages; what it is about stands at its beginning, and embedding time grows with length.
_TEXT_LENGTH = 1000
_DAY = 86_400.0


class Question(Value):
    """What to recall; `as_of` asks what was true at a moment."""

    text: str
    namespace: str = "default"
    user: str = ""
    limit: int = Field(default=5, ge=1, le=_LIMIT_MOST)
    kinds: list[Kind] = []
    as_of: AwareDatetime | None = None

    @classmethod
    def of(cls, question: dict[str, object], *, limit: int) -> Question:
        """Read a question as it comes from the queue, or raise Correctable."""
        try:
            made = cls.model_validate(
                {"limit": limit, **{k: v for k, v in question.items() if v is not None}}
            )
        except ValidationError as error:
            problems = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
            raise Correctable("the question cannot be read", why=problems) from error
        made = made.model_copy(update={"text": made.text[:_TEXT_LENGTH]})
        check_name("the namespace", made.namespace)
        check_name("the user", made.user, empty=True)
        return made


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """A question with its moments: `at` is now, `as_of` the moment it asks about."""

    question: Question
    at: datetime
    as_of: datetime

    def may_see(self, memory: Memory) -> bool:
        return memory.visible(self.question.namespace, self.question.user, self.as_of, self.at)

    def wants(self, kind: Kind) -> bool:
        return not self.question.kinds or kind in self.question.kinds

    def scope(self) -> Scope:
        return Scope(
            namespace=self.question.namespace,
            user=self.question.user,
            kinds=tuple(self.question.kinds),
            as_of=self.question.as_of.timestamp() if self.question.as_of else None,
        )


class Recall:
    """Answers questions; writes nothing except a note to the relay where the index was behind."""

    def __init__(self, store: Store, index: MemoryIndex, embedder: Embedder, weights: Weights) -> None:
        self._store = store
        self._index = index
        self._embedder = embedder
        self._weights = weights
        self._scale = embedder.scale

    def ask(self, question: Question, at: datetime) -> list[MemoryHit]:
        """Return the memories about a question: facts named by key, then the ranked, standing preferences last."""
        if not question.text.strip():
            return []
        asked = _Asked(question=question, at=at, as_of=question.as_of or at)
        exact = self._by_key(asked)
        named = {hit.id for hit in exact}
        found = exact + [hit for hit in self._ranked(asked) if hit.id not in named]
        seen = {hit.id for hit in found[: question.limit]}
        preferences = [hit for hit in self._standing(asked) if hit.id not in seen]
        return found[: question.limit - len(preferences)] + preferences

    def _by_key(self, asked: _Asked) -> list[MemoryHit]:
        if not asked.wants("fact"):
            return []
        question = asked.question
        found = by_keys(self._store.database, question.namespace, question.user, question_keys(question.text))
        full = {"similarity": self._weights.similarity, "keywords": self._weights.keywords}
        return [self._certain(memory, full, asked.at) for memory in found if asked.may_see(memory)]

    def _standing(self, asked: _Asked) -> list[MemoryHit]:
        question = asked.question
        most = min(_STANDING, question.limit // 2) if asked.wants("preference") else 0
        found = standing(self._store.database, question.namespace, question.user, most)
        none = {"similarity": 0.0, "keywords": 0.0}
        return [self._certain(memory, none, asked.at) for memory in found if asked.may_see(memory)]

    def _certain(self, memory: Memory, known: dict[str, float], at: datetime) -> MemoryHit:
        """Return a hit that was looked up, not ranked."""
        parts = score_parts(self._weights, self._scale, now=at.timestamp(), half=1.0)
        values = {"importance": memory.importance, "last_ts": memory.last_access_at, "hl": memory.half_life_s}
        rest = {name: evaluate(parts[name], values) for name in ("importance", "recency")}
        return _hit(memory, "high", known | rest, at, certified=True)

    def _ranked(self, asked: _Asked) -> list[MemoryHit]:
        """Return the ranked memories; candidates are widened once where the first `limit` are not certified."""
        question = asked.question
        memories = self._index.count(question.namespace)
        if not memories:
            return []
        half = keyword_half(memories)
        parts = score_parts(self._weights, self._scale, now=asked.at.timestamp(), half=half)
        search = Search(
            scope=asked.scope(),
            dense=self._embedder.question(question.text),
            sparse=lexical.query(question.text),
            score=total(parts),
            candidates=_CANDIDATES_LARGE if memories > _LARGE else _CANDIDATES,
            limit=question.limit + _SPARE,
        )
        while True:
            found = self._index.search(search)
            outside = self._outside(found, half)
            sure = [hit for hit in found.hits[: question.limit] if hit.score >= outside.score]
            if len(sure) == question.limit or not outside.score or search.candidates > _CANDIDATES:
                return self._checked(asked, found, outside, parts)
            search = replace(search, candidates=_CANDIDATES_MOST)

    def _outside(self, found: Found, half: float) -> Bound:
        """Return the most that a memory which was no candidate can reach."""
        if found.complete:
            return Bound()
        unseen = bound(
            self._weights,
            self._scale,
            dense_floor=found.dense_floor,
            sparse_floor=found.sparse_floor,
            half=half,
        )
        # what would be dropped as low anyway cannot be missed
        return unseen if unseen.relevance >= self._scale.middle_cut else Bound()

    def _checked(
        self, asked: _Asked, found: Found, outside: Bound, parts: dict[str, Expr]
    ) -> list[MemoryHit]:
        """Return what SQL still says of the hits, in one SELECT; tell the relay where the index is behind."""
        memories = by_ids(self._store.database, [hit.id for hit in found.hits])
        services = {str(memory.slots.get("service", "")) for memory in memories.values()} - {""}
        kept: list[MemoryHit] = []
        behind: list[Memory] = []
        for hit in found.hits:
            memory = memories.get(hit.id)
            if memory is None:
                continue
            if memory.rev != hit.payload.get("rev"):
                behind.append(memory)
            explain = _explain(hit, parts)
            one_script = lexical.share_script(asked.question.text, memory.text)
            told = relevance(explain, self._weights, one_script=one_script)
            of = tier(told, self._scale, memory.trust)
            if memory.kind == "procedure" and of != "low":
                of = self._of_service(asked.question.text, memory, services, told, of, one_script=one_script)
            if of != "low" and asked.may_see(memory):
                kept.append(_hit(memory, of, explain, asked.at, certified=hit.score >= outside.score))
        if behind:
            self._store.look_again([(memory.pk, memory.rev) for memory in behind], asked.at)
        return sorted(kept, key=lambda hit: (-hit.score, hit.id))

    def _of_service(
        self, text: str, memory: Memory, services: set[str], told: float, of: Tier, *, one_script: bool
    ) -> Tier:
        """Return the tier of a remedy, which depends on whose service the question names."""
        service = str(memory.slots.get("service", ""))
        whose = named(text, service, services - {service}) if service else Named.own
        if whose is Named.own:
            return of
        cut = self._scale.unnamed_cut if one_script else self._scale.middle_cut
        return "low" if whose is Named.other or told < cut else "middle"


def _explain(hit: IndexHit, parts: dict[str, Expr]) -> dict[str, float]:
    """Return the four parts of a score; keywords are what the other three leave of the engine's sum."""
    fields = [name for name in ("importance", "last_ts", "hl") if name in hit.payload]
    values: dict[str, float] = {DENSE: hit.cosine, **{name: float(hit.payload[name]) for name in fields}}
    told = {name: evaluate(parts[name], values) for name in ("similarity", "importance", "recency")}
    keywords = max(0.0, hit.score - sum(told.values()))
    return told | {"keywords": keywords}


def _hit(
    memory: Memory, of: Literal["high", "middle"], explain: dict[str, float], at: datetime, *, certified: bool
) -> MemoryHit:
    return MemoryHit(
        id=memory.id,
        kind=memory.kind,
        text=memory.text,
        tier=of,
        score=round(sum(explain.values()), 6),
        age_days=round((at - memory.recorded_at).total_seconds() / _DAY, 3),
        source=memory.source_ref or memory.source_kind,
        slots=memory.slots,
        explain={name: round(part, 6) for name, part in explain.items()},
        certified=certified,
    )
