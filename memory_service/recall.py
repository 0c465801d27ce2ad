"""Recall: what is known about a question, ranked by one query and checked again against SQL."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pydantic import AwareDatetime, Field

from kernel import logs
from kernel.contracts import MemoryHit, Value
from kernel.errors import NightdeskError
from memory_service import lexical
from memory_service.asking import read
from memory_service.domain import Kind, Memory, question_keys
from memory_service.embed.port import Embedder
from memory_service.forgetting import archive
from memory_service.index.port import MemoryIndex, Scope
from memory_service.reading import LookedUp, by_ids, looked_up
from memory_service.recalling.aids import Aids
from memory_service.recalling.hits import beside, hit_of, newest, with_standing
from memory_service.recalling.naming import Named, holds, identifiers, named
from memory_service.recalling.ranking import Ask, Depth, Ranked, Ranking
from memory_service.scoring import TRUSTED, Scale, Tier, Weights, evaluate, relevance, score_parts, tier
from memory_service.store import Store

log = logs.get(__name__)

#: Hits looked up in SQL beyond those wanted: some are of low relevance, some are gone.
_SPARE = 15
#: Preferences of the user that hold whatever the question is.
_STANDING = 3
_LIMIT_MOST = 50
#: A request may carry pages; what it is about stands at its beginning, and embedding time grows with length.
_TEXT_LENGTH = 1000


class Question(Value):
    """What to recall; `as_of` asks what was true at a moment."""

    text: str
    namespace: str = "default"
    user: str = ""
    limit: int = Field(default=5, ge=1, le=_LIMIT_MOST)
    kinds: list[Kind] = []
    as_of: AwareDatetime | None = None
    #: The run it is asked for: what a model costs is counted there.
    run: str = ""
    #: `archive`: also search what has left the index; otherwise only where nothing else is found.
    include: Literal["archive"] | None = None

    @classmethod
    def of(cls, question: dict[str, object], *, limit: int) -> Question:
        """Read a question as it comes from the queue, or raise Correctable."""
        made = read(cls, {"limit": limit, **{k: v for k, v in question.items() if v is not None}})
        return made.model_copy(update={"text": made.text[:_TEXT_LENGTH]})


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """A question with its moments: `at` is now, `as_of` the moment it asks about."""

    question: Question
    at: datetime
    as_of: datetime
    scale: Scale
    #: Where a question is nothing but identifiers, a hit holds one of them whole.
    names: frozenset[str] = frozenset()

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

    def __init__(
        self,
        store: Store,
        index: MemoryIndex,
        embedder: Embedder,
        weights: Weights,
        *,
        depth: Depth | None = None,
        scale: Callable[[], Scale] | None = None,
        aids: Aids | None = None,
    ) -> None:
        self._store = store
        self._ranking = Ranking(index, weights, depth)
        self._embedder = embedder
        self._weights = weights
        self._aids = aids or Aids()
        self._scale = scale or (lambda: embedder.scale)

    def ask(self, question: Question, at: datetime) -> list[MemoryHit]:
        """Return the memories about a question: facts named by key, then the ranked, then what always holds."""
        if not question.text.strip():
            return []
        moments = {"at": at, "as_of": question.as_of or at}
        names = identifiers(question.text)
        asked = _Asked(question=question, **moments, scale=self._scale(), names=names)
        known = self._looked_up(asked)
        exact = self._certain(newest(filter(asked.may_see, known.facts)), 1.0, asked)
        named = {hit.id for hit in exact}
        found = exact + [hit for hit in self._aided(asked, whole=not known.waits) if hit.id not in named]
        archived = self._archived(asked, found=len(found))
        preferences = self._certain(known.preferences, 0.0, asked)
        return with_standing(found, preferences, question.limit - len(archived)) + archived

    def _archived(self, asked: _Asked, *, found: int) -> list[MemoryHit]:
        """Return what has left the index: half of the hits where it is asked for, else where nothing was found."""
        question = asked.question
        wanted = question.include == "archive"
        if found and not wanted:
            return []
        hits = archive.recalled(
            self._store.database,
            question.namespace,
            question.user,
            question.text,
            (question.limit + 1) // 2 if found else question.limit,
            at=asked.at,
            as_of=asked.as_of,
            kinds=question.kinds,
            least=0.0 if wanted else archive.LEAST_SHARE,
        )
        return [hit for hit in hits if not asked.names or holds(hit.text, asked.names)]

    def _looked_up(self, asked: _Asked) -> LookedUp:
        question = asked.question
        return looked_up(
            self._store.database,
            question.namespace,
            question.user,
            hashes=question_keys(question.text) if asked.wants("fact") else [],
            preferences=_STANDING if question.limit > 1 and asked.wants("preference") else 0,
        )

    def _certain(self, memories: list[Memory], known: float, asked: _Asked) -> list[MemoryHit]:
        """Return hits that were looked up, not ranked; what is barely trusted is no fact for that."""
        if not memories:
            return []
        parts = score_parts(self._weights, asked.scale, now=asked.at.timestamp(), half=1.0)
        told = {"similarity": known * self._weights.similarity, "keywords": known * self._weights.keywords}
        hits = []
        for memory in memories:
            if asked.may_see(memory):
                values = {
                    "importance": memory.importance,
                    "last_ts": memory.last_access_at,
                    "hl": memory.half_life_s,
                }
                rest = {name: evaluate(parts[name], values) for name in ("importance", "recency")}
                of: Literal["high", "middle"] = "high" if memory.trust >= TRUSTED else "middle"
                hits.append(hit_of(memory, of, told | rest, asked.at, certified=True))
        return hits

    def _aided(self, asked: _Asked, *, whole: bool) -> list[MemoryHit]:
        """Return the ranked memories, with what a rewording brings beside them, in the order of a reranker."""
        question = asked.question
        aid = self._aids.begin(question.text, question.namespace, question.run)
        worded, wanted = aid.rewritten(), aid.wanted(question.limit)
        hits = self._ranked(asked, question.text, wanted, whole=whole)
        if worded:
            hits = beside(hits, self._ranked(asked, worded, wanted, whole=whole))
        return aid.ordered(hits)

    def _ranked(self, asked: _Asked, text: str, wanted: int, *, whole: bool) -> list[MemoryHit]:
        """Return the ranked memories that SQL still has; usually one SELECT, more where many are gone."""
        ask = Ask(
            scope=asked.scope(),
            dense=self._embedder.question(text),
            sparse=lexical.query(text),
            limit=wanted,
            at=asked.at.timestamp(),
        )
        ranked = self._ranking.best(ask, asked.scale)
        kept: list[MemoryHit] = []
        while len(kept) < wanted and (some := list(itertools.islice(ranked, wanted + _SPARE))):
            kept += itertools.islice(self._checked(asked, text, some, whole=whole), wanted - len(kept))
        return kept

    def _checked(self, asked: _Asked, text: str, ranked: list[Ranked], *, whole: bool) -> Iterator[MemoryHit]:
        """Yield what SQL still says of the ranked, in one SELECT; tell the relay where the index is behind.

        While the index is not `whole` nothing is certified: what waits might stand above.
        """
        memories = by_ids(self._store.database, [one.id for one in ranked])
        services = {str(memory.slots.get("service", "")) for memory in memories.values()} - {""}
        behind = [(m.pk, m.rev) for one in ranked if (m := memories.get(one.id)) and m.rev != one.rev]
        if behind and whole:  # else they wait already, and a question need not wait to write
            self._note(behind, asked.at)
        for one in ranked:
            memory = memories.get(one.id)
            if memory is None or not asked.may_see(memory):
                continue
            of = self._tier(asked, text, memory, one, services)
            if of != "low":
                # what was scored by an older revision stands where that one stood
                sure = whole and one.certified and memory.rev == one.rev
                yield hit_of(memory, of, one.explain, asked.at, certified=sure)

    def _note(self, behind: list[tuple[int, int]], at: datetime) -> None:
        """Have the relay look at memories; a database that takes no writes just now keeps no answer back."""
        try:
            self._store.look_again(behind, at)
        except NightdeskError as error:
            log.warning("index_behind_not_noted", memories=len(behind), reason=str(error))

    def _tier(self, asked: _Asked, text: str, memory: Memory, one: Ranked, services: set[str]) -> Tier:
        """Return how sure it is that a memory is about what was searched for."""
        if asked.names and not holds(memory.said, asked.names):
            return "low"
        one_script = lexical.share_script(text, memory.text)
        told = relevance(one.explain, self._weights, one_script=one_script)
        of = tier(told, asked.scale, memory.trust)
        if memory.kind == "procedure" and of != "low":
            return self._of_service(asked, memory, services, told, of, one_script=one_script)
        return of

    def _of_service(
        self, asked: _Asked, memory: Memory, services: set[str], told: float, of: Tier, *, one_script: bool
    ) -> Tier:
        """Return the tier of a remedy, which depends on whose service the question names."""
        service = str(memory.slots.get("service", ""))
        whose = named(asked.question.text, service, services - {service}) if service else Named.own
        if whose is Named.own:
            return of
        cut = asked.scale.unnamed_cut if one_script else asked.scale.middle_cut
        return "low" if whose is Named.other or told < cut else "middle"
