from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import event, inspect, text
from sqlmodel import select

from kernel.contracts import MemoryHit
from kernel.events import MemoryRecalled
from kernel.ledgers import EventRow
from kernel.records import CallRow, RunRow
from kernel.redaction import Redactor
from kernel.reports import ReportMemory
from memory_service.forgetting.copies import FORGOTTEN, Copies
from memory_service.forgetting.erasure import erase
from memory_service.forgetting.estate import Estate
from memory_service.tables import EmbedCacheRow, JobRunRow
from tests.integration.memory_service.forgetting.test_archive import archived, upkeep, words
from tests.integration.memory_service.world import World, end_run

SECRET = "the marmalade pool of checkout holds two connections"


def everything(desk: World) -> str:
    """Every text in every table."""
    with desk.database.reading() as session:
        connection = session.connection()
        tables = [
            name for name in inspect(connection).get_table_names() if not name.startswith("memory_archive")
        ]
        return "\n".join(
            str(row) for name in tables for row in connection.execute(text(f'SELECT * FROM "{name}"'))
        )


def vectors(desk: World) -> int:
    with desk.database.reading() as session:
        return len(session.exec(select(EmbedCacheRow)).all())


def serve(desk: World, run_id: str, id_: str, **fields: Any) -> None:
    """Let a run be served a memory, keep it in every place where runs keep one, and end."""
    end_run(desk, run_id, memories=[ReportMemory(id=id_, text=SECRET, cited=True)], **fields)
    hit = MemoryHit(id=id_, text=SECRET, slots={"pool": SECRET})
    with desk.database.writing("test") as session:
        body = MemoryRecalled(run_id=run_id, memories=[hit]).model_dump(mode="json")
        session.add(EventRow(run_id=run_id, seq=1, body=body))
        result = {"value": {"memories": [{"id": id_, "kind": "fact", "text": SECRET}]}}
        session.add(
            CallRow(
                id=f"call-{run_id}",
                run_id=run_id,
                assignment_id=f"part-{run_id}",
                turn=1,
                position=1,
                tool="recall",
                effect="read",
                key="k",
                state="done",
                result=result,
            )
        )
        run = session.get(RunRow, run_id)
        assert run is not None
        run.created_at, run.published = desk.now, True


def forget(desk: World, id_: str, **fields: Any) -> None:
    assert desk.memory.forget({"id": id_, **fields}) == {"forgotten": id_}
    upkeep(desk).tidy()


def test_a_deleted_memory_is_in_no_place_any_more_and_the_same_key_begins_anew(desk: World) -> None:
    id_ = desk.remember(SECRET, key="pool size", context="marmalade again", slots={"why": "marmalade"})
    desk.remember("a week of marmalade", kind="summary", made_from=[id_])
    desk.remember("the pager of node-7 is red", importance=0.9)
    serve(desk, "run-1", id_)
    assert upkeep(desk).would_forget({"id": id_}) | {"memories": []} == {
        "memories": [],
        "indexed": 2,
        "vectors": 2,
        "archived": 0,
        "copies": 4,
    }
    assert "marmalade" in everything(desk)
    forget(desk, id_)
    assert "marmalade" not in everything(desk)
    assert desk.recall("marmalade pool") == []
    assert [memory["text"] for memory in desk.memory.page({})["memories"]] == ["the pager of node-7 is red"]
    assert (vectors(desk), desk.index.count(), desk.drift()) == (1, 1, 0)
    again = desk.remember(SECRET, key="pool size")
    assert again != id_
    assert [hit.id for hit in desk.recall("marmalade pool")] == [again]
    assert (vectors(desk), desk.index.count()) == (2, 2)


def test_runs_keep_that_there_was_a_memory_and_their_report_is_published_again(desk: World) -> None:
    id_ = desk.remember(SECRET)
    serve(desk, "run-1", id_)
    forget(desk, id_)
    with desk.database.reading() as session:
        run = session.get(RunRow, "run-1")
        assert run is not None
        assert run.report is not None
        assert run.report["memories"] == [{"id": id_, "text": FORGOTTEN, "cited": True}]
        assert not run.published
        event = session.exec(select(EventRow)).one()
        assert MemoryRecalled.model_validate(event.body).memories[0].id == id_


def test_what_was_archived_goes_from_there_too(desk: World) -> None:
    id_ = archived(desk, SECRET)
    assert len(words(desk)) == 1
    forget(desk, id_)
    assert words(desk) == []
    assert desk.recall("marmalade", include="archive") == []


def test_the_same_text_of_somebody_else_keeps_its_row_and_its_vector(desk: World) -> None:
    own = desk.remember(SECRET)
    other = desk.remember(SECRET, namespace="b")
    forget(desk, own)
    assert vectors(desk) == 1
    assert [hit.id for hit in desk.recall("marmalade pool", namespace="b")] == [other]


def test_copies_are_blanked_from_where_a_kill_left_off(desk: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory_service.forgetting.copies._RUNS", 1)
    id_ = desk.remember(SECRET)
    for number in range(3):
        serve(desk, f"run-{number}", id_)
    desk.memory.forget({"id": id_})

    class Killed(BaseException):
        """Stands for SIGKILL behind a transaction."""

    struck: list[str] = []

    def strike(label: str) -> None:
        struck.append(label)
        if label == "memory.copies.blank:after" and struck.count(label) == 2:
            raise Killed

    monkeypatch.setattr("kernel.faults._strike", strike)
    with pytest.raises(Killed):
        upkeep(desk).tidy()
    monkeypatch.setattr("kernel.faults._strike", None)
    assert "marmalade" in everything(desk)
    assert upkeep(desk).tidy() == 4  # of the third run alone
    assert "marmalade" not in everything(desk)
    with desk.database.reading() as session:
        assert session.exec(select(JobRunRow).where(JobRunRow.job == "copies")).all() == []


def test_a_run_that_was_under_way_is_tidied_when_it_ends(desk: World) -> None:
    id_ = desk.remember(SECRET)
    forget(desk, id_)
    serve(desk, "late", id_)
    assert Copies(desk.database).blank("late", desk.now) == 4
    assert "marmalade" not in everything(desk)


def estate(desk: World, secrets: list[str] | None = None) -> Estate:
    return Estate(
        desk.database, redaction=Redactor(secrets or []), drain=desk.relay.drain, now=lambda: desk.now
    )


def counted(desk: World) -> dict[str, int]:
    return {ns: desk.memory.page({"namespace": ns})["total"] for ns in ("default", "*", "b", "b%")}


def test_erasing_one_namespace_leaves_all_others_as_they_were(desk: World) -> None:
    for namespace in ("default", "*", "b", "b%"):
        for number in range(3):
            desk.remember(f"pool {number} of marmalade", namespace=namespace, relay=False)
    id_ = desk.remember(SECRET, namespace="*")
    serve(desk, "run-1", id_, namespace="*")
    assert estate(desk).erase({"namespace": "*", "by": "ann"}) == {"erased": 4, "left": 0}
    assert counted(desk) == {"default": 3, "*": 0, "b": 3, "b%": 3}
    assert (desk.index.count(), desk.drift()) == (9, 0)
    with desk.database.reading() as session:
        assert SECRET not in str(session.exec(select(EventRow.body)).all())


def test_one_users_memories_are_erased_alone(desk: World) -> None:
    desk.remember("shared marmalade", relay=False)
    for user in ("ann", "bob"):
        desk.remember(f"marmalade of {user}", user=user, relay=False)
    assert estate(desk).erase({"namespace": "default", "user": "ann"})["erased"] == 1
    texts = {memory["text"] for memory in desk.memory.page({})["memories"]}
    assert texts == {"shared marmalade", "marmalade of bob"}


def test_an_erasure_goes_on_where_nobody_asks_again(desk: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memory_service.forgetting.estate_erasure._ERASED", 2)
    monkeypatch.setattr("memory_service.forgetting.estate_erasure._BATCHES", 1)
    for number in range(5):
        desk.remember(f"pool {number} of marmalade", relay=False)
    assert estate(desk).erase({"namespace": "default"}) == {"erased": 2, "left": 3}
    assert [estate(desk).resume() for _ in range(3)] == [2, 1, 0]
    assert counted(desk)["default"] == 0
    assert "marmalade" not in everything(desk)


def test_an_erasure_goes_on_behind_its_last_batch_and_can_be_done_again(
    desk: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memory_service.forgetting.estate_erasure._ERASED", 2)
    monkeypatch.setattr("memory_service.forgetting.estate_erasure._BATCHES", 1)
    for number in range(3):
        desk.remember(f"pool {number} of marmalade", relay=False)
    assert estate(desk).erase({"namespace": "default"})["left"] == 1
    desk.remember("pool 3 of marmalade", relay=False)
    assert [estate(desk).erase({"namespace": "default"}) for _ in range(2)] == [
        {"erased": 2, "left": 0},
        {"erased": 0, "left": 0},
    ]
    desk.remember("pool 4 of marmalade", relay=False)
    assert estate(desk).erase({"namespace": "default"}) == {"erased": 1, "left": 0}
    assert counted(desk)["default"] == 0


def test_what_only_faded_is_learnt_again_though_another_users_memories_were_erased(desk: World) -> None:
    told = {"kind": "episode", "user": "ann", "source_kind": "run"}
    desk.remember("the printer of floor two jams", expires_at=desk.now + timedelta(days=1), **told)
    desk.pass_days(10)
    desk.memory.decay()
    desk.pass_days(1)
    assert desk.memory.decay().ran
    assert desk.memory.page({})["memories"] == []
    desk.remember("the desk of bob is slow", user="bob")
    estate(desk).erase({"namespace": "default", "user": "bob"})
    desk.pass_days(1)
    assert desk.remember("the printer of floor two jams", **told)
    estate(desk).erase({"namespace": "default", "user": "ann"})
    with pytest.raises(AssertionError):
        desk.remember("the printer of floor two jams", **told)


def test_erasing_asks_no_more_questions_for_more_sessions(desk: World) -> None:
    for number in range(40):
        desk.remember(f"pool {number} of marmalade", session=f"s{number}", slots={"turn": 1}, relay=False)
    asked: list[str] = []

    def note(*told: Any) -> None:
        asked.append(str(told[2]))

    event.listen(desk.database.engine, "before_cursor_execute", note)
    counts = []
    for pks in ([1], list(range(2, 41))):
        asked.clear()
        with desk.database.writing("test") as session:
            erase(session, pks, desk.now)
        counts.append(len([told for told in asked if told.startswith("SELECT")]))
    assert counts[0] == counts[1]
