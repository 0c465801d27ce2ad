"""The model's brain against a scripted server in its own process: whole conversations in both protocols."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from typing import Any, Literal

import pytest

from agents.runtime.brain import Brain, make_brain
from agents.runtime.spec import AgentSpec, DoneCall, DoneTurn, Turn, TurnView
from agents.runtime.tools import Tool
from kernel.contracts import Effect, Outcome, Source, Work
from kernel.model import make_model
from kernel.model.port import ignore_text
from kernel.settings import Settings
from kernel.states import CallState
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.integration

LINE = "2026-11-29T20:01:02Z ERROR pool exhausted: 2 of 2 in use"
PLANTED = "password=hunter2-planted tel 13800138000 ops@example.com sk-planted-0123456789abcdef"
WORK = Work(
    run_id="r",
    assignment_id="a",
    agent="log_analysis",
    goal="find the cause",
    request=f"why 503? {PLANTED}",
    sources=[Source(name="checkout.log", path="/x")],
    brain="model",
)
FINISH = {
    "answer": "the pool is exhausted, checkout.log:812",
    "findings": [{"title": "pool", "evidence": [{"source": "checkout.log", "line": 812, "quote": LINE}]}],
}


async def _run(context: Any, arguments: dict[str, Any]) -> Any:
    return {"matches": [{"line": 812, "text": f"{LINE} {PLANTED}"}]}


SEARCH = Tool(
    name="search",
    description="Search.",
    parameters={"type": "object", "properties": {"pattern": {"type": "string"}}, "required": ["pattern"]},
    effect=Effect.read,
    run=_run,
)
SPEC = AgentSpec(
    name="log_analysis",
    purpose="p",
    prompt="You look at logs.",
    routine=lambda _: Turn(outcome=Outcome(answer="by rule")),
    tools=lambda _: [SEARCH],
)

Make = Callable[..., Brain]


@pytest.fixture
async def make() -> AsyncIterator[Make]:
    async with AsyncExitStack() as stack:

        def made(server: ModelServer, protocol: Literal["native", "json"]) -> Brain:
            settings = Settings(
                model_base_url=server.url, model_name="scripted", model_tool_calls=protocol, model_timeout=5
            )
            model = make_model(settings)
            assert model is not None
            stack.push_async_callback(model.close)
            return make_brain(SPEC, model, settings, WORK, [SEARCH])

        yield made


async def play(brain: Brain) -> tuple[list[DoneTurn], Turn]:
    """Play the loop's part: make the calls, show their results, until an outcome comes."""
    turns: list[DoneTurn] = []
    while True:
        turn = await brain.next_turn(TurnView(work=WORK, turns=turns, tools=["search"]), ignore_text)
        if turn.outcome is not None:
            return turns, turn
        calls = []
        for index, call in enumerate(turn.calls):
            identity = f"{len(turns)}-{index}"
            value = await SEARCH.run(None, call.arguments)
            calls.append(
                DoneCall(
                    id=identity, tool=call.tool, arguments=call.arguments, state=CallState.done, value=value
                )
            )
        turns.append(DoneTurn(number=len(turns) + 1, text=turn.text, calls=calls, brain=turn.brain))


@pytest.mark.parametrize("protocol", ["native", "json"])
async def test_a_whole_conversation_and_no_secret_in_it(make: Make, protocol: str) -> None:
    script = [
        {
            "when": "Turns left",
            "text": "I look",
            "calls": [{"tool": "search", "arguments": {"pattern": "ERROR"}}],
        },
        {"system": "You look at logs", "calls": [{"tool": "finish", "arguments": FINISH}]},
    ]
    with ModelServer(script) as server:
        turns, last = await play(make(server, protocol))
        sent = json.dumps([r["body"] for r in server.requests], ensure_ascii=False)
    assert [(t.text, t.calls[0].arguments) for t in turns] == [("I look", {"pattern": "ERROR"})]
    assert last.outcome is not None
    assert last.outcome.findings[0].evidence[0].quote == LINE
    assert (last.brain, last.usage.input_tokens) == ("model:scripted", 100)
    assert "pool exhausted" in sent
    for secret in ("hunter2-planted", "13800138000", "ops@example.com", "sk-planted"):
        assert secret not in sent


@pytest.mark.parametrize("protocol", ["native", "json"])
async def test_a_malformed_call_is_corrected(make: Make, protocol: str) -> None:
    script = [
        {"calls": [{"tool": "search", "arguments": '{"pattern": oops'}]},
        {"when": "JSON object", "calls": [{"tool": "search", "arguments": {"pattern": "x"}}]},
        {"calls": [{"tool": "finish", "arguments": FINISH}]},
    ]
    with ModelServer(script) as server:
        turns, last = await play(make(server, protocol))
        assert len(server.requests) == 3
    assert (len(turns), turns[0].calls[0].arguments) == (1, {"pattern": "x"})
    assert last.brain == "model:scripted"


async def test_an_exhausted_quota_hands_over_to_the_routine(make: Make) -> None:
    with ModelServer([{"status": 429, "code": "insufficient_quota", "times": 0}]) as server:
        _, last = await play(make(server, "native"))
        assert len(server.requests) == 1
    assert last.outcome == Outcome(answer="by rule")
    assert last.brain == "routine"
    assert "routine: model unavailable: the quota of scripted is used up" in last.note
