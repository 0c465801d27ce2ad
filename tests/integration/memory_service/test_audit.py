from __future__ import annotations

import pytest
from sqlalchemy import text

from memory_service import audit
from tests.integration.memory_service.forgetting.test_archive import upkeep
from tests.integration.memory_service.world import World


def done(desk: World) -> str:
    id_ = desk.remember("the pool of checkout holds 2", key="pool size")
    for size in (3, 4, 5):
        desk.remember(f"the pool of checkout holds {size}", key="pool size")
    desk.memory.forget({"id": id_, "by": "ann", "reason": "asked"})
    return id_


def tamper(desk: World, statement: str) -> None:
    with desk.database.writing("test") as session:
        session.connection().execute(text(statement))


def test_a_whole_chain_is_followed_in_steps(desk: World) -> None:
    done(desk)
    found = audit.verify(desk.database, most=2)
    assert found.after is not None
    assert (found.checked, found.after[0]) == (2, 2)
    rest = audit.verify(desk.database, found.after, most=100)
    assert (rest.checked, rest.broken, rest.after) == (3, None, None)
    assert audit.broken_link(desk.database) is None
    assert upkeep(desk).verify({}) == {"checked": 5, "broken": None, "why": "", "after": None}


@pytest.mark.parametrize(
    ("statement", "broken"),
    [
        ("UPDATE memory_audit SET actor = 'nobody' WHERE seq = 2", 2),
        ("UPDATE memory_audit SET after = '{}' WHERE seq = 3", 3),
        ("UPDATE memory_audit SET hash = 'ab' WHERE seq = 3", 3),
        ("DELETE FROM memory_audit WHERE seq = 3", 4),
        ("DELETE FROM memory_audit WHERE seq = 1", 2),
        ("DELETE FROM memory_audit WHERE seq = 5", 5),
        ("DELETE FROM memory_audit WHERE seq > 1", 2),
        ("DELETE FROM memory_audit", 1),
        ("DELETE FROM job_run WHERE job = 'audit-head'", 5),
    ],
)
def test_every_change_is_found_also_that_the_last_rows_are_gone(
    desk_on_sqlite: World, statement: str, broken: int
) -> None:
    desk = desk_on_sqlite
    done(desk)
    tamper(desk, statement)
    found = upkeep(desk).verify({})
    assert found["broken"] == broken
    assert found["why"]


def test_a_row_that_is_undone_with_its_change_leaves_the_chain_whole(desk: World) -> None:
    done(desk)

    def half() -> None:
        with desk.database.writing("test") as session:
            audit.record(session, at=desk.now, actor="a", action="b")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    assert audit.broken_link(desk.database) is None


def test_who_did_what_to_one_memory_and_why_without_any_text(desk: World) -> None:
    id_ = done(desk)
    desk.remember("the pager is red", namespace="b")
    told = upkeep(desk).entries({"id": id_[:8]})["entries"]
    assert next((row["action"], row["actor"], row["reason"]) for row in told) == ("forget", "ann", "asked")
    assert told[0]["before"]["status"] == "active"
    assert told[0]["after"]["status"] == "deleted"
    assert "pool of checkout" not in str(told)
    assert upkeep(desk).entries({"id": id_, "namespace": "b"}) == {"entries": [], "next": None}
    assert {row["namespace"] for row in upkeep(desk).entries({})["entries"]} == {"default"}


def test_the_nights_that_moved_a_memory_are_told_and_nobody_elses_numbers(desk: World) -> None:
    id_ = desk.remember("checkout pool exhausted", kind="episode", importance=0.6)
    desk.remember("billing pool exhausted", kind="episode", importance=0.6, namespace="b")
    desk.pass_days(100)
    desk.memory.decay()
    night, *_ = upkeep(desk).entries({"id": id_})["entries"]
    assert (night["actor"], night["after"]) == ("decay", {"status": "archived"})


def test_pages_of_the_audit_follow_each_other(desk: World) -> None:
    done(desk)
    first = upkeep(desk).entries({"limit": 3})
    second = upkeep(desk).entries({"limit": 3, "before": first["next"]})
    assert [row["seq"] for row in first["entries"] + second["entries"]] == [5, 4, 3, 2, 1]
    assert second["next"] is None
