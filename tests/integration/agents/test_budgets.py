"""Budgets of whole runs: a scripted provider in its own process counts the requests, real workers are killed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from agents.runtime.spec import CallRequest, Turn, TurnView
from agents.runtime.tools import ToolContext, tool
from kernel.contracts import Evidence, Finding, Outcome
from kernel.ledgers import SpendRow
from kernel.records import AssignmentRow
from kernel.spending import EPOCH
from kernel.states import RUN_ENDED
from tests.support.budget_worker import BudgetWorkers, budget_desk
from tests.support.little_desk import Desk, counter, make_settings, script, spec
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.integration

ONE = "[{key: job, agent: worker, goal: do it}]"
AGAIN = {"text": "on it", "calls": [{"tool": "count", "arguments": {"what": "again"}}], "times": 0}
Make = Callable[..., Any]


@pytest.fixture
def desk(tmp_path: Path, redis_url: str) -> Make:
    @asynccontextmanager
    async def make(
        *agents: Any, steps: list[dict[str, Any]], assignments: str = ONE, plans: bool = False, **fields: Any
    ) -> AsyncIterator[tuple[Desk, ModelServer]]:
        with ModelServer(steps) as server:
            settings = make_settings(
                tmp_path,
                redis_url,
                assignments=assignments,
                model_base_url=server.url,
                model_name="scripted",
                **fields,
            )
            made = budget_desk(settings, *agents, plans=plans)
            try:
                yield made, server
            finally:
                if made.model is not None:
                    await made.model.close()
                await made.close()

    return make


def call(tool_name: str, **arguments: Any) -> dict[str, Any]:
    return {"text": "looking", "calls": [{"tool": tool_name, "arguments": arguments}]}


def spends(desk: Desk) -> list[SpendRow]:
    with desk.database.reading() as session:
        return [row for row in session.exec(select(SpendRow)) if row.key != EPOCH]


def world(folder: Path) -> list[str]:
    path = folder / "world.txt"
    return [line.split()[0] for line in path.read_text().splitlines()] if path.exists() else []


async def test_symptom_19_a_budget_error_is_not_retried_and_recovery_counts_no_call_twice(
    desk: Make, tmp_path: Path
) -> None:
    """Cap of 3 model calls, kill -9 during call 2, resume: ends as over budget, 3 counted, no 4th is sent."""
    hangs = {"text": "a word that never ends " * 100, "delay": 5}
    steps = [call("count", what="first"), hangs, {**call("count", what="second"), "times": 0}]
    limits = {"run_budget": {"model_calls": 3}, "lease_seconds": 2.0}
    async with desk(steps=steps, **limits) as (d, server):
        with BudgetWorkers(d.settings) as workers:
            workers.start()
            await d.submit("run-1")
            await d.coordinator.advance("run-1")
            d.rung.clear()
            await server.until(lambda: len(server.requests) == 2, 60)
            workers.kill(workers.running[0])
        await _taken_back(d)
        await d.settle()
        report = d.report("run-1")
        assert (report.state, report.reason) == ("failed", "budget: 3 of 3 model calls of this run are spent")
        assert len(server.requests) == 3
        assert sum(row.model_calls for row in spends(d)) == 3
        assert sorted(row.settled for row in spends(d)) == [False, True, True]
        # with what it has, and each call made once
        assert world(tmp_path) == ["first", "second"]
        assert report.answer == "looking"
        assert (report.usage.turns, report.usage.calls) == (2, 2)
        for _ in range(3):  # nobody tries again
            await d.reconciler.tick_once()
            await d.settle()
        assert len(server.requests) == 3
        assert d.report("run-1") == report


async def _taken_back(d: Desk) -> None:
    """Tick the reconciler until the lost lease is queued again."""
    async with asyncio.timeout(30):
        while "run-1:job" not in [subject for _, subject in d.rung]:
            await d.reconciler.tick_once()
            await asyncio.sleep(0.1)


async def test_twenty_workers_and_a_cap_of_fifty_model_calls_also_with_kills(desk: Make) -> None:
    """Four processes of five assignments each; two are killed at work, and two start anew."""
    limits = {
        "day_budget": {"model_calls": 50},
        "namespace_budget": {"model_calls": 50},
        "lease_seconds": 4.0,
        "attempt_limit": 20,  # a crowded machine may lose a lease by itself
    }
    async with desk(steps=[{**AGAIN, "delay": 0.05}], **limits) as (d, server):
        for number in range(24):
            await d.submit(f"run-{number}")
            await d.coordinator.advance(f"run-{number}")
        with BudgetWorkers(d.settings, at_once=5) as workers:
            workers.start(4)
            for seen in (12, 24):
                await server.until(lambda seen=seen: len(server.requests) >= seen, 90)
                workers.kill(workers.running[0])
                workers.start()
            async with asyncio.timeout(120):
                while not await _all_ended(d, 24):
                    await asyncio.sleep(0.3)
        reports = [d.report(f"run-{number}") for number in range(24)]
        over = [report for report in reports if report.state == "failed"]
        assert len(server.requests) <= 50
        # one that was killed before it asked Redis is counted in SQL all the same: never too few
        assert 50 <= sum(row.model_calls for row in spends(d)) <= 60
        assert len(server.requests) >= 50 - 10
        assert over
        assert {report.reason.partition(" model calls of")[0] for report in over} == {"budget: 50 of 50"}


async def _all_ended(d: Desk, count: int) -> bool:
    await d.reconciler.tick_once()
    for number in range(count):
        if d.run(f"run-{number}").state not in RUN_ENDED:
            await d.coordinator.advance(f"run-{number}")
    return all(d.run(f"run-{number}").state in RUN_ENDED for number in range(count))


async def test_a_spent_budget_cuts_the_other_parts_of_the_run(desk: Make, tmp_path: Path) -> None:
    napping = asyncio.Event()

    @tool(timeout=60)
    async def nap(ctx: ToolContext) -> str:
        """Sleep for ever."""
        napping.set()
        await asyncio.Event().wait()
        return "never"

    @tool(timeout=60)
    async def wake(ctx: ToolContext) -> str:
        """Wait until the other one sleeps."""
        await napping.wait()
        return "it sleeps"

    steps = [
        {**call("nap"), "anywhere": "goal b"},
        {**call("wake"), "anywhere": "goal a", "times": 0},
    ]
    three = (
        "[{key: a, agent: worker, goal: goal a}, {key: b, agent: worker, goal: goal b},"
        " {key: c, agent: worker, goal: goal c, needs: [b]}]"
    )
    agent = spec("worker", script("by rule"), nap, wake)
    limits = {"run_budget": {"model_calls": 2}, "lease_seconds": 0.6}
    async with desk(agent, steps=steps, assignments=three, **limits) as (d, server):
        await d.submit("run-1")
        await d.coordinator.advance("run-1")
        d.rung.clear()
        other = d.worker("w2")  # hears of it when it renews its lease
        async with asyncio.timeout(30):
            await asyncio.gather(
                d.workers[0].work("run-1:a", lambda _line: None), other.work("run-1:b", lambda _line: None)
            )
        await d.settle()
        report = d.report("run-1")
        words = "budget: 2 of 2 model calls of this run are spent"
        assert (report.state, report.reason) == ("failed", words)
        assert [(a.key, a.state, a.reason) for a in report.assignments] == [
            ("a", "failed", words),
            ("b", "cancelled", words),
            ("c", "cancelled", words),
        ]
        assert len(server.requests) == 2


async def test_the_planner_spends_of_the_run_too(desk: Make) -> None:
    async with desk(
        steps=[{"text": "{}", "times": 0}], plans=True, priority=0, run_budget={"model_calls": 1}
    ) as (
        d,
        server,
    ):
        await d.submit("run-1")
        await d.settle()
        report = d.report("run-1")
        # its first plan was invalid, and it may not ask for a second one
        assert (report.state, report.reason) == ("failed", "budget: 1 of 1 model calls of this run are spent")
        assert len(server.requests) == 1
        assert [(row.run_id, row.assignment_id) for row in spends(d)] == [("run-1", "")]


async def test_tool_calls_count_where_a_run_limits_them(desk: Make, tmp_path: Path) -> None:
    two = [CallRequest(tool="count", arguments={"what": name}) for name in ("a", "b")]
    agent = spec("worker", script(two[:1], two[1:], "done"), counter(tmp_path))
    async with desk(agent, steps=[], run_budget={"tool_calls": 1}) as (d, _):
        await d.submit("run-1", brain="routine")
        await d.settle()
        report = d.report("run-1")
        assert (report.state, report.reason) == ("failed", "budget: 1 of 1 tool calls of this run are spent")
        assert world(tmp_path) == ["a"]
        assert [(row.key, row.settled) for row in spends(d)] == [("run-1:job.1.1", True)]


async def test_a_spent_budget_ends_a_run_with_what_was_found(desk: Make, tmp_path: Path) -> None:
    def routine(view: TurnView) -> Turn:
        """Look twice, then answer: told to stop, it answers with what it has."""
        seen = view.calls("count")
        if view.tools and len(seen) < 2:
            return Turn(calls=[CallRequest(tool="count", arguments={"what": str(len(seen))})])
        found = Finding(
            title="seen " + "again " * len(seen), evidence=[Evidence(source="a.log", line=1, quote="boom")]
        )
        return Turn(outcome=Outcome(answer="found it", findings=[found]))

    async def read_line(_context: ToolContext, _source: str, _line: int) -> str:
        return "boom"

    agent = spec("worker", routine, counter(tmp_path), read_line=read_line)
    async with desk(agent, steps=[], run_budget={"tool_calls": 1}) as (d, _):
        await d.submit("run-1", brain="routine")
        await d.settle()
        report = d.report("run-1")
        assert (report.state, report.reason.partition(":")[0]) == ("failed", "budget")
        assert ([f.title for f in report.findings], report.answer) == (["seen again again "], "found it")


async def test_seconds_of_work_are_counted_and_end_it(desk: Make, tmp_path: Path) -> None:
    @tool(timeout=60)
    async def nap(ctx: ToolContext) -> str:
        """Sleep for ever."""
        await asyncio.Event().wait()
        return "never"

    agent = spec("worker", script([CallRequest(tool="nap")], "done"), nap)
    async with desk(agent, steps=[], namespace_budget={"seconds": 0.5}) as (d, _):
        await d.submit("run-1", brain="routine")
        async with asyncio.timeout(30):
            await d.settle()
        report = d.report("run-1")
        assert report.state == "failed"
        assert report.reason.startswith("budget: 0.5 of 0.5 seconds of namespace 'default'")
        assert [(row.settled, row.seconds) for row in spends(d)] == [(True, 0.5)]


async def test_seconds_not_used_are_given_back(desk: Make, tmp_path: Path) -> None:
    agent = spec("worker", script("done"))
    async with desk(agent, steps=[], max_seconds=60) as (d, _):
        await d.submit("run-1", brain="routine")
        await d.settle()
        assert d.report("run-1").state == "succeeded"
        (row,) = spends(d)
        assert row.settled
        assert 0 < row.seconds < 25


async def test_tools_go_while_an_answer_still_fits_the_tokens(desk: Make, tmp_path: Path) -> None:
    looks = [{**call("count", what=str(i)), "usage": [900, 50]} for i in range(3)]
    ends = {
        "text": "",
        "calls": [{"tool": "finish", "arguments": {"answer": "the pool"}}],
        "usage": [900, 50],
    }
    async with desk(steps=[*looks, ends], max_tokens=5000) as (d, server):
        await d.submit("run-1")
        await d.settle()
        report = d.report("run-1")
        assert (report.state, report.answer) == ("succeeded", "the pool")
        offered = [[t["function"]["name"] for t in r["body"]["tools"]] for r in server.requests]
        assert [("count" in names) for names in offered] == [True, True, True, False]
        assert sum(row.tokens for row in spends(d)) == 3800
        # and none could have passed the limit: what may be answered shrinks with what is left
        assert server.requests[-1]["body"]["max_tokens"] <= 5000 - 2850
        assert all(row.settled for row in spends(d))


async def test_without_limits_runs_are_as_before_and_what_they_cost_is_written_down(
    desk: Make, tmp_path: Path
) -> None:
    steps = [call("count"), {"text": "", "calls": [{"tool": "finish", "arguments": {"answer": "ok"}}]}]
    async with desk(steps=steps) as (d, _):
        await d.submit("run-1", namespace="payments")
        await d.settle()
        assert d.report("run-1").state == "succeeded"
        assert [(r.namespace, r.model_calls, r.tool_calls, r.tokens) for r in spends(d)] == [
            ("payments", 1, 0, 120)
        ] * 2
        with d.database.reading() as session:
            (row,) = session.exec(select(AssignmentRow)).all()
        assert json.dumps(row.outcome).count("budget") == 0
