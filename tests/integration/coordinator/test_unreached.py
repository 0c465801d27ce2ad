"""Named sources in the rows: each part on the queue of who reaches it, and an end with a reason where nobody is left."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from agents.runtime.spec import Turn, TurnView
from coordinator.planner import AGENT_GRACE
from kernel.clock import now
from kernel.contracts import Card, Outcome
from kernel.records import AssignmentRow, RunRow
from tests.support.little_desk import Desk, make_settings, spec

pytestmark = pytest.mark.integration

PLAN = "[{key: look, agent: reader, goal: look}, {key: tell, agent: teller, goal: tell, needs: [look]}]"


def say_sources(view: TurnView) -> Turn:
    names = ", ".join(source.name for source in view.work.sources)
    return Turn(outcome=Outcome(answer=f"{view.work.agent} read {names}; {view.work.inputs}"))


@pytest.fixture
async def desk(tmp_path: Path, redis_url: str) -> AsyncIterator[Desk]:
    settings = make_settings(tmp_path, redis_url, assignments=PLAN)
    made = Desk(settings, [spec("reader", say_sources), spec("teller", say_sources)])
    await made.redis.flushdb()
    await made.publish_cards()
    made.reconciler.unreached.grace = timedelta(0)
    yield made
    await made.close()


def reader(worker: str, *names: str) -> Card:
    queues = [f"agents.reader@{name}" for name in names]
    return Card(
        agent="reader", purpose="p", queue="agents.reader", worker=worker, sources=[*names], queues=queues
    )


async def advance(desk: Desk) -> None:
    """Answer the bells of the coordinator, and none of a worker."""
    while bells := [bell for bell in desk.rung if bell[0] == "coordinator.advance"]:
        desk.rung = [bell for bell in desk.rung if bell not in bells]
        for _, run_id in bells:
            await desk.coordinator.advance(run_id)


def rows(desk: Desk) -> dict[str, AssignmentRow]:
    with desk.database.reading() as db:
        return {row.key: row for row in db.exec(select(AssignmentRow)).all()}


def age(desk: Desk, run_id: str) -> None:
    with desk.database.writing("test.age") as db:
        db.get_one(RunRow, run_id).created_at = now() - AGENT_GRACE


async def submit(desk: Desk, **kwargs: Any) -> None:
    await desk.coordinator.submit("run-1", {"text": "look", **kwargs})
    await advance(desk)


async def test_each_part_is_queued_with_who_reaches_it_and_told_only_its_own(desk: Desk) -> None:
    await desk.cards.publish(reader("w2", "checkout"))
    await desk.cards.publish(reader("w3", "payments"))
    await submit(desk, sources=["checkout", "payments", "/var/log/app.log"])
    queues = {key: row.queue for key, row in rows(desk).items()}
    assert queues == {
        "look": "agents.reader@checkout",
        "look_2": "agents.reader@payments",
        "look_3": "agents.reader",
        "tell": "agents.teller",
    }
    await desk.settle()
    answers = desk.report("run-1").answer.split("\n\n")
    assert answers[:3] == [
        "reader read checkout; {}",
        "reader read payments; {}",
        "reader read /var/log/app.log; {}",
    ]
    assert answers[3].startswith("teller read checkout, payments")


async def test_what_the_text_mentions_is_read_and_the_session_goes_on_with_it(desk: Desk) -> None:
    await desk.cards.publish(reader("w2", "checkout"))
    await submit(desk, text="look at checkout", session_id="s")
    await desk.settle()
    assert "mentions it: checkout" in desk.report("run-1").answer
    await desk.coordinator.submit("run-2", {"text": "and before that?", "session_id": "s"})
    await advance(desk)
    await desk.settle()
    assert "reader read checkout" in desk.report("run-2").answer


async def test_work_whose_last_worker_has_gone_ends_with_the_name_of_its_source(desk: Desk) -> None:
    card = reader("w2", "checkout")
    await desk.cards.publish(card)
    await desk.cards.publish(reader("w3", "payments"))
    await submit(desk, sources=["checkout", "payments"])
    await desk.reconciler.tick_once()
    assert {row.state for row in rows(desk).values()} == {"queued", "pending"}
    await desk.cards.withdraw(card)
    await desk.reconciler.tick_once()
    found = rows(desk)
    assert found["look"].state == "failed"
    assert found["look"].reason == "no live worker reaches 'checkout'; live workers reach: payments"
    assert found["look_2"].state == "queued"
    await desk.settle()
    report = desk.report("run-1")
    # the other part is enough for what needed them
    assert {a.key: a.state for a in report.assignments} == {
        "look": "failed",
        "look_2": "done",
        "tell": "done",
    }
    assert any("'checkout'" in note.why for note in report.not_done)


async def test_a_short_absence_ends_nothing(desk: Desk) -> None:
    desk.reconciler.unreached.grace = timedelta(hours=1)
    card = reader("w2", "checkout")
    await desk.cards.publish(card)
    await submit(desk, sources=["checkout"])
    await desk.cards.withdraw(card)
    await desk.reconciler.tick_once()
    desk.reconciler.unreached.grace = timedelta(0)
    await desk.cards.publish(reader("w4", "checkout"))
    await desk.reconciler.tick_once()
    assert rows(desk)["look"].state == "queued"


async def test_an_unknown_name_is_waited_for_and_then_said(desk: Desk) -> None:
    await desk.cards.publish(reader("w3", "payments"))
    await submit(desk, sources=[{"name": "checkout"}])
    assert rows(desk) == {}
    age(desk, "run-1")
    await desk.coordinator.advance("run-1")
    await advance(desk)
    await desk.settle()
    report = desk.report("run-1")
    assert report.state == "failed"
    assert "no live worker reaches 'checkout'" in report.reason
