"""What `show`, `runs` and Flower say of runs that were taken over, handed back, made again or given up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import update

from agents.runtime.approvals import ApprovalPolicy
from agents.runtime.spec import AgentSpec, CallRequest
from agents.runtime.tools import ToolContext, tool
from coordinator.chronicle import chronicle, standing
from coordinator.cli import history
from coordinator.cli.chronicle_view import happened_lines, question_text
from kernel.contracts import Effect
from kernel.records import AssignmentRow, RunRow
from tests.support.little_desk import Desk, make_settings, script, spec

pytestmark = pytest.mark.integration

ONE = "[{key: job, agent: worker, goal: do it}]"
Make = Callable[..., Any]


@pytest.fixture
def desk(tmp_path: Path, redis_url: str) -> Make:
    @asynccontextmanager
    async def make(agent: AgentSpec, **fields: Any) -> AsyncIterator[Desk]:
        made = Desk(make_settings(tmp_path, redis_url, assignments=ONE, **fields), [agent])
        try:
            yield made
        finally:
            await made.close()

    return make


def stuck(effect: Effect) -> tuple[AgentSpec, asyncio.Event, list[bool]]:
    """Return an agent whose one call hangs while the list says so, and what is set once it is inside."""
    inside, hangs = asyncio.Event(), [True]

    @tool(effect=effect, timeout=60)
    async def slow(ctx: ToolContext) -> str:
        """Take long."""
        inside.set()
        if hangs[0]:
            await asyncio.Event().wait()
        return "went through"

    routine = script([CallRequest(tool="slow")], "ok")
    agent = spec("worker", routine, replace(slow, risk="read"), policy=lambda _: ApprovalPolicy())
    return agent, inside, hangs


async def lose(d: Desk, inside: asyncio.Event) -> None:
    """Let worker w1 begin the call and vanish: its lease is over and nobody renews it."""
    await d.submit("run-1")
    await d.coordinator.advance("run-1")
    working = asyncio.create_task(d.workers[0].work("run-1:job", lambda _line: None))
    await asyncio.wait_for(inside.wait(), 30)
    row = d.store.snapshot("run-1").assignments[0]  # type: ignore[union-attr] # it was submitted
    d.workers[0].keeper.release(row.id, row.fence)
    with d.database.writing("test") as db:
        db.execute(update(AssignmentRow).values(lease_until=1.0))
    await d.reconciler.tick_once()
    working.cancel()
    await asyncio.wait([working])


async def test_a_lost_worker_is_named_with_who_took_over_and_what_was_made_again(desk: Make) -> None:
    agent, inside, hangs = stuck(Effect.idempotent)
    async with desk(agent) as d:
        await lose(d, inside)
        hangs[0] = False
        d.rung.clear()
        assert await d.worker("w2").work("run-1:job", lambda _line: None) == "done, taken over (attempt 2)"
        await d.settle()
        with d.database.reading() as db:
            told = chronicle(db, "run-1")
            (row,) = history.recent(db, state=None, limit=5)
            line = standing(db, db.get_one(RunRow, "run-1"))
        lines = happened_lines(told)
        assert lines[0].startswith("job: worker w1 was lost; w2 took over (attempt 2) at 20")
        assert lines[1] == "call job.1.1 slow was made again (attempt 2)"
        assert (row["state"], row["marks"], line) == ("succeeded", ["taken over"], "succeeded, taken over")


async def test_a_call_that_may_have_happened_is_told_with_all_that_is_known(desk: Make) -> None:
    agent, inside, _ = stuck(Effect.probe)
    async with desk(agent) as d:
        await lose(d, inside)
        d.rung.clear()
        line = await d.worker("w2").work("run-1:job", lambda _line: None)
        assert line == "done, taken over (attempt 2), 1 call unknown"
        await d.settle()
        with d.database.reading() as db:
            told = chronicle(db, "run-1")
            (row,) = history.recent(db, state=None, limit=5)
        assert row["marks"] == ["1 unknown", "taken over"]
        text = question_text(told.questions[0])
        for known in ("slow (call job.1.1)", "on w1", "the worker 'w1' died while it was under way"):
            assert known in text
        assert 'nightdesk resolve run-1 job.1.1 not-happened --reason "…"' in text
        await d.decisions.resolve("run-1", "job.1.1", happened=True, by="ann", reason="I looked")
        with d.database.reading() as db:
            answered = chronicle(db, "run-1").questions[0]
            (row,) = history.recent(db, state=None, limit=5)
        assert "ended unknown; ann said at 20" in question_text(answered)
        assert question_text(answered).endswith(": happened: I looked")
        assert row["marks"] == ["taken over"]


async def test_work_that_was_handed_back_names_both_workers(desk: Make) -> None:
    agent, inside, hangs = stuck(Effect.read)
    async with desk(agent, drain_seconds=0.05) as d:
        await d.submit("run-1")
        await d.coordinator.advance("run-1")
        working = asyncio.create_task(d.workers[0].work("run-1:job", lambda _line: None))
        await asyncio.wait_for(inside.wait(), 30)
        await d.workers[0].drain()
        assert await working == "handed back to the queue"
        hangs[0] = False
        assert await d.worker("w2").work("run-1:job", lambda _line: None) == "done"
        assert await d.worker("w3").work("run-1:job", lambda _line: None) == "nothing to do: done"
        with d.database.reading() as db:
            (line, again) = happened_lines(chronicle(db, "run-1"))
        assert line.startswith(
            "job: worker w1 was stopping and handed it back; w2 took over (attempt 1) at 20"
        )
        assert again == "call job.1.1 slow was made again (attempt 2)"


async def test_a_part_that_was_given_up_points_to_its_dead_letter(desk: Make) -> None:
    agent, inside, _ = stuck(Effect.read)
    async with desk(agent, attempt_limit=1) as d:
        await lose(d, inside)
        await d.settle()
        with d.database.reading() as db:
            told = chronicle(db, "run-1")
            (row,) = history.recent(db, state=None, limit=5)
        assert (row["state"], row["marks"]) == ("failed", ["taken over", "dead letter"])
        assert happened_lines(told)[-1].startswith(
            "job: given up (its worker died 1 times; last: w1); dead letter 1"
        )


async def test_another_worker_says_that_it_is_not_its_own(desk: Make) -> None:
    agent, inside, _ = stuck(Effect.read)
    async with desk(agent) as d:
        await d.submit("run-1")
        await d.coordinator.advance("run-1")
        working = asyncio.create_task(d.workers[0].work("run-1:job", lambda _line: None))
        await asyncio.wait_for(inside.wait(), 30)
        assert await d.worker("w2").work("run-1:job", lambda _line: None) == "not ours: another worker has it"
        assert await d.worker("w2").work("run-1:none", lambda _line: None) == "there is no such assignment"
        d.workers[0].stop("run-1", "lost")
        assert await asyncio.wait_for(working, 30) == "lost: another worker has it"
