from __future__ import annotations

import pytest
from sqlalchemy import text

from kernel.errors import Correctable
from memory_service import lexical
from memory_service.audit import broken_link
from memory_service.forgetting import archive
from memory_service.forgetting.upkeep import Upkeep
from memory_service.tables import JobRunRow
from tests.integration.memory_service.world import World

#: The same thing in the words of four languages; none is found by the vector of a hash alone.
LANGUAGES = {
    "checkout pool exhausted on node-7": "node-7 pool",
    "结账服务的连接池已耗尽": "连接池",
    "決済サービスの接続プールが枯渇した": "接続プール",
    "Der Verbindungspool der Kasse ist erschöpft": "Verbindungspool erschöpft",
}


def upkeep(desk: World) -> Upkeep:
    return Upkeep(desk.database, drain=desk.relay.drain, decay=desk.memory.decay, now=lambda: desk.now)


def archived(desk: World, told: str = "checkout pool exhausted on node-7", **fields: object) -> str:
    id_ = desk.remember(told, **{"kind": "episode", "importance": 0.6, **fields})
    desk.pass_days(100)
    desk.memory.decay()
    return id_


def words(desk: World) -> list[int]:
    with desk.database.reading() as session:
        found = session.connection().execute(text("SELECT rowid FROM memory_archive ORDER BY rowid"))
        return list(found.scalars())


def test_what_is_archived_is_found_by_its_words_in_any_language(desk: World) -> None:
    for told in LANGUAGES:
        desk.remember(told, kind="episode", importance=0.6)
    desk.pass_days(100)
    desk.memory.decay()
    assert desk.index.count() == 0
    for told, question in LANGUAGES.items():
        found = archive.search(desk.database, "default", "", question, 5, at=desk.now)
        assert found[0][0].text == told


def test_only_what_is_archived_has_words_there(desk: World) -> None:
    desk.remember("the pager of node-7 is red", importance=0.9, half_life_days=3650)
    id_ = archived(desk)
    assert len(words(desk)) == 1
    assert upkeep(desk).restore({"id": id_}) == {"restored": id_}
    assert words(desk) == []
    desk.pass_days(100)
    desk.memory.decay()
    assert len(words(desk)) == 1
    desk.pass_days(400)
    desk.memory.decay()
    assert words(desk) == []


def test_recall_looks_there_by_itself_where_it_finds_nothing_else_and_marks_what_it_found(
    desk: World,
) -> None:
    id_ = archived(desk)
    (hit,) = desk.recall("node-7 pool exhausted")
    assert (hit.id, hit.tier, hit.explain["archived"]) == (id_, "middle", 1.0)
    assert desk.recall("who drinks coffee with node-7 in the lobby of paris") == []
    fresh = desk.remember(
        "billing let the pool of node-7 run dry: exhausted at noon", kind="episode", importance=0.6
    )
    assert [hit.id for hit in desk.recall("node-7 pool exhausted")] == [fresh]
    both = desk.recall("node-7 pool exhausted", include="archive")
    assert [(hit.id, "archived" in hit.explain) for hit in both] == [(fresh, False), (id_, True)]


def test_what_an_answer_cites_from_the_archive_comes_back_and_looking_alone_changes_nothing(
    desk: World,
) -> None:
    id_ = archived(desk)
    desk.recall("node-7 pool exhausted")
    desk.memory.reinforce()
    assert desk.index.count() == 0
    desk.store.cite("default", [id_], cited_by="run:r1", at=desk.now)
    desk.memory.reinforce()
    assert desk.index.count() == 1
    (hit,) = desk.recall("node-7 pool exhausted")
    assert hit.id == id_
    assert "archived" not in hit.explain
    actions = [row["action"] for row in upkeep(desk).entries({"id": id_})["entries"]]
    assert actions[0] == "restored"
    assert broken_link(desk.database) is None


def test_nothing_of_another_namespace_or_user_is_found(desk: World) -> None:
    for namespace, user in (("default", ""), ("default", "ann"), ("b", ""), ("*", ""), ("b%", "")):
        desk.remember(
            "checkout pool exhausted", kind="episode", importance=0.6, namespace=namespace, user=user
        )
    desk.pass_days(100)
    desk.memory.decay()
    for namespace, user, seen in (
        ("default", "", {("default", "")}),
        ("default", "ann", {("default", ""), ("default", "ann")}),
        ("b", "ann", {("b", "")}),
        ("*", "", {("*", "")}),
        ("%", "", set()),
    ):
        found = archive.search(desk.database, namespace, user, "checkout pool", 50, at=desk.now)
        assert {(memory.namespace, memory.user) for memory, _ in found} == seen


def test_history_and_what_expired_stays_away(desk: World) -> None:
    desk.remember("the pool of checkout holds 2", key="pool size", half_life_days=20)
    desk.pass_days(1)
    desk.remember("the pool of checkout holds 3", key="pool size", half_life_days=20)
    desk.pass_days(200)
    desk.memory.decay()
    found = archive.search(desk.database, "default", "", "pool of checkout", 5, at=desk.now)
    assert [memory.text for memory, _ in found] == ["the pool of checkout holds 3"]


@pytest.mark.parametrize(
    "told", ['"', "AND OR NOT", "words: *", "NEAR(a b)", "'); DROP TABLE memory;--", "!!!"]
)
def test_no_question_is_read_as_a_query(desk: World, told: str) -> None:
    archived(desk, "words near the table and not or else drop")
    assert isinstance(archive.search(desk.database, "default", "", told, 5, at=desk.now), list)


def test_only_an_archived_memory_that_still_holds_is_restored(desk: World) -> None:
    active = desk.remember("the pager of node-7 is red", importance=0.9, half_life_days=3650)
    with pytest.raises(Correctable, match="not archived"):
        upkeep(desk).restore({"id": active})
    id_ = archived(desk, namespace="b")
    assert upkeep(desk).restore({"id": id_}) == {"restored": None}
    assert upkeep(desk).restore({"id": id_[:8], "namespace": "b", "by": "ann"}) == {"restored": id_}


def test_words_of_another_version_are_written_anew_in_batches(desk: World) -> None:
    for told in LANGUAGES:
        desk.remember(told, kind="episode", importance=0.6)
    desk.pass_days(100)
    desk.memory.decay()
    assert upkeep(desk).renew() == len(LANGUAGES), "nobody has noted yet of which version they are"
    assert upkeep(desk).renew() == 0
    with desk.database.writing("test") as session:
        session.connection().execute(text("UPDATE memory_archive SET words = 'wolder'"))
        noted = session.get(JobRunRow, (archive.RENEWAL, ""))
        assert noted is not None
        noted.counts = {"words": lexical.VERSION - 1}
        session.add(noted)
    assert archive.search(desk.database, "default", "", "node-7 pool", 5, at=desk.now) == []
    assert archive.renew(desk.database, most=1, step=3) == 3
    assert archive.renew(desk.database, most=1, step=3) == 1
    assert upkeep(desk).renew() == 0
    for told, question in LANGUAGES.items():
        assert archive.search(desk.database, "default", "", question, 5, at=desk.now)[0][0].text == told
