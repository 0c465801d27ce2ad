"""The working memory of runs: written with the run and its parts, shown to agents, gone a day after the end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, update
from sqlmodel import col, select

from agents.runtime.spec import Turn, TurnView
from kernel import working
from kernel.clock import now
from kernel.contracts import Finding, Outcome
from kernel.database import Database
from kernel.ledgers import WorkingRow
from kernel.records import RunRow
from kernel.schema import migrate
from tests.support.little_desk import Desk, make_settings, spec

pytestmark = pytest.mark.integration

TWO = "[{key: look, agent: looker, goal: look}, {key: tell, agent: teller, goal: tell, needs: [look]}]"
TEXT = "Why does service checkout fail on node-7 since 03:00? password=hunter2hunter2"


class Crew:
    """Two agents: one finds something, the other keeps what it was shown."""

    def __init__(self) -> None:
        self.shown: dict[str, Any] = {}

    def look(self, view: TurnView) -> Turn:
        findings = [Finding(title="pool exhausted", score=0.9)]
        return Turn(
            outcome=Outcome(answer="x", findings=findings, facts={"onset": "03:00:02", "big": "y" * 5000})
        )

    def tell(self, view: TurnView) -> Turn:
        self.shown = view.work.working
        return Turn(outcome=Outcome(answer="told"))


@pytest.fixture
def crew() -> Crew:
    return Crew()


@pytest.fixture
async def desk(tmp_path: Path, redis_url: str, crew: Crew) -> AsyncIterator[Desk]:
    settings = make_settings(tmp_path, redis_url, assignments=TWO)
    made = Desk(settings, [spec("looker", crew.look), spec("teller", crew.tell)])
    yield made
    await made.close()


def slots(desk: Desk) -> dict[str, Any]:
    with desk.database.reading() as session:
        return {row.slot: row.value for row in working.held(session, "run-1", now())}


async def test_a_run_keeps_what_was_asked_and_what_its_parts_found(desk: Desk, crew: Crew) -> None:
    await desk.submit("run-1", TEXT, labels={"service": "payments"})
    asked = {
        "what": "Why does service checkout fail on node-7 since 03:00?",
        "where": ["payments", "checkout"],
        "when": ["03:00"],
        "ids": ["node-7"],
    }
    assert slots(desk) == asked
    await desk.settle()
    held = slots(desk)
    assert held["look.onset"] == "03:00:02"
    assert len(held["look.big"]) == working.VALUE_BYTES + 1
    assert crew.shown.items() >= asked.items()  # the second part sees what the first one left
    assert crew.shown["look.onset"] == "03:00:02"
    with desk.database.reading() as session:
        rows = session.exec(select(WorkingRow)).all()
    assert {row.source for row in rows} == {"request", "look"}
    assert "hunter2" not in str([row.value for row in rows])


async def test_it_costs_one_statement_when_a_request_comes(desk: Desk) -> None:
    said: list[str] = []
    event.listen(desk.database.engine, "before_cursor_execute", lambda *given: said.append(given[2]))
    await desk.submit("run-1", TEXT)
    assert sum("INTO working" in statement for statement in said) == 1


async def test_a_request_sent_twice_is_kept_once(desk: Desk) -> None:
    for _ in range(2):
        await desk.submit("run-1", TEXT)
    assert slots(desk)["ids"] == ["node-7"]


async def test_a_part_that_ends_again_leaves_its_latest_words(desk: Desk) -> None:
    await desk.submit("run-1", TEXT)
    for value in ("old", "new"):
        with desk.database.writing("test") as session:
            working.keep(session, "run-1", {value: value, "both": value}, source="look")
            working.keep(session, "run-1", {"both": "kept"}, source="tell")
    assert {slot: value for slot, value in slots(desk).items() if "." in slot} == {
        "look.new": "new",
        "look.both": "new",
        "tell.both": "kept",
    }


async def test_a_refused_request_leaves_nothing(desk: Desk) -> None:
    await desk.submit("run-1", "  ")
    assert slots(desk) == {}


async def test_it_is_gone_a_day_after_the_run_ended_and_not_before(desk: Desk) -> None:
    await desk.submit("run-1", TEXT)
    await desk.submit("run-2", TEXT)
    await desk.settle()
    await desk.reconciler.tick_once()
    assert slots(desk)

    def ended(hours: float) -> None:
        with desk.database.writing("test") as session:
            moment = now() - timedelta(hours=hours)
            session.execute(update(RunRow).where(col(RunRow.id) == "run-1").values(ended_at=moment))

    ended(23.9)
    assert slots(desk)
    ended(24.1)
    assert slots(desk) == {}  # whether it was deleted or not
    desk.reconciler._working_due = 0.0
    await desk.reconciler.tick_once()
    with desk.database.reading() as session:
        assert set(session.exec(select(WorkingRow.run_id)).all()) == {"run-2"}


async def test_an_open_run_keeps_it_however_old_it_is(desk: Desk) -> None:
    await desk.submit("run-1", TEXT)
    with desk.database.reading() as session:
        assert working.expired(session, now() + timedelta(days=30), 10) == []
        assert working.held(session, "run-1", now() + timedelta(days=30))


def test_it_is_kept_and_dropped_in_postgresql_too(postgres_url: str) -> None:
    database = Database(postgres_url)
    migrate(database)
    with database.writing("test") as session:
        session.add(RunRow(id="old", ended_at=now() - timedelta(hours=25)))
        session.add(RunRow(id="new", ended_at=now() - timedelta(hours=23)))
        session.flush()
        for run_id in ("old", "new"):
            working.keep(
                session,
                run_id,
                {"what": "为什么\0 503", "ids": ["node-7"], "none": None},
                source=working.REQUEST,
            )
            working.keep(session, run_id, {"pool": 20}, source="look")
    with database.writing("test") as session:
        over = working.expired(session, now(), 10)
        working.drop(session, over)
    with database.reading() as session:
        assert over == ["old"]
        assert {row.slot: row.value for row in working.held(session, "new", now())} == {
            "what": "为什么\ufffd 503",
            "ids": ["node-7"],
            "none": None,
            "look.pool": 20,
        }
        assert session.exec(select(WorkingRow).where(WorkingRow.run_id == "old")).all() == []
    database.close()
