"""Cuts of an assignment at awkward moments: twice, before it began, while it is claimed, while it commits."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from agents.runtime import progress
from agents.runtime.spec import AgentSpec, CallRequest
from agents.runtime.tools import Reconciled, ToolContext, tool
from kernel import faults
from kernel.contracts import Effect
from kernel.errors import Retryable
from kernel.ledgers import QuestionRow
from kernel.records import ApprovalRow, AssignmentRow, CallRow
from tests.support.little_desk import Desk, counter, make_settings, script, spec
from tests.support.redis_server import redis_server

pytestmark = pytest.mark.integration

ONE = "[{key: job, agent: worker, goal: do it}]"
Make = Callable[..., Any]


@pytest.fixture
def desk(tmp_path: Path, redis_url: str) -> Make:
    @asynccontextmanager
    async def make(*agents: AgentSpec, **fields: Any) -> AsyncIterator[Desk]:
        made = Desk(make_settings(tmp_path, redis_url, assignments=ONE, **fields), list(agents))
        try:
            yield made
        finally:
            await made.close()

    return make


@pytest.fixture(autouse=True)
def _disarmed() -> Any:
    yield
    faults.arm(None)


def part(desk: Desk) -> AssignmentRow:
    with desk.database.reading() as session:
        return session.exec(select(AssignmentRow)).one()


def call(desk: Desk) -> CallRow:
    with desk.database.reading() as session:
        return session.exec(select(CallRow)).one()


async def queued(desk: Desk) -> None:
    await desk.submit("run-1")
    await desk.coordinator.advance("run-1")


async def test_a_second_cut_does_not_break_the_look_at_what_the_first_one_stopped(desk: Make) -> None:
    """The nudge comes first, then the renewal of the lease finds the stop too."""
    inside, looking, seen = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def look(ctx: ToolContext, arguments: dict[str, Any]) -> Reconciled:
        looking.set()
        await seen.wait()
        return Reconciled(happened=True, value={"state": "done"})

    @tool(effect=Effect.probe, timeout=60)
    async def change(ctx: ToolContext) -> str:
        """Change the world, then hang."""
        inside.set()
        await asyncio.Event().wait()
        return ""

    agent = spec("worker", script([CallRequest(tool="change")], "ok"), replace(change, reconcile=look))
    async with desk(agent, lease_seconds=60) as d:
        await queued(d)
        working = asyncio.create_task(d.workers[0].work("run-1:job", lambda _line: None))
        await asyncio.wait_for(inside.wait(), 30)
        await d.decisions.cancel("run-1", by="ann")
        d.workers[0].stop("run-1", "cancelled")
        await asyncio.wait_for(looking.wait(), 30)
        d.workers[0].stop("run-1", "cancelled")
        await asyncio.sleep(0)
        seen.set()
        assert "cancelled by ann" in await asyncio.wait_for(working, 30)
        assert (part(d).state, call(d).state) == ("cancelled", "done")
        with d.database.reading() as session:
            assert session.exec(select(QuestionRow)).all() == []


async def test_stop_said_without_pause_is_no_bug(desk: Make, tmp_path: Path) -> None:
    """From the moment on that the worker has it: also while it still reads what to do."""
    agent = spec("worker", script([CallRequest(tool="count")], "ok"), counter(tmp_path))
    async with desk(agent) as d:
        await queued(d)
        working = asyncio.create_task(d.workers[0].work("run-1:job", lambda _line: None))
        while not working.done():
            d.workers[0].stop("run-1", "cancelled")
            await asyncio.sleep(0)
        assert working.result() == "cancelled"
        assert part(d).state == "cancelled"


async def test_what_is_claimed_while_the_drain_begins_goes_back_at_once(desk: Make, tmp_path: Path) -> None:
    agent = spec("worker", script([CallRequest(tool="count")], "ok"), counter(tmp_path))
    async with desk(agent) as d:
        await queued(d)
        draining = iter([False])
        d.workers[0].draining = lambda: next(draining, True)
        assert await d.workers[0].work("run-1:job", lambda _line: None) == "handed back to the queue"
        assert part(d).state == "queued"
        assert not (tmp_path / "world.txt").exists()


async def test_a_cut_waits_for_the_commit_that_is_under_way(desk: Make, tmp_path: Path) -> None:
    """The end of a call is being committed when the stop comes: it is done, and nobody asks about it."""
    loop, committing = asyncio.get_running_loop(), asyncio.Event()
    stopped = asyncio.Event()

    def strike(label: str) -> None:
        if label == "journal.end:before" and not committing.is_set():
            loop.call_soon_threadsafe(committing.set)
            asyncio.run_coroutine_threadsafe(stopped.wait(), loop).result(30)

    agent = spec("worker", script([CallRequest(tool="count")], "ok"), counter(tmp_path, effect=Effect.probe))
    async with desk(agent) as d:
        await queued(d)
        faults.arm(strike)
        working = asyncio.create_task(d.workers[0].work("run-1:job", lambda _line: None))
        await asyncio.wait_for(committing.wait(), 30)
        d.workers[0].stop("run-1", "cancelled")
        await asyncio.sleep(0.05)
        stopped.set()
        assert await asyncio.wait_for(working, 30) == "cancelled"
        assert (part(d).state, call(d).state) == ("cancelled", "done")
        with d.database.reading() as session:
            assert session.exec(select(QuestionRow)).all() == []


async def test_a_part_cut_before_it_knew_its_work_keeps_the_effects_of_the_worker_it_followed(
    desk: Make, tmp_path: Path
) -> None:
    inside = asyncio.Event()

    @tool(effect=Effect.probe, timeout=60)
    async def change(ctx: ToolContext) -> str:
        """Change the world, then hang."""
        inside.set()
        await asyncio.Event().wait()
        return ""

    agent = spec("worker", script([CallRequest(tool="change")], "ok"), change)
    async with desk(agent, lease_seconds=60) as d:
        await queued(d)
        lost = asyncio.create_task(d.workers[0].work("run-1:job", lambda _line: None))
        await asyncio.wait_for(inside.wait(), 30)
        with d.database.writing("test") as session:
            row = session.exec(select(AssignmentRow)).one()
            row.lease_until = 1.0
            session.add(row)
        await d.reconciler.tick_once()
        second = d.worker("w2")
        await d.decisions.cancel("run-1", by="ann")
        working = asyncio.create_task(second.work("run-1:job", lambda _line: None))
        while not working.done():
            second.stop("run-1", "cancelled")
            await asyncio.sleep(0)
        await d.coordinator.advance("run-1")
        report = d.report("run-1")
        assert report.state == "cancelled"
        assert [(action.name, action.state) for action in report.actions] == [("change", "unknown")]
        with d.database.reading() as session:
            assert len(session.exec(select(QuestionRow)).all()) == 1
        d.workers[0].stop("run-1", "lost")
        await asyncio.wait_for(lost, 30)


@pytest.mark.parametrize(("happened", "state"), [(True, "done"), (None, "unknown")])
async def test_an_agent_without_words_for_its_effects_reports_them_all_the_same(
    desk: Make, happened: bool | None, state: str
) -> None:
    @tool(effect=Effect.probe, timeout=0.05 if happened is None else 60)
    async def change(ctx: ToolContext) -> str:
        """Change the world."""
        if happened is None:
            await asyncio.Event().wait()
        return "changed"

    agent = spec("worker", script([CallRequest(tool="change")], "ok"), change)
    async with desk(agent) as d:
        await d.submit("run-1")
        await d.settle()
        report = d.report("run-1")
        assert [(action.name, action.state) for action in report.actions] == [("change", state)]
        assert ("change" in [note.what for note in report.not_done]) is (happened is None)


async def test_nobody_is_asked_to_approve_a_call_of_a_part_that_has_ended(desk: Make, tmp_path: Path) -> None:
    inside = asyncio.Event()

    @tool(timeout=60)
    async def endless(ctx: ToolContext) -> str:
        """Hang."""
        inside.set()
        await asyncio.Event().wait()
        return ""

    both = [CallRequest(tool="risky"), CallRequest(tool="endless")]
    risky = counter(tmp_path, name="risky", risk="high")
    async with desk(spec("worker", script(both, "ok"), risky, endless)) as d:
        await queued(d)
        working = asyncio.create_task(d.workers[0].work("run-1:job", lambda _line: None))
        await asyncio.wait_for(inside.wait(), 30)

        def asked() -> list[ApprovalRow]:
            with d.database.reading() as session:
                return list(session.exec(select(ApprovalRow)).all())

        while not await asyncio.to_thread(asked):
            await asyncio.sleep(0)
        await d.decisions.cancel("run-1", by="ann")
        d.workers[0].stop("run-1", "cancelled")
        await asyncio.wait_for(working, 30)
        assert [(row.state, row.reason) for row in asked()] == [("expired", "cancelled by ann")]


async def test_a_lease_is_renewed_while_a_redis_that_hangs_is_told_of_the_claim(tmp_path: Path) -> None:
    with redis_server(tmp_path / "redis") as server:
        settings = make_settings(tmp_path, server.url, assignments=ONE, lease_seconds=0.6)
        d = Desk(settings, [spec("worker", script("ok"))])
        try:
            await queued(d)
            os.kill(server.pid, signal.SIGSTOP)
            try:
                working = asyncio.create_task(d.workers[0].work("run-1:job", lambda _line: None))
                held: set[float] = set()
                async with asyncio.timeout(60):
                    while len(held - {0.0}) < 3:
                        held.add((await asyncio.to_thread(part, d)).lease_until)
            finally:
                os.kill(server.pid, signal.SIGCONT)
            assert await asyncio.wait_for(working, 30) == "done"
        finally:
            await d.close()


async def test_a_database_that_is_away_for_a_moment_makes_no_call_unknown(desk: Make, tmp_path: Path) -> None:
    away = iter(["journal.end:before", "journal.end:after"])
    expected = [next(away)]

    def strike(label: str) -> None:
        if label in expected:
            expected[:] = [next(away, "")]
            raise Retryable("the database did not answer", why="it restarts")

    agent = spec("worker", script([CallRequest(tool="count")], "ok"), counter(tmp_path, effect=Effect.probe))
    async with desk(agent) as d:
        await queued(d)
        faults.arm(strike)
        assert await d.workers[0].work("run-1:job", lambda _line: None) == "done"
        assert expected == [""]
        assert call(d).state == "done"
        ends = [event for event in await d.events.read("run-1") if event.event.type == "tool_call_result"]
        assert len(ends) == 1


async def test_a_call_that_takes_long_is_seen_on_its_way(desk: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The call goes on until a reader of the run's stream has seen how far it is; SQL keeps none of it."""
    monkeypatch.setattr(progress, "_PACE", 0.05)
    seen = threading.Event()

    @tool(timeout=60)
    def read_much(ctx: ToolContext) -> str:
        """Read much."""
        while not seen.wait(0.01):
            ctx.progress("app.log", 400, 1000)
        return "read"

    async with desk(spec("worker", script([CallRequest(tool="read_much")], "ok"), read_much)) as d:
        await queued(d)
        working = asyncio.create_task(d.workers[0].work("run-1:job", lambda _line: None))
        told: list[Any] = []
        while not told:
            told = [e for e in await d.events.read("run-1") if e.event.type == "tool_call_progress"]
            await asyncio.sleep(0.01)
        seen.set()
        assert await asyncio.wait_for(working, 30) == "done"
        event = told[0].event
        assert (event.what, event.done, event.total, event.tool) == ("app.log", 400, 1000, "read_much")
        assert "-" in told[0].id
        assert not told[0].id.endswith("-0")  # an id of its own behind the last event that SQL has
        await d.events.relay("run-1")
        kinds = [e.event.type for e in await d.events.read("run-1", told[-1].id)]
        assert "tool_call_result" in kinds
