"""No question sees what is another's: random scopes on a real engine, and hostile names through the whole recall."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kernel.errors import Correctable
from memory_service import lexical
from memory_service.embed.hash import HashEmbedder
from memory_service.forgetting.fading import NEVER
from memory_service.index.edge import EdgeIndex
from memory_service.index.port import Point, Scope, Search, audience
from memory_service.scoring import Weights, score_parts, total
from tests.integration.memory_service.index_contract import NOW, id_of
from tests.integration.memory_service.world import World, world

pytestmark = pytest.mark.integration

#: Names that some store has taken for another's, for a pattern, or for part of a grammar.
NAMES = [
    "a",
    "A",
    "ａ",  # NFKC: a
    "а",  # Cyrillic
    "á",
    "a\u0301",  # NFC: á
    "a ",
    " a",
    "a\u200b",
    "*",
    "%",
    "_",
    "a%",
    "a&b=c",
    "a/b",
    "a:b",
    "a::b",
    "租户",
    '{"in":"a"}',
    "'; drop table memory; --",
    "null",
    "ﬁ",
    "fi",
    "K",  # the sign of kelvin; NFKC: K
    "K",
]
#: The engine takes these too; a caller may not send them.
CONTROL = ["a\0", "a\0b", "a\x1f", "a\x1fb", "\x1f"]
USERS = ["", "ann", "Ann", "аnn", "ａｎｎ", "*", "%", "a", "ann\0", "租户"]
KINDS = ["fact", "preference", "episode", "procedure", "summary"]
WORDS = ["pool", "disk", "ERR_123", "node-7", "连接池"]
DIMENSIONS = 8
CASES = 10_000


@dataclass(frozen=True)
class Stored:
    """A memory of one audience, kind and time."""

    namespace: str
    user: str
    kind: str
    valid_from: float
    valid_to: float

    def belongs(self, scope: Scope) -> bool:
        if self.namespace != scope.namespace or self.user not in ("", scope.user):
            return False
        if scope.kinds and self.kind not in scope.kinds:
            return False
        if scope.as_of is None:
            return self.valid_to == NEVER
        return self.valid_from <= scope.as_of < self.valid_to


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[EdgeIndex, dict[str, Stored]]]:
    rng = random.Random(3)
    index = EdgeIndex(Path(tmp_path_factory.mktemp("edge")), DIMENSIONS)
    stored: dict[str, Stored] = {}
    points = []
    for namespace in NAMES + CONTROL[:2]:
        for user in USERS:
            for _ in range(6):
                since = float(int(NOW) - rng.randrange(1, 1000))
                until = rng.choice([NEVER, NEVER, since + rng.randrange(1, 500)])
                one = Stored(namespace, user, rng.choice(KINDS), since, until)
                id_ = id_of(len(stored) + 1)
                stored[id_] = one
                points.append(_point(id_, one, rng))
    index.upsert(points)
    yield index, stored
    index.close()


def _point(id_: str, one: Stored, rng: random.Random) -> Point:
    return Point(
        id=id_,
        dense=[rng.uniform(-1, 1) for _ in range(DIMENSIONS)],
        sparse=lexical.document(" ".join(rng.choices(WORDS, k=2))),
        payload={
            "ns": one.namespace,
            "audience": audience(one.namespace, one.user, past=one.valid_to != NEVER),
            "kind": one.kind,
            "importance": rng.random(),
            "last_ts": NOW,
            "hl": 86_400.0,
            "valid_from": one.valid_from,
            "valid_to": one.valid_to,
            "rev": 1,
        },
    )


def test_nothing_leaks_in_10000_random_filter_cases(filled: tuple[EdgeIndex, dict[str, Stored]]) -> None:
    index, stored = filled
    rng = random.Random(4)
    parts = score_parts(Weights.of(0.6, 0.25, 0.15), HashEmbedder().scale, now=NOW, half=2.0)
    score = total(parts)
    by_namespace: dict[str, list[tuple[str, Stored]]] = {}
    for id_, one in stored.items():
        by_namespace.setdefault(one.namespace, []).append((id_, one))
    counts: Counter[str] = Counter()
    for _ in range(CASES):
        scope = Scope(
            namespace=rng.choice([*NAMES, *CONTROL[:2], "nobody's", "b", ""]),
            user=rng.choice([*USERS, "bob"]),
            kinds=tuple(rng.sample(KINDS, rng.choice([0, 0, 1, 2]))),
            as_of=rng.choice([None, None, float(int(NOW) - rng.randrange(0, 1100))]),
        )
        limit = rng.choice([1, 5, 100])
        search = Search(
            scope=scope,
            dense=[rng.uniform(-1, 1) for _ in range(DIMENSIONS)],
            sparse=lexical.query(rng.choice(WORDS)) if rng.random() < 0.7 else lexical.Sparse([], []),
            score=score,
            candidates=100,
            limit=limit,
        )
        found = [hit.id for hit in index.search(search).hits]
        assert all(stored[id_].belongs(scope) for id_ in found), (scope, [stored[id_] for id_ in found])
        own = sum(one.belongs(scope) for _, one in by_namespace.get(scope.namespace, []))
        assert len(found) == min(limit, own), "nor is anything of its own kept back"
        counts["hits"] += len(found)
        counts["as of"] += scope.as_of is not None and bool(found)
        counts["empty"] += not found
    assert counts["hits"] > CASES, counts
    assert counts["as of"] > CASES / 20, counts
    assert 0 < counts["empty"] < CASES / 2, counts


@pytest.fixture(scope="module")
def desks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, dict[str, tuple[str, str]]]]:
    """A memory in which every name has a memory of each of two users, one fact with a key, and a preference."""
    with world(Path(tmp_path_factory.mktemp("leaks"))) as desk:
        owners: dict[str, tuple[str, str]] = {}
        for namespace in NAMES:
            for user in ("", "ann", "*"):
                told = {"namespace": namespace, "user": user, "relay": False}
                owners[desk.remember("the pool of checkout is full", key="pool", **told)] = (namespace, user)
                text = "always name the pool of checkout first"
                owners[desk.remember(text, kind="preference", **told)] = (namespace, user)
        desk.relay.drain()
        yield desk, owners


@pytest.mark.parametrize("namespace", NAMES)
def test_no_read_verb_tells_of_another_namespace_or_user(
    desks: tuple[World, dict[str, tuple[str, str]]], namespace: str
) -> None:
    desk, owners = desks
    for user in ("", "ann", "*", "%", "ａｎｎ"):
        for text in ("pool", "the pool of checkout"):
            hits = desk.recall(text, namespace=namespace, user=user, limit=50)
            assert hits
            assert {owners[hit.id] for hit in hits} <= {(namespace, ""), (namespace, user)}
    listed = [m["id"] for m in desk.memory.page({"namespace": namespace, "limit": 1000})["memories"]]
    assert sorted(listed) == sorted(id_ for id_, owner in owners.items() if owner[0] == namespace)
    foreign = next(id_ for id_, owner in owners.items() if owner[0] != namespace)
    for id_ in (foreign, foreign[:8], "*", "%", "_" * 36, "", "\0"):
        assert desk.memory.forget({"namespace": namespace, "id": id_}) == {"forgotten": None}


@pytest.mark.parametrize("name", CONTROL)
def test_no_verb_takes_a_name_with_control_characters(
    desks: tuple[World, dict[str, tuple[str, str]]], name: str
) -> None:
    """The audience of the index joins names by one of them: `a␟b` for nobody would be `a` for `b`."""
    desk, _ = desks
    verbs = [
        lambda: desk.recall("pool", namespace=name),
        lambda: desk.recall("pool", user=name),
        lambda: desk.memory.page({"namespace": name}),
        lambda: desk.memory.forget({"namespace": name, "id": id_of(1)}),
        lambda: desk.remember("the pool is full", namespace=name),
        lambda: desk.remember("the pool is full", user=name),
    ]
    for verb in verbs:
        with pytest.raises(Correctable, match="no usable name"):
            verb()
