"""A worker that reaches only some of a part's sources reads those and leaves the rest to others."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from sqlmodel import select

from agents.runtime.spec import Turn, TurnView
from kernel.contracts import Card, Outcome
from kernel.records import AssignmentRow
from tests.support.little_desk import Desk, make_settings, spec

pytestmark = pytest.mark.integration

PLAN = "[{key: look, agent: reader, goal: look}, {key: tell, agent: teller, goal: tell, needs: [look]}]"
NAMES = ["checkout", "payments", "search"]


def say_sources(view: TurnView) -> Turn:
    names = ", ".join(source.name for source in view.work.sources)
    return Turn(outcome=Outcome(answer=f"read {names} to {view.work.goal}"))


@pytest.fixture
async def desk(tmp_path: Path, redis_url: str) -> AsyncIterator[Desk]:
    made = Desk(
        make_settings(tmp_path, redis_url, assignments=PLAN),
        [spec("reader", say_sources), spec("teller", say_sources)],
    )
    await made.redis.flushdb()
    await made.publish_cards()
    await made.cards.publish(
        Card(agent="reader", purpose="p", queue="agents.reader", worker="whole", sources=NAMES)
    )
    yield made
    await made.close()


def rows(desk: Desk) -> dict[str, AssignmentRow]:
    with desk.database.reading() as db:
        return {row.key: row for row in db.exec(select(AssignmentRow)).all()}


async def submit(desk: Desk) -> None:
    await desk.coordinator.submit("run-1", {"text": "look", "sources": [{"name": name} for name in NAMES]})
    while bells := [bell for bell in desk.rung if bell[0] == "coordinator.advance"]:
        desk.rung = [bell for bell in desk.rung if bell not in bells]
        for _, run_id in bells:
            await desk.coordinator.advance(run_id)


async def test_who_reaches_one_of_three_reads_that_and_leaves_the_others(desk: Desk) -> None:
    await submit(desk)
    assert set(rows(desk)) == {"look", "tell"}
    assert rows(desk)["look"].queue == "agents.reader@checkout"
    late, whole = desk.worker("late"), desk.worker("whole")
    late.reached, whole.reached = {"reader": ["checkout"]}, {"reader": NAMES}
    await late.work(rows(desk)["look"].id, lambda _line: None)
    parts = rows(desk)
    assert (parts["look"].outcome or {})["answer"] == "read checkout to look (checkout)"
    rest = parts["look_2"]
    assert (rest.queue, rest.state, rest.goal) == (
        "agents.reader@payments",
        "queued",
        "look (payments, search)",
    )
    assert parts["tell"].state == "pending"

    desk.rung.clear()
    await desk.reconciler.tick_once()  # nobody has rung for it yet
    assert desk.rung.count(("agents.reader.work", rest.id)) == 1
    await desk.settle(whole)
    parts = rows(desk)
    assert (parts["look_2"].outcome or {})["answer"] == "read payments, search to look (payments, search)"
    assert {part.state for part in parts.values()} == {"done"}
    assert set(parts) == {"look", "look_2", "tell"}


async def test_who_reaches_all_or_serves_no_queue_of_a_source_keeps_the_part_whole(desk: Desk) -> None:
    await submit(desk)
    worker = desk.worker("more")
    worker.reached = {"reader": [*NAMES, "another"]}
    await worker.work(rows(desk)["look"].id, lambda _line: None)
    assert set(rows(desk)) == {"look", "tell"}
    assert "read checkout, payments, search" in (rows(desk)["look"].outcome or {})["answer"]
