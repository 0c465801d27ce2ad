from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from time import monotonic

import pytest
from sqlalchemy import text
from sqlmodel import select

from memory_service.audit import broken_link
from memory_service.decay import Decay
from memory_service.forgetting.fading import stage
from memory_service.state import fading_of
from memory_service.tables import JobRunRow, MemoryOutboxRow, MemoryRateRow, MemoryRow, MemoryStateRow
from tests.integration.memory_service.world import World, world


class Killed(BaseException):
    """Stands for SIGKILL between two batches."""


def snapshot(desk: World) -> list[tuple[object, ...]]:
    with desk.database.reading() as session:
        states = session.exec(select(MemoryStateRow).order_by(MemoryStateRow.pk))
        return [(s.pk, s.status, s.tier, round(s.next_transition_at, 3)) for s in states]


def served(desk: World, question: str) -> list[str]:
    hits = desk.recall(question)
    return ["from the archive" if "archived" in hit.explain else "from the index" for hit in hits]


def fill(desk: World) -> None:
    for number in range(60):
        desk.remember(
            f"memory number {number} of the pool",
            importance=0.3 + 0.01 * number,
            half_life_days=5 + number,
            relay=False,
        )
    desk.relay.drain()


def test_what_is_not_used_fades_leaves_the_index_and_in_the_end_is_deleted(desk: World) -> None:
    desk.remember("checkout pool exhausted", kind="episode", importance=0.6)
    desk.pass_days(10)
    assert desk.memory.decay().counts == {"cold": 1, "batches": 1}
    assert desk.recall("checkout pool exhausted")
    desk.pass_days(50)
    assert desk.memory.decay().counts["archived"] == 1
    assert served(desk, "checkout pool exhausted") == ["from the archive"]
    assert desk.index.count() == 0
    assert desk.memory.page({})["memories"][0]["status"] == "archived"
    desk.pass_days(366)
    assert desk.memory.decay().counts["deleted"] == 1
    with desk.database.reading() as session:
        assert session.exec(select(MemoryRow)).one().text == ""


def test_what_is_told_again_comes_back_from_the_archive(desk: World) -> None:
    id_ = desk.remember("checkout pool exhausted", kind="episode", importance=0.6)
    desk.pass_days(100)
    desk.memory.decay()
    assert served(desk, "checkout pool exhausted") == ["from the archive"]
    assert desk.remember("checkout pool exhausted", kind="episode", importance=0.6) == id_
    assert [hit.id for hit in desk.recall("checkout pool exhausted")] == [id_]
    assert served(desk, "checkout pool exhausted") == ["from the index"]


def test_the_unimportant_and_unused_leave_after_90_days_however_slowly_they_fade(desk: World) -> None:
    desk.remember("the lobby of node-7 is blue", importance=0.4, half_life_days=3650)
    desk.remember("the pager of node-7 is red", importance=0.9, half_life_days=3650)
    desk.pass_days(91)
    desk.memory.decay()
    assert desk.texts("node-7 lobby pager") == ["the pager of node-7 is red"]


def test_an_expired_memory_is_not_recalled_and_deleted_after_its_grace(desk: World) -> None:
    desk.remember("maintenance of node-7 is on", expires_at=desk.now + timedelta(days=1))
    desk.pass_days(2)
    assert desk.recall("maintenance of node-7") == []
    desk.memory.decay()
    assert desk.memory.page({})["total"] == 1
    desk.pass_days(7)
    desk.memory.decay()
    assert desk.memory.page({})["total"] == 0


def test_a_night_is_done_once_and_a_second_run_finds_nothing(desk: World) -> None:
    fill(desk)
    desk.pass_days(20)
    assert desk.memory.decay().ran
    after = snapshot(desk)
    assert not desk.memory.decay().ran
    with desk.database.writing("test") as session:
        session.execute(text("DELETE FROM job_run"))
    again = desk.memory.decay()
    assert (again.ran, again.counts) == (True, {})
    assert snapshot(desk) == after


def test_missed_nights_are_caught_up_in_one(tmp_path: Path) -> None:
    with world(tmp_path / "a") as nightly, world(tmp_path / "b") as once:
        fill(nightly)
        fill(once)
        for _ in range(40):
            nightly.pass_days(1)
            nightly.memory.decay()
        once.pass_days(40)
        once.memory.decay()
        # archived at different times, so only their deletion dates differ
        assert [row[:3] for row in snapshot(nightly)] == [row[:3] for row in snapshot(once)]
        assert nightly.index.count() == once.index.count() < 60


@pytest.mark.parametrize("batches", [1, 2, 3])
def test_a_kill_between_batches_resumes_to_the_same_state(tmp_path: Path, batches: int) -> None:
    def die_at(count: int) -> None:
        if count == batches:
            raise Killed

    with world(tmp_path / "a") as whole, world(tmp_path / "b") as cut:
        for desk in (whole, cut):
            fill(desk)
            desk.pass_days(20)
        Decay(whole.database, "w", batch=7).run(whole.now)
        done: list[int] = []

        def after_batch() -> None:
            done.append(1)
            die_at(len(done))

        with pytest.raises(Killed):
            Decay(cut.database, "w", batch=7).run(cut.now, after_batch=after_batch)
        # the night goes on with its own time, whenever it is taken up again
        resumed = Decay(cut.database, "w", batch=7).run(cut.now.replace(hour=23))
        assert resumed.ran
        assert snapshot(cut) == snapshot(whole)
        assert broken_link(cut.database) is None
        whole.relay.drain()
        cut.relay.drain()
        assert set(cut.index.revisions().values()) == set(whole.index.revisions().values())
        assert cut.drift() == 0


def test_a_second_worker_keeps_out_while_the_first_holds_the_lease(desk: World) -> None:
    fill(desk)
    desk.pass_days(20)
    other = Decay(desk.database, "other-worker", batch=7)
    seen: list[bool] = []
    Decay(desk.database, "first", batch=7).run(
        desk.now, after_batch=lambda: seen.append(other.run(desk.now).ran)
    )
    assert seen
    assert not any(seen)


def test_a_worker_whose_lease_was_taken_writes_nothing_more(desk: World) -> None:
    fill(desk)
    desk.pass_days(20)

    def take_over() -> None:
        with desk.database.writing("test") as session:
            job = session.exec(select(JobRunRow).where(JobRunRow.job == "decay")).one()
            job.holder = "thief"

    night = Decay(desk.database, "first", batch=7).run(desk.now, after_batch=take_over)
    assert night.counts == {}
    with desk.database.reading() as session:
        assert session.exec(select(JobRunRow).where(JobRunRow.job == "decay")).one().state == "running"


def test_rows_that_are_due_are_found_by_index_without_a_sort(desk_on_sqlite: World) -> None:
    desk = desk_on_sqlite
    fill(desk)
    query = (
        "EXPLAIN QUERY PLAN SELECT pk FROM memory_state WHERE status = 'active' AND next_transition_at <= 1 "
        "ORDER BY next_transition_at, pk LIMIT 10"
    )
    with desk.database.reading() as session:
        plan = " ".join(str(row) for row in session.connection().execute(text(query)))
    assert "ix_memory_state_due" in plan
    assert "TEMP B-TREE" not in plan


def test_only_what_leaves_the_index_goes_to_the_relay(desk: World) -> None:
    desk.remember("checkout pool exhausted", kind="episode", importance=0.6)
    desk.pass_days(10)
    desk.decay.run(desk.now)
    with desk.database.reading() as session:
        assert session.exec(select(MemoryOutboxRow)).all() == []


def test_the_next_moment_is_when_the_stage_changes(desk: World) -> None:
    fill(desk)
    with desk.database.reading() as session:
        for state in session.exec(select(MemoryStateRow)):
            fading = fading_of(state)
            due = state.next_transition_at
            assert stage(fading, due - 1).tier == state.tier
            assert stage(fading, due).tier != state.tier


def test_a_missed_night_is_made_up_at_start(desk: World) -> None:
    desk.remember("checkout pool exhausted", kind="episode", importance=0.6)
    desk.memory.decay()
    desk.pass_days(0.5)
    assert not desk.decay.due(desk.now)
    desk.pass_days(60)
    desk.memory.catch_up()
    assert desk.index.count() == 0


def test_others_may_write_between_two_batches(desk: World) -> None:
    fill(desk)
    desk.pass_days(40)
    began = monotonic()
    night = Decay(desk.database, "w", batch=20, rest_seconds=0.1).run(desk.now)
    assert monotonic() - began >= 0.1 * (night.counts["batches"] - 1)
    assert night.counts["batches"] > 2


def test_rates_of_days_that_are_over_go_with_the_night(desk: World) -> None:
    desk.remember("the pool of checkout holds 2", session="s1")
    desk.pass_days(1)
    desk.remember("the pool of checkout holds 3", session="s2")
    desk.pass_days(1)
    desk.memory.decay()
    assert rates(desk) == {"session:s1", "session:s2"}
    desk.pass_days(1)
    desk.memory.decay()
    assert rates(desk) == {"session:s2"}


def rates(desk: World) -> set[str]:
    with desk.database.reading() as session:
        return set(session.exec(select(MemoryRateRow.source)))
