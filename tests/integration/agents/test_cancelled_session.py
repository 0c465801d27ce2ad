"""A cancelled session can go on (peers, symptom 9): no call without its result is ever sent to a model."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agents.runtime.approvals import ApprovalPolicy
from agents.runtime.tools import ToolContext, tool
from kernel.contracts import Effect
from kernel.model import make_model
from tests.support.little_desk import Desk, make_settings, script, spec
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.integration

ONE = "[{key: job, agent: worker, goal: do it}]"
ENDED = {"answer": "went on", "findings": []}


def check_messages(messages: list[dict[str, Any]]) -> None:
    """Hold what providers demand: each call is answered at once, by results that name it, and nothing else is."""
    asked: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            assert message["tool_call_id"] in asked, messages
            asked.remove(message["tool_call_id"])
            continue
        assert asked == [], f"calls without a result: {asked} in {messages}"
        asked = [call["id"] for call in message.get("tool_calls") or []]
    assert asked == [], f"calls without a result: {asked}"


async def test_symptom_9_an_interrupt_leaves_no_dangling_call_and_the_session_goes_on(
    tmp_path: Path, redis_url: str
) -> None:
    inside = asyncio.Event()

    @tool(effect=Effect.idempotent, timeout=60)
    async def slow(ctx: ToolContext) -> str:
        """Take long."""
        inside.set()
        await asyncio.Event().wait()
        return ""

    @tool()
    async def look(ctx: ToolContext) -> str:
        """Look."""
        return "seen"

    def call(*names: str) -> dict[str, Any]:
        return {"calls": [{"tool": name, "arguments": {}} for name in names]}

    finish = {"calls": [{"tool": "finish", "arguments": ENDED}]}
    # two calls in one turn, one of them cut; then the follow-up looks once and ends
    with ModelServer([call("look", "slow"), call("look"), finish]) as server:
        settings = make_settings(
            tmp_path, redis_url, assignments=ONE, model_base_url=server.url, model_name="scripted"
        )
        agent = spec("worker", script("by routine"), slow, look, policy=lambda _: ApprovalPolicy())
        desk = Desk(settings, [agent], model=make_model(settings))
        try:
            await desk.submit("run-1", "begin", session_id="s")
            await desk.coordinator.advance("run-1")
            listening = asyncio.create_task(desk.control.listen(desk.workers[0].stop))
            working = asyncio.create_task(desk.workers[0].work("run-1:job", lambda _line: None))
            await asyncio.wait_for(inside.wait(), 30)
            await desk.decisions.cancel("run-1", by="ann")
            await asyncio.wait_for(working, 30)
            await desk.settle()
            assert desk.report("run-1").state == "cancelled"
            await desk.submit("run-2", "and now go on", session_id="s")
            await desk.settle()
            report = desk.report("run-2")
            assert (report.state, report.answer) == ("succeeded", "went on")
            assert report.assignments[0].brain.startswith("model")
            assert len(server.requests) == 3
            for request in server.requests:
                check_messages(request["body"]["messages"])
            # the follow-up knows of the cancelled run
            assert "begin" in json.dumps(server.requests[1]["body"]["messages"])
            listening.cancel()
        finally:
            await desk.model.close()
            await desk.close()
