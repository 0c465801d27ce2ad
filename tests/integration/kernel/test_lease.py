"""Leases on real SQLite: one holder, fences, take-over, renewal that a hogged CPU cannot starve."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from sqlmodel import col, update

from kernel.database import Database
from kernel.errors import LostLease
from kernel.lease import LeaseKeeper, claim, hold, renew
from kernel.records import AssignmentRow, RunRow
from kernel.schema import migrate


@pytest.fixture
def database(tmp_path: Path) -> Database:
    made = Database(f"sqlite:///{tmp_path / 'x.db'}")
    migrate(made)
    with made.writing("test") as session:
        session.add(RunRow(id="r"))
        session.add(AssignmentRow(id="a", run_id="r", key="k", agent="x", queue="q", state="queued"))
    return made


def test_one_of_many_gets_it(database: Database) -> None:
    got: list[str] = []

    def take(name: str) -> None:
        if claim(database, "a", worker=name, seconds=60) is not None:
            got.append(name)

    threads = [threading.Thread(target=take, args=(str(n),)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 1


def test_an_old_fence_writes_nothing(database: Database) -> None:
    first = claim(database, "a", worker="w1", seconds=0)
    second = claim(database, "a", worker="w2", seconds=60)
    assert first is not None
    assert second is not None
    assert (second.fence, second.attempts) == (first.fence + 1, 1)
    with pytest.raises(LostLease), database.writing("test") as session:
        hold(session, "a", first.fence)
    with database.writing("test") as session:
        assert hold(session, "a", second.fence).worker == "w2"


def test_a_held_lease_is_not_taken(database: Database) -> None:
    assert claim(database, "a", worker="w1", seconds=60) is not None
    assert claim(database, "a", worker="w2", seconds=60) is None


def test_renewal_says_what_was_lost_or_stopped(database: Database) -> None:
    row = claim(database, "a", worker="w1", seconds=60)
    assert row is not None
    assert renew(database, {"a": row.fence}, seconds=60) == {}
    assert renew(database, {"a": row.fence - 1}, seconds=60) == {"a": "lost"}
    with database.writing("test") as session:
        session.execute(update(RunRow).where(col(RunRow.id) == "r").values(stop="cancelled"))
    assert renew(database, {"a": row.fence}, seconds=60) == {"a": "cancelled"}


def test_the_keeper_renews_while_the_main_thread_hogs_the_cpu(database: Database) -> None:
    row = claim(database, "a", worker="w1", seconds=1.5)
    assert row is not None
    keeper = LeaseKeeper(database, seconds=1.5)
    cuts: list[str] = []
    keeper.keep("a", row.fence, cuts.append)
    import time

    end = time.monotonic() + 2.1
    while time.monotonic() < end:  # longer than the lease, without giving the CPU away
        sum(range(1000))
    assert claim(database, "a", worker="w2", seconds=60) is None
    keeper.release("a", row.fence)
    assert cuts == []
