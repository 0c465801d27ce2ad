"""What every index must do; each adapter's test module subclasses `IndexContract` and gives it an index."""

from __future__ import annotations

import math
import random
import uuid
from typing import Any

import pytest

from memory_service import lexical
from memory_service.embed.hash import HashEmbedder
from memory_service.embed.port import cosine
from memory_service.forgetting.fading import NEVER
from memory_service.index.port import IndexHit, MemoryIndex, Point, Scope, Search, audience
from memory_service.scoring import DENSE, SPARSE, Weights, evaluate, keyword_half, score_parts, total

NOW = 1_800_000_000.0
EMBEDDER = HashEmbedder()
WEIGHTS = Weights.of(0.6, 0.25, 0.15)
DIMENSIONS = 256


def id_of(number: int) -> str:
    return str(uuid.UUID(int=number))


def point(
    number: int, text: str, *, ns: str = "a", user: str = "", past: bool = False, rev: int = 1, **payload: Any
) -> Point:
    values = {
        "ns": ns,
        "audience": audience(ns, user, past=past),
        "kind": "fact",
        "importance": 0.5,
        "last_ts": NOW - 86_400,
        "hl": 86_400.0 * 30,
        "valid_from": NOW - 1000,
        "valid_to": NEVER,
        "rev": rev,
    }
    return Point(id_of(number), EMBEDDER.question(text), lexical.document(text), {**values, **payload})


def search(
    text: str,
    *,
    ns: str = "a",
    user: str = "",
    kinds: tuple[str, ...] = (),
    as_of: float | None = None,
    memories: int = 10,
    candidates: int = 100,
    limit: int = 10,
) -> Search:
    parts = score_parts(WEIGHTS, EMBEDDER.scale, now=NOW, half=keyword_half(memories))
    return Search(
        scope=Scope(namespace=ns, user=user, kinds=kinds, as_of=as_of),
        dense=EMBEDDER.question(text),
        sparse=lexical.query(text),
        score=total(parts),
        candidates=candidates,
        limit=limit,
    )


def ids(hits: list[IndexHit]) -> list[int]:
    return [uuid.UUID(hit.id).int for hit in hits]


WORDS = [
    "checkout",
    "pool",
    "disk",
    "timeout",
    "node-7",
    "node-8",
    "ERR_123",
    "certificate",
    "redis",
    "kafka",
    "latency",
    "连接池",
    "耗尽",
    "deploy",
]


def random_points(count: int, seed: int) -> dict[int, tuple[str, Point]]:
    rng = random.Random(seed)
    made = {}
    for number in range(1, count + 1):
        text = " ".join(rng.choices(WORDS, k=6))
        made[number] = (
            text,
            point(
                number,
                text,
                importance=rng.random(),
                last_ts=NOW - rng.random() * 1e7,
                hl=86_400.0 * rng.randint(1, 99),
            ),
        )
    return made


def brute_force(
    points: dict[int, tuple[str, Point]], asked: Search, memories: int
) -> list[tuple[float, int]]:
    """The documented score, in plain Python over every point."""
    parts = score_parts(WEIGHTS, EMBEDDER.scale, now=NOW, half=keyword_half(memories))
    frequency: dict[int, int] = {}
    for _, stored in points.values():
        for index in stored.sparse.indices:
            frequency[index] = frequency.get(index, 0) + 1
    scored = []
    for number, (_, stored) in points.items():
        own = dict(zip(stored.sparse.indices, stored.sparse.values, strict=True))
        bm25 = sum(
            own[i] * math.log(1 + (len(points) - frequency[i] + 0.5) / (frequency[i] + 0.5))
            for i in asked.sparse.indices
            if i in own
        )
        values = {
            DENSE: cosine(asked.dense, stored.dense),
            SPARSE: bm25,
            "importance": stored.payload["importance"],
            "last_ts": stored.payload["last_ts"],
            "hl": stored.payload["hl"],
        }
        scored.append((evaluate(total(parts), values), number))
    return sorted(scored, key=lambda pair: (-pair[0], pair[1]))


class IndexContract:
    """Subclasses provide the fixture `index`: an empty MemoryIndex of 256 dimensions."""

    def test_a_point_is_found_and_counted_in_its_namespace_only(self, index: MemoryIndex) -> None:
        index.upsert([point(1, "checkout pool exhausted"), point(2, "checkout pool exhausted", ns="b")])
        assert ids(index.search(search("checkout pool")).hits) == [1]
        assert (index.count(), index.count("a"), index.count("b"), index.count("c")) == (2, 1, 1, 0)

    @pytest.mark.parametrize(
        "ns", ["*", "%", "a%", "a&b=c/d:e", "租户", "ａ", "a b", "'; drop", '{"in":"a"}']
    )
    def test_every_character_of_a_namespace_is_literal(self, index: MemoryIndex, ns: str) -> None:
        index.upsert(
            [point(1, "checkout pool"), point(2, "checkout pool", ns=ns), point(3, "checkout pool", ns="ab")]
        )
        assert ids(index.search(search("checkout pool", ns=ns)).hits) == [2]
        assert ids(index.search(search("checkout pool", ns="a")).hits) == [1]
        assert index.count(ns) == 1

    def test_an_old_revision_never_overwrites_a_newer_one(self, index: MemoryIndex) -> None:
        index.upsert([point(1, "new", rev=5)])
        index.upsert([point(1, "old", rev=3)])
        index.upsert([point(1, "same", rev=5)])
        assert index.revisions() == {id_of(1): 5}
        assert index.search(search("new")).hits[0].cosine == pytest.approx(
            cosine(EMBEDDER.question("new"), EMBEDDER.question("new")), abs=1e-5
        )
        index.upsert([point(1, "newer", rev=6)])
        assert index.revisions() == {id_of(1): 6}

    def test_deleting_removes_and_unknown_ids_are_no_error(self, index: MemoryIndex) -> None:
        index.upsert([point(1, "one"), point(2, "two")])
        index.delete([id_of(1), id_of(99)])
        index.delete([])
        assert index.revisions() == {id_of(2): 1}

    def test_a_batch_of_many_revisions_is_taken_each_by_its_own(self, index: MemoryIndex) -> None:
        index.upsert([point(n, "first", rev=n) for n in range(1, 40)])
        index.upsert([point(n, "second", rev=20) for n in range(1, 40)])
        assert index.revisions() == {id_of(n): max(n, 20) for n in range(1, 40)}

    def test_pages_go_through_every_point_once_in_the_order_of_ids(self, index: MemoryIndex) -> None:
        numbers = [1, 5, 2**40, 2**100, 2**127 + 3]
        index.upsert([point(n, f"memory {n}", rev=n % 7 + 1, user="ann") for n in reversed(numbers)])
        seen, after = [], ""
        while page := index.page(after, 2):
            seen += page
            after = page[-1].id
        assert [held.id for held in seen] == sorted(map(id_of, numbers))
        assert seen[0].audience == audience("a", "ann", past=False)
        assert index.held([id_of(5), id_of(6)]) == [seen[1]]
        assert index.held([]) == []
        assert not index.broken()

    def test_a_key_that_is_used_again_has_the_new_vector_only(self, index: MemoryIndex) -> None:
        index.upsert([point(1, "the certificate expired")])
        index.delete([id_of(1)])
        index.upsert([point(1, "redis latency after deploy", rev=3)])
        [hit] = index.search(search("redis latency after deploy")).hits
        assert hit.cosine == pytest.approx(1.0, abs=1e-5)
        assert index.count() == 1

    def test_scope_honours_user_kind_and_validity(self, index: MemoryIndex) -> None:
        index.upsert(
            [
                point(1, "shared pool"),
                point(2, "ann's pool", user="ann"),
                point(3, "bob's pool", user="bob"),
                point(4, "pool procedure", kind="procedure"),
                point(5, "pool of old", past=True, valid_from=NOW - 1000, valid_to=NOW - 500),
            ]
        )
        assert sorted(ids(index.search(search("pool")).hits)) == [1, 4]
        assert sorted(ids(index.search(search("pool", user="ann")).hits)) == [1, 2, 4]
        assert ids(index.search(search("pool", kinds=("procedure",))).hits) == [4]
        assert sorted(ids(index.search(search("pool", as_of=NOW - 600)).hits)) == [1, 4, 5]
        assert sorted(ids(index.search(search("pool", as_of=NOW - 400)).hits)) == [1, 4]

    def test_a_keyword_alone_finds_what_the_dense_leg_missed(self, index: MemoryIndex) -> None:
        index.upsert([point(n, f"what is it, what is error {n}") for n in range(1, 30)])
        index.upsert([point(77, "zz ERR_4412 zz qq ww xx vv kk jj hh gg ff dd ss aa")])
        found = index.search(search("what is ERR_4412", candidates=3, memories=30))
        hit = next(h for h in found.hits if h.id == id_of(77))
        assert hit.cosine is None
        assert hit.keywords == pytest.approx(found.sparse_floor or hit.keywords)
        exact = next(
            h for h in index.search(search("what is ERR_4412", memories=30)).hits if h.id == id_of(77)
        )
        assert exact.cosine is not None
        assert hit.score == pytest.approx(exact.score, abs=1e-6), (
            "it is ranked by its true cosine all the same"
        )
        assert not found.complete

    def test_a_question_without_words_still_ranks(self, index: MemoryIndex) -> None:
        index.upsert([point(1, "one"), point(2, "two")])
        assert len(index.search(search("???")).hits) == 2

    def test_one_point_without_fields_does_not_fail_the_query(self, index: MemoryIndex) -> None:
        bare = point(1, "checkout pool")
        for name in ("importance", "last_ts", "hl"):
            del bare.payload[name]
        index.upsert([bare, point(2, "checkout pool")])
        assert ids(index.search(search("checkout pool")).hits) == [2, 1]

    def test_the_score_is_the_documented_one(self, index: MemoryIndex) -> None:
        points = random_points(60, seed=5)
        index.upsert([stored for _, stored in points.values()])
        for text in ("checkout pool", "node-7 ERR_123", "连接池耗尽", "redis latency after deploy"):
            asked = search(text, memories=60, limit=60)
            expected = brute_force(points, asked, 60)
            found = index.search(asked)
            assert found.complete
            assert [round(h.score, 4) for h in found.hits] == [round(s, 4) for s, _ in expected]

    def test_floors_tell_what_the_last_candidate_scored(self, index: MemoryIndex) -> None:
        points = random_points(60, seed=6)
        index.upsert([stored for _, stored in points.values()])
        asked = search("checkout pool", memories=60, candidates=10)
        cosines = sorted((cosine(asked.dense, stored.dense) for _, stored in points.values()), reverse=True)
        found = index.search(asked)
        assert found.dense_floor == pytest.approx(cosines[9], abs=1e-5)
        assert found.sparse_floor > 0
        assert not found.complete
