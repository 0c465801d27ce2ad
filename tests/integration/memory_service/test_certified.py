"""What is flagged as certified is what full knowledge would put there: against brute force, on a real engine."""

from __future__ import annotations

import math
import random
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from memory_service.forgetting.fading import NEVER
from memory_service.index.edge import EdgeIndex
from memory_service.index.port import Point, Scope, audience
from memory_service.lexical import Sparse
from memory_service.recalling.ranking import Ask, Depth, Ranked, Ranking
from memory_service.scoring import (
    DENSE,
    SPARSE,
    Scale,
    Weights,
    evaluate,
    keyword_half,
    relevance,
    score_parts,
    total,
)

pytestmark = pytest.mark.integration

NOW, DAY = 1_800_000_000.0, 86_400.0
SPACES, QUESTIONS, DIMENSIONS, WORDS = 40, 250, 48, 150
WEIGHTS = Weights.of(0.6, 0.25, 0.15)
#: Engines count in single precision: scores nearer to each other than this may stand in either order.
ALIKE = 3e-6


@dataclass
class Space:
    """One namespace with everything that brute force needs to know about it."""

    name: str
    scale: Scale
    ids: list[str]
    dense: np.ndarray
    sparse: np.ndarray
    user: np.ndarray
    importance: np.ndarray
    last_ts: np.ndarray
    hl: np.ndarray
    points: list[Point] = field(default_factory=list)

    @cached_property
    def exact_dense(self) -> np.ndarray:
        return self.dense.astype(float)

    @cached_property
    def exact_sparse(self) -> np.ndarray:
        return self.sparse.astype(float)

    @cached_property
    def idf(self) -> np.ndarray:
        frequency = (self.sparse > 0).sum(axis=0)
        told: np.ndarray = np.log(1 + (len(self.ids) - frequency + 0.5) / (frequency + 0.5))
        return told


def made(number: int, rng: random.Random) -> Space:
    """Memories at random, one in eight a copy of another but for its id."""
    count = rng.randint(60, 320)
    draw = np.random.default_rng(number)
    dense = draw.normal(size=(count, DIMENSIONS))
    sparse = np.zeros((count, WORDS))
    for row in sparse:
        for word in rng.sample(range(WORDS), rng.randint(1, 9)):
            row[word] = rng.uniform(0.4, 2.0)
    users = np.array([rng.choice(["", "", "ann", "bob"]) for _ in range(count)])
    importance = draw.uniform(0.2, 1, count)
    last_ts = NOW - draw.uniform(0, 200 * DAY, count)
    hl = draw.uniform(1, 400, count) * DAY
    for copy in range(1, count, 8):
        for column in (dense, sparse, users, importance, last_ts, hl):
            column[copy] = column[copy - 1]
    dense = (dense / np.linalg.norm(dense, axis=1, keepdims=True)).astype(np.float32)
    sparse = sparse.astype(np.float32)
    # ids in no order of anything else
    ids = [str(uuid.UUID(int=rng.getrandbits(128))) for _ in range(count)]
    low = rng.choice([0.0, 0.2])
    scale = Scale(low=low, middle_cut=rng.uniform(0.15, 0.35), high_cut=0.6)
    space = Space(f"team {number}", scale, ids, dense, sparse, users, importance, last_ts, hl)
    space.points = [point(space, row) for row in range(count)]
    return space


def point(space: Space, row: int) -> Point:
    words = np.nonzero(space.sparse[row])[0]
    return Point(
        id=space.ids[row],
        dense=space.dense[row].tolist(),
        sparse=Sparse(words.tolist(), space.sparse[row][words].tolist()),
        payload={
            "ns": space.name,
            "audience": audience(space.name, str(space.user[row]), past=False),
            "kind": "fact",
            "importance": float(space.importance[row]),
            "last_ts": float(space.last_ts[row]),
            "hl": float(space.hl[row]),
            "valid_from": NOW - DAY,
            "valid_to": NEVER,
            "rev": 1,
        },
    )


@pytest.fixture(scope="module")
def spaces() -> list[Space]:
    return [made(number, random.Random(number)) for number in range(SPACES)]


@pytest.fixture(scope="module")
def index(spaces: list[Space], tmp_path_factory: pytest.TempPathFactory) -> Iterator[EdgeIndex]:
    opened = EdgeIndex(Path(tmp_path_factory.mktemp("edge")), DIMENSIONS)
    every = [one for space in spaces for one in space.points]
    random.Random(0).shuffle(every)
    for start in range(0, len(every), 1000):
        opened.upsert(every[start : start + 1000])
    yield opened
    opened.close()


@dataclass
class Asked:
    ask: Ask
    dense: np.ndarray
    sparse: np.ndarray


def question(space: Space, rng: random.Random, draw: np.random.Generator) -> Asked:
    """Something near a memory, or near nothing; with some of its words, or with others."""
    row = rng.randrange(len(space.ids))
    noise = draw.normal(size=DIMENSIONS) * rng.choice([0.05, 0.1, 0.3])
    dense = (space.dense[row] + noise).astype(np.float32)
    dense /= np.linalg.norm(dense)
    known = np.nonzero(space.sparse[row])[0].tolist()
    words = sorted(
        {*rng.sample(known, min(len(known), rng.randint(0, 4))), *rng.sample(range(WORDS), rng.randint(0, 2))}
    )
    sparse = np.zeros(WORDS, dtype=np.float32)
    sparse[words] = 1
    user = rng.choice(["", "ann", "bob", "nobody"])
    ask = Ask(
        scope=Scope(namespace=space.name, user=user),
        dense=dense.tolist(),
        sparse=Sparse(words, [1.0] * len(words)),
        limit=rng.randint(1, 20),
        at=NOW,
    )
    return Asked(ask, dense, sparse)


@dataclass
class Truth:
    """Every memory in scope that is worth showing, best first, equal ones by id."""

    order: list[str]
    scores: dict[str, float]
    at_the_cut: bool


def brute_force(space: Space, asked: Asked, half: float) -> Truth:
    """The documented score of every memory; `test_brute_force_is_the_documented_score` holds it to `evaluate`."""
    weights, scale = WEIGHTS, space.scale
    seen = np.isin(space.user, ["", asked.ask.scope.user])
    bm25 = space.exact_sparse @ (space.idf * asked.sparse)
    cosines = space.exact_dense @ asked.dense.astype(float)
    similarity = weights.similarity * np.maximum(0, (cosines - scale.low) / (1 - scale.low))
    keywords = weights.keywords * bm25 / (bm25 + half)
    recency = weights.recency * 0.5 ** np.maximum(0, (NOW - space.last_ts) / space.hl)
    scores = similarity + keywords + weights.importance * space.importance + recency
    parts = {"similarity": similarity, "keywords": keywords}
    told = np.maximum(relevance(parts, weights), relevance(parts, weights, one_script=False))
    worth = seen & (told >= scale.middle_cut)
    rows = sorted(np.nonzero(worth)[0].tolist(), key=lambda row: (-round(scores[row], 12), space.ids[row]))
    return Truth(
        order=[space.ids[row] for row in rows],
        scores={space.ids[row]: float(scores[row]) for row in rows},
        at_the_cut=bool((np.abs(told[seen] - scale.middle_cut) < ALIKE).any()),
    )


def agrees(hits: list[Ranked], truth: Truth) -> bool:
    """Tell whether the certified hits stand where brute force puts them; alike scores may change places."""
    for place, hit in enumerate(hits):
        if not hit.certified:
            continue
        if hit.id not in truth.scores or place >= len(truth.order):
            return False
        there = truth.order[place]
        if hit.id != there and abs(truth.scores[hit.id] - truth.scores[there]) > ALIKE:
            return False
        if hit.id != there and abs(truth.scores[hit.id] - truth.scores[there]) < 1e-12:
            return False  # equal, not only alike: by id
    return True


def test_brute_force_is_the_documented_score(spaces: list[Space]) -> None:
    for space in spaces[:5]:
        half = keyword_half(len(space.ids))
        asked = question(space, random.Random(space.name), np.random.default_rng(7))
        truth = brute_force(space, asked, half)
        score = total(score_parts(WEIGHTS, space.scale, now=NOW, half=half))
        for row, id_ in enumerate(space.ids):
            if id_ in truth.scores:
                bm25 = 0.0
                for word in asked.ask.sparse.indices:
                    having = int((space.sparse[:, word] > 0).sum())
                    bm25 += space.sparse[row, word] * math.log(
                        1 + (len(space.ids) - having + 0.5) / (having + 0.5)
                    )
                values = {
                    DENSE: sum(
                        a * b for a, b in zip(asked.ask.dense, space.dense[row].tolist(), strict=True)
                    ),
                    SPARSE: bm25,
                    "importance": space.importance[row],
                    "last_ts": space.last_ts[row],
                    "hl": space.hl[row],
                }
                assert truth.scores[id_] == pytest.approx(evaluate(score, values), abs=1e-6)


def test_certified_top_k_equals_brute_force_on_10000_random_cases(
    spaces: list[Space], index: EdgeIndex
) -> None:
    rng, draw = random.Random(42), np.random.default_rng(42)
    counts: Counter[str] = Counter()
    for space in spaces:
        half = keyword_half(index.count(space.name))
        for _ in range(QUESTIONS):
            asked = question(space, rng, draw)
            truth = brute_force(space, asked, half)
            least = rng.choice([3, 8, 20, 60])
            depth = Depth(
                first=least,
                most=least * rng.choice([2, 4]),
                large=150,
                of_large=2 * least,
                looked_at=rng.choice([25, 100]),
            )
            hits = list(islice(Ranking(index, WEIGHTS, depth).best(asked.ask, space.scale), asked.ask.limit))
            counts["cases"] += 1
            if truth.at_the_cut:
                counts["at the cut"] += 1
                continue
            assert agrees(hits, truth), (space.name, asked.ask.limit, depth)
            counts["hits"] += len(hits)
            counts["certified"] += sum(hit.certified for hit in hits)
            whole = len(hits) == min(asked.ask.limit, len(truth.order)) and all(hit.certified for hit in hits)
            counts["certified as a whole"] += bool(hits) and whole
    print(dict(counts))
    assert counts["cases"] == 10_000
    assert counts["at the cut"] < 100
    assert counts["certified"] > 0.3 * counts["hits"], "a flag that is never set proves nothing"
    assert counts["certified"] < 0.95 * counts["hits"], "neither does one that is always set"
    assert counts["certified as a whole"] > 1000


def test_what_is_about_the_question_is_not_crowded_out_by_what_is_not(tmp_path: Path) -> None:
    """The others are fresh and important, half of them have a common word of the question, none is worth showing."""
    opened = EdgeIndex(tmp_path, DIMENSIONS)
    asked, *aside = np.eye(DIMENSIONS)
    fresh, old = (1.0, NOW), (0.3, NOW - 300 * DAY)
    made = [(0.7, Sparse([], []), old)]
    made += [
        (0.5 if n % 2 else 0.1, Sparse([7], [0.5]) if n % 2 == 0 else Sparse([], []), fresh)
        for n in range(400)
    ]
    opened.upsert(
        [
            Point(
                str(uuid.UUID(int=n)),
                (near * asked + math.sqrt(1 - near**2) * aside[n % len(aside)]).tolist(),
                words,
                {
                    "ns": "a",
                    "audience": audience("a", "", past=False),
                    "kind": "fact",
                    "rev": 1,
                    "importance": importance,
                    "last_ts": last,
                    "hl": 30 * DAY,
                    "valid_from": NOW - 400 * DAY,
                    "valid_to": NEVER,
                },
            )
            for n, (near, words, (importance, last)) in enumerate(made)
        ]
    )
    ask = Ask(
        scope=Scope(namespace="a", user=""), dense=asked.tolist(), sparse=Sparse([7], [1.0]), limit=5, at=NOW
    )
    hits = list(Ranking(opened, WEIGHTS).best(ask, Scale(low=0.0, middle_cut=0.5, high_cut=0.8)))
    opened.close()
    assert [hit.id for hit in hits] == [str(uuid.UUID(int=0))]
