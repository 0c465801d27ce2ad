"""Submit and advance where a process dies, or is doubled, between two of their steps."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from agents.runtime.spec import CallRequest
from kernel import faults
from kernel.lease import claim
from tests.support.little_desk import Desk, counter, make_settings, script, spec

pytestmark = pytest.mark.integration

ONE = "[{key: job, agent: worker, goal: do it}]"


@pytest.fixture(autouse=True)
def _disarmed() -> Any:
    yield
    faults.arm(None)


@asynccontextmanager
async def little(folder: Path, redis_url: str, assignments: str = ONE) -> AsyncIterator[Desk]:
    agent = spec("worker", script([CallRequest(tool="count")], "counted"), counter(folder))
    desk = Desk(make_settings(folder, redis_url, assignments=assignments), [agent])
    try:
        yield desk
    finally:
        await desk.close()


def die_at(*labels: str) -> None:
    def strike(label: str) -> None:
        if label in labels:
            raise faults.InjectedFault(label)

    faults.arm(strike)


async def test_a_refused_request_is_not_worked_on_though_its_refusal_was_cut(
    tmp_path: Path, redis_url: str
) -> None:
    async with little(tmp_path, redis_url) as d:
        die_at("run.insert:after")
        with pytest.raises(faults.InjectedFault):
            await d.submit("run-1", "do it", deadline_seconds=-1)
        faults.arm(None)
        await d.reconciler.tick_once()
        await d.settle()
        report = d.report("run-1")
        assert (report.state, report.assignments) == ("failed", [])
        assert "deadline_seconds" in report.reason
        assert not (tmp_path / "world.txt").exists()
        # the message comes again, since nobody acknowledged it
        await d.submit("run-1", "do it", deadline_seconds=-1)
        await d.settle()
        assert d.report("run-1") == report


async def test_a_wrong_request_under_the_id_of_a_run_ends_no_run(tmp_path: Path, redis_url: str) -> None:
    async with little(tmp_path, redis_url) as d:
        await d.submit("run-1")
        await d.submit("run-1", "")
        await d.settle()
        assert (d.report("run-1").state, d.report("run-1").answer) == ("succeeded", "counted")


async def test_a_slow_word_about_the_state_does_not_stand_over_the_report(
    tmp_path: Path, redis_url: str
) -> None:
    """One coordinator shows `working` while another one ends the run: whoever waits for the report gets it."""
    async with little(tmp_path, redis_url) as d:
        await d.submit("run-1")
        loop, backend = asyncio.get_running_loop(), cast("Any", d.celery.backend)
        key = backend.get_key_for_task("run-1")

        def strike(label: str) -> None:
            if label == "results.state:after":
                faults.arm(None)
                late = backend.get(key)
                asyncio.run_coroutine_threadsafe(d.settle(), loop).result(30)
                assert d.report("run-1").state == "succeeded"
                backend.set(key, late)  # celery looks before it writes, and wrote now

        faults.arm(strike)
        await d.coordinator.advance("run-1")
        result = await asyncio.to_thread(d.celery.AsyncResult("run-1").get, timeout=30)
        assert result["answer"] == "counted"


async def test_a_part_whose_turn_has_come_begins_though_the_bell_was_lost_and_a_sibling_still_runs(
    tmp_path: Path, redis_url: str
) -> None:
    three = """[
      {key: first, agent: worker, goal: one},
      {key: long, agent: worker, goal: two},
      {key: after, agent: worker, goal: three, needs: [first]},
    ]"""
    async with little(tmp_path, redis_url, three) as d:
        await d.submit("run-1")
        await d.coordinator.advance("run-1")
        assert claim(d.database, "run-1:long", worker="elsewhere", seconds=60) is not None
        await d.workers[0].work("run-1:first", lambda _line: None)
        d.rung.clear()  # the worker died before it rang
        await d.reconciler.tick_once()
        assert ("coordinator.advance", "run-1") in d.rung
