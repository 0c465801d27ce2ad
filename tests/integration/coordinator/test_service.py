"""Submit and advance where a process dies, or is doubled, between two of their steps."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agents.runtime.spec import CallRequest
from kernel import faults
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
