"""Symptoms that one desk shows: decisions, siblings, loops, large results. Real SQLite, Redis and model server."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select

from agents.runtime.artifact_tools import read_artifact
from agents.runtime.context import cost
from agents.runtime.spec import AgentSpec, CallRequest, Turn, TurnView
from agents.runtime.tools import ToolContext, tool
from kernel.contracts import Outcome
from kernel.errors import Exhausted, Fatal, Refused
from kernel.events import ApprovalRequested
from kernel.model import make_model
from kernel.model.port import Message, estimate_tokens
from kernel.records import CallRow
from tests.support.little_desk import Desk, counter, make_settings, script, spec
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.integration

ONE = "[{key: job, agent: worker, goal: do it}]"
Make = Callable[..., Any]


@pytest.fixture
def desk(tmp_path: Path, redis_url: str) -> Make:
    @asynccontextmanager
    async def make(*agents: AgentSpec, assignments: str = ONE, **fields: Any) -> AsyncIterator[Desk]:
        settings = make_settings(tmp_path, redis_url, assignments=assignments, **fields)
        made = Desk(settings, list(agents), model=make_model(settings))
        try:
            yield made
        finally:
            if made.model is not None:
                await made.model.close()
            await made.close()

    return make


def world(folder: Path) -> list[str]:
    path = folder / "world.txt"
    return [line.split()[0] for line in path.read_text().splitlines()] if path.exists() else []


def calls(desk: Desk) -> list[CallRow]:
    with desk.database.reading() as session:
        return list(session.exec(select(CallRow).order_by(col(CallRow.id))).all())


@pytest.mark.parametrize("order", ["ab", "ba"])
async def test_symptom_10_a_mixed_batch_runs_each_as_decided_in_any_order_and_decided_twice(
    desk: Make, tmp_path: Path, order: str
) -> None:
    batch = [
        CallRequest(tool="free", arguments={"what": "free"}),
        CallRequest(tool="risky", arguments={"what": "a"}),
        CallRequest(tool="risky", arguments={"what": "b"}),
    ]
    tools = counter(tmp_path, name="free"), counter(tmp_path, name="risky", risk="high")
    told = {"a": ("job.1.2", "approved"), "b": ("job.1.3", "denied")}
    async with desk(spec("worker", script(batch, "ok"), *tools)) as d:
        await d.submit("run-1")
        await d.settle()
        assert world(tmp_path) == ["free"]
        for name in order:
            call, decision = told[name]
            await d.decisions.decide("run-1", call, decision, by="ann")
            for again in ("approved", "denied"):
                with pytest.raises(Refused, match=f"already {decision}"):
                    await d.decisions.decide("run-1", call, again, by="bob")
            await d.settle()
        assert sorted(world(tmp_path)) == ["a", "free"]
        assert [c.state for c in calls(d)] == ["done", "done", "denied"]
        assert d.report("run-1").state == "succeeded"


async def test_symptom_12_a_late_subscriber_still_sees_the_question(desk: Make, tmp_path: Path) -> None:
    risky = counter(tmp_path, risk="high")
    async with desk(spec("worker", script([CallRequest(tool="count")], "ok"), risky)) as d:
        await d.submit("run-1")
        await d.settle()
        await d.redis.delete("nightdesk:events:2:run-1")  # not even Redis has it any more
        seen: list[ApprovalRequested] = []
        async with asyncio.timeout(20):
            async for logged in d.events.follow("run-1"):
                if logged is not None and isinstance(logged.event, ApprovalRequested):
                    seen.append(logged.event)
                    break
        assert [asked.tool for asked in seen] == ["count"]
        await d.decisions.decide("run-1", seen[0].call_id, "approved", by="ann")
        await d.settle()
        assert world(tmp_path) == ["x"]


async def test_symptom_13_one_sibling_raises_one_times_out_and_the_third_is_heard(
    desk: Make, tmp_path: Path
) -> None:
    @tool(timeout=0.2)
    async def endless(ctx: ToolContext) -> str:
        """Never end."""
        await asyncio.Event().wait()
        return ""

    def routine(view: TurnView) -> Turn:
        if view.work.goal == "raise":
            raise Fatal("this part is broken")
        if view.work.goal == "hang" and not view.turns:
            return Turn(calls=[CallRequest(tool="endless")])
        if view.work.goal == "hang":
            error = view.turns[0].calls[0].error or {}
            raise Exhausted(error["message"])
        return Turn(outcome=Outcome(answer="the third is heard"))

    three = "[{key: a, agent: worker, goal: raise}, {key: b, agent: worker, goal: hang}, {key: c, agent: worker, goal: say}]"
    async with desk(spec("worker", routine, endless), assignments=three) as d:
        await d.submit("run-1")
        await d.settle()
        report = d.report("run-1")
        assert (report.state, report.answer) == ("succeeded", "the third is heard")
        assert [a.state for a in report.assignments] == ["failed", "failed", "done"]
        whys = " ".join(n.why for n in report.not_done)
        assert "this part is broken" in whys
        assert "endless took longer than 0.2 s" in whys


def _calls(tool_name: str, **arguments: Any) -> dict[str, Any]:
    return {"text": "still looking", "calls": [{"tool": tool_name, "arguments": arguments}]}


@pytest.mark.parametrize(
    "asked",
    [
        [_calls("look", what="a"), _calls("look", what="b")],
        [_calls("look", what="a", limit=limit) for limit in range(100, 120)],
    ],
    ids=["A-B-A-B", "limit 100, 101, …"],
)
async def test_symptom_14_a_model_that_repeats_itself_is_stopped_within_eight_turns_with_what_there_is(
    desk: Make, asked: list[dict[str, Any]]
) -> None:
    @tool()
    async def look(ctx: ToolContext, what: str, limit: int = 10) -> str:
        """Look."""
        return "nothing new"

    steps = (asked * 10)[:40]
    with ModelServer(steps) as server:
        model = {"model_base_url": server.url, "model_name": "scripted", "model_input_price": 1.0}
        async with desk(spec("worker", script("unused"), look), max_cost=2.0, **model) as d:
            await d.submit("run-1", brain="model")
            await d.coordinator.advance("run-1")
            await d.settle()
            report = d.report("run-1")
            usage = report.usage
            assert (report.state, usage.turns <= 8, len(server.requests) <= 9) == ("succeeded", True, True)
            assert report.answer == "still looking"
            assert usage.cost < 2.0
            assert any("stopped by" in n.why for n in report.not_done)


async def test_symptom_15_a_huge_output_is_found_by_a_second_worker(desk: Make) -> None:
    needle, at = "needle-4711", 4_000_000

    @tool()
    async def huge(ctx: ToolContext, name: str) -> str:
        """Return 5 MiB."""
        hay = "x" * (5 * 1024 * 1024 - len(needle))
        return f"{hay[:at]} {needle} {hay[at:]}"

    seen: list[TurnView] = []

    def routine(view: TurnView) -> Turn:
        seen.append(view)
        if not view.turns:
            return Turn(calls=[CallRequest(tool="huge", arguments={"name": "n" * 3072})])
        if len(view.turns) == 1:
            return Turn(calls=[CallRequest(tool="pause")])
        if len(view.turns) == 2:
            told = {"artifact": view.turns[0].calls[0].value["artifact"], "pattern": r"needle-\d+"}
            return Turn(calls=[CallRequest(tool="read_artifact", arguments=told)])
        return Turn(outcome=Outcome(answer=str(view.turns[2].calls[0].value)))

    pause = replace(_risky_pause(), risk="high")
    async with desk(spec("worker", routine, huge, pause)) as d:
        await d.submit("run-1")
        await d.settle(d.worker("w1"))
        await d.decisions.decide("run-1", "job.2.1", "approved", by="ann")
        await d.settle(d.worker("w2"))  # who has never seen it
        report = d.report("run-1")
        assert report.state == "succeeded"
        found = seen[-1].turns[2].calls[0].value
        assert (found["total"], needle in found["hits"][0]["text"]) == (1, True)
        assert abs(found["hits"][0]["offset"] - at) < 10
        stored = json.dumps(calls(d)[0].result)
        shown = [Message(role="tool", content=stored)]
        assert cost(shown) < 0.15 * d.settings.model_context_tokens
        assert estimate_tokens(stored) < 0.15 * d.settings.model_context_tokens
        assert read_artifact.name in seen[-1].tools


def _risky_pause() -> Any:
    @tool()
    async def pause(ctx: ToolContext) -> str:
        """Wait for a person."""
        return "went on"

    return pause
