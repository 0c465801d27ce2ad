"""A planner that thinks: its run is held meanwhile, a stop cuts the thought, and a dead one is no silence for long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from kernel.clock import monotonic
from kernel.model.port import ModelReply, ModelRequest, OnText
from tests.support.little_desk import Desk, make_settings, script, spec
from tests.support.promptness import quickest_of

pytestmark = pytest.mark.integration

ONE = "[{key: job, agent: worker, goal: do it}]"


class Thinker:
    """A model that thinks until it is cut."""

    name = "thinker"

    def __init__(self) -> None:
        self.began, self.cut = asyncio.Event(), asyncio.Event()

    async def reply(self, _request: ModelRequest, _on_text: OnText) -> ModelReply:
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.cut.set()
        return ModelReply()

    async def close(self) -> None:
        """Nothing to close."""


@pytest.fixture
async def desk(tmp_path: Path, redis_url: str) -> AsyncIterator[Desk]:
    settings = make_settings(tmp_path, redis_url, assignments=ONE, priority=0, lease_seconds=0.4)
    made = Desk(settings, [spec("worker", script("ok"))])
    yield made
    await made.close()


async def test_a_stop_cuts_the_thought_of_the_planner(desk: Desk) -> None:
    runs = iter(range(9))

    async def cut() -> float:
        run_id = f"run-{next(runs)}"
        thinker = desk.coordinator.planner.model = Thinker()
        await desk.submit(run_id)
        planning = asyncio.create_task(desk.coordinator.advance(run_id))
        await thinker.began.wait()
        said = monotonic()
        await desk.decisions.cancel(run_id, by="ann")
        await asyncio.wait_for(thinker.cut.wait(), 30)
        took = monotonic() - said
        await planning
        assert desk.report(run_id).state == "cancelled"
        return took

    await quickest_of(cut, within=1.0)


async def test_a_run_whose_planner_died_is_planned_again_after_the_lease(desk: Desk) -> None:
    thinker = desk.coordinator.planner.model = Thinker()
    await desk.submit("run-1")
    planning = asyncio.create_task(desk.coordinator.advance("run-1"))
    await thinker.began.wait()
    desk.rung.clear()
    await desk.reconciler.tick_once()
    assert desk.rung == []  # it is being thought about
    planning.cancel()
    await asyncio.wait({planning})
    desk.coordinator.planner.model = None
    while not desk.rung:
        await desk.reconciler.tick_once()
    await desk.settle()
    assert desk.report("run-1").state == "succeeded"
