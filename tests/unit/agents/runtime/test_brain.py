"""Brains: the model decides, mends its own mistakes, and hands over to the routine when it is out of reach."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from agents.runtime.brain import FallingBackBrain, RoutineBrain, make_brain, why_instead
from agents.runtime.model_brain import ModelBrain
from agents.runtime.spec import AgentSpec, CallRequest, DoneCall, DoneTurn, Turn, TurnView
from kernel.clock import now
from kernel.contracts import Outcome, Work
from kernel.errors import Exhausted, OverBudget, Retryable, Uncounted
from kernel.model.port import ContextTooLong, ModelReply, ModelRequest, OnText, ToolSchema, ignore_text
from kernel.model.scripted import ScriptedModel
from kernel.redaction import Redactor
from kernel.settings import Settings
from kernel.states import CallState

WORK = Work(run_id="r", assignment_id="a", agent="looker", goal="look", request="why? password=hunter2")


def routine(view: TurnView) -> Turn:
    return Turn(outcome=Outcome(answer="by rule"), note="ruled")


SPEC = AgentSpec(name="looker", purpose="p", prompt="You look.", routine=routine, tools=lambda _: [])
TOOLS = [ToolSchema(name="search", parameters={"type": "object"})]


def view(**changes: Any) -> TurnView:
    return TurnView(work=WORK, tools=["search"]).model_copy(update=changes)


def brain(*steps: dict[str, Any], window: int = 8000) -> tuple[ModelBrain, ScriptedModel]:
    model = ScriptedModel(steps)
    return ModelBrain(SPEC, model, tool_schemas=TOOLS, context_tokens=window, redactor=Redactor()), model


def call(tool: str, arguments: Any = None) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments or {}}


async def test_calls_with_usage_and_speed() -> None:
    asked, model = brain(
        {"text": "hm", "calls": [call("search", {"p": "x"}), call("search", {"p": "y"})], "input_tokens": 7}
    )
    turn = await asked.next_turn(view(), ignore_text)
    assert turn.calls == [
        CallRequest(tool="search", arguments={"p": "x"}),
        CallRequest(tool="search", arguments={"p": "y"}),
    ]
    assert (turn.text, turn.brain, turn.usage.input_tokens) == ("hm", "model:scripted", 7)
    assert "tokens/s" in turn.note
    assert [tool.name for tool in model.requests[0].tools] == ["search", "finish"]
    assert "hunter2" not in model.requests[0].model_dump_json()


async def test_finish_is_an_outcome() -> None:
    asked, _ = brain({"calls": [call("finish", {"answer": "the pool", "not_found": ["a deploy"]})]})
    turn = await asked.next_turn(view(), ignore_text)
    assert turn.outcome is not None
    assert (turn.outcome.answer, turn.outcome.not_found, turn.outcome.brain) == (
        "the pool",
        ["a deploy"],
        "model:scripted",
    )


async def test_plain_text_is_an_answer() -> None:
    asked, _ = brain({"text": "the pool, a.log:3"})
    turn = await asked.next_turn(view(), ignore_text)
    assert turn.outcome is not None
    assert turn.outcome.answer == "the pool, a.log:3"


async def test_a_call_written_as_text_is_a_call() -> None:
    asked, _ = brain({"text": '```json\n{"name": "search", "arguments": {"p": "x"}}\n```'})
    heard: list[str | None] = []

    async def hear(text: str | None) -> None:
        heard.append(text)

    turn = await asked.next_turn(view(), hear)
    assert (turn.calls, turn.text) == ([CallRequest(tool="search", arguments={"p": "x"})], "")
    assert heard[-1] is None


async def test_a_finish_beside_other_calls_waits() -> None:
    asked, _ = brain({"calls": [call("finish", {"answer": "early"}), call("search")]})
    turn = await asked.next_turn(view(), ignore_text)
    assert (turn.outcome, [c.tool for c in turn.calls]) == (None, ["search"])


async def test_an_unknown_tool_is_journaled_for_execution_to_refuse() -> None:
    asked, _ = brain({"calls": [call("rm_rf", {"x": 1})]})
    turn = await asked.next_turn(view(), ignore_text)
    assert turn.calls == [CallRequest(tool="rm_rf", arguments={"x": 1})]


@pytest.mark.parametrize(
    "bad",
    [
        {"calls": [{"tool": "search", "arguments": '{"p": oops'}]},
        {"text": "hmm", "problem": "there is no JSON object in it"},
        {"text": "  "},
        {"calls": [{"tool": "finish", "arguments": {}}]},
    ],
)
async def test_an_unreadable_answer_is_asked_again(bad: dict[str, Any]) -> None:
    asked, model = brain(bad, {"calls": [call("search", {"p": "x"})]})
    heard: list[str | None] = []

    async def hear(text: str | None) -> None:
        heard.append(text)

    turn = await asked.next_turn(view(), hear)
    assert turn.calls == [CallRequest(tool="search", arguments={"p": "x"})]
    assert "asked again" in turn.note
    assert turn.usage.input_tokens == 200
    assert heard[-1] is None
    again = model.requests[1].messages
    assert {c.id for m in again for c in m.calls} == {m.call_id for m in again if m.role == "tool"}


async def test_never_readable_text_is_a_partial_answer_and_rubbish_is_none() -> None:
    asked, _ = brain({"text": "I cannot say", "problem": "no object", "times": 0})
    turn = await asked.next_turn(view(), ignore_text)
    assert turn.outcome is not None
    assert (turn.outcome.answer, turn.outcome.partial) == ("I cannot say", True)
    asked, model = brain({"text": '{"oops', "problem": "no object", "times": 0})
    with pytest.raises(Exhausted, match="no readable answer"):
        await asked.next_turn(view(), ignore_text)
    assert len(model.requests) == 3


async def test_withdrawn_tools_are_not_offered_and_not_called() -> None:
    asked, model = brain({"text": "still looking", "calls": [call("search")]})
    turn = await asked.next_turn(view(tools=[]), ignore_text)
    assert (turn.text, turn.calls, turn.outcome) == ("still looking", [], None)
    assert [tool.name for tool in model.requests[0].tools] == ["finish"]


class _Small:
    """A model with a window smaller than the settings say."""

    name = "small"

    def __init__(self, most: int) -> None:
        self.most, self.sizes = most, []

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        self.sizes.append(sum(len(m.content) for m in request.messages))
        if self.sizes[-1] > self.most:
            raise ContextTooLong("too long")
        return ModelReply(text="fits")

    async def close(self) -> None:
        return None


async def test_too_small_a_window_is_learnt() -> None:
    model = _Small(12_000)
    asked = ModelBrain(SPEC, model, tool_schemas=TOOLS, context_tokens=32_000, redactor=Redactor())
    done = [
        DoneTurn(
            number=n, calls=[DoneCall(id=str(n), tool="search", state=CallState.done, value="x" * 15_000)]
        )
        for n in range(4)
    ]
    turn = await asked.next_turn(view(turns=done), ignore_text)
    assert turn.outcome is not None
    assert model.sizes == sorted(model.sizes, reverse=True)
    asked = ModelBrain(SPEC, _Small(10), tool_schemas=TOOLS, context_tokens=32_000, redactor=Redactor())
    with pytest.raises(ContextTooLong):
        await asked.next_turn(view(), ignore_text)


@pytest.mark.parametrize("kind", ["retryable", "exhausted", "fatal"])
async def test_the_routine_takes_over_and_stays(kind: str) -> None:
    asked, model = brain({"error": {"kind": kind, "what": "gone"}}, {"text": "back"})
    falling = FallingBackBrain(asked, routine)
    assert falling.name == "model:scripted"
    for _ in range(2):
        turn = await falling.next_turn(view(), ignore_text)
        assert turn.outcome == Outcome(answer="by rule")
        assert (turn.brain, falling.name) == ("routine", "routine")
        assert turn.note == "routine: model unavailable: gone | ruled"
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("wanted", "has_model", "name", "note"),
    [
        ("auto", True, "model:scripted", None),
        ("model", True, "model:scripted", None),
        ("routine", True, "routine", "ruled"),
        ("auto", False, "routine", "ruled"),
        ("model", False, "routine", "routine: no model is configured | ruled"),
    ],
)
async def test_make_brain(wanted: str, has_model: bool, name: str, note: str | None) -> None:
    model = ScriptedModel([{"error": {"kind": "retryable"}}]) if has_model else None
    work = WORK.model_copy(update={"brain": wanted})
    made = make_brain(SPEC, model, Settings(), work, [])
    assert made.name == name
    turn = await made.next_turn(view(), ignore_text)
    assert turn.outcome == Outcome(answer="by rule")
    assert note is None or turn.note == note


async def test_the_routine_is_a_pure_function() -> None:
    plain = RoutineBrain(routine)
    assert await plain.next_turn(view(), ignore_text) == await plain.next_turn(view(), ignore_text)


async def test_cancelling_is_no_reason_to_fall_back() -> None:
    class Stopped:
        name = "stopped"

        async def next_turn(self, view: TurnView, on_text: OnText) -> Turn:
            raise Retryable("busy") if view.turns else KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await FallingBackBrain(Stopped(), routine).next_turn(view(), ignore_text)


@pytest.mark.parametrize("error", [OverBudget("budget: spent"), Uncounted("no database")])
async def test_a_spent_budget_is_no_reason_to_fall_back(error: Exception) -> None:
    class Unpaid:
        name = "model:x"

        async def next_turn(self, view: TurnView, on_text: OnText) -> Turn:
            raise error

    falling = FallingBackBrain(Unpaid(), routine)
    for _ in range(2):
        with pytest.raises(type(error)):
            await falling.next_turn(view(), ignore_text)
    assert falling.name == "model:x"


async def test_each_request_names_who_pays() -> None:
    asked, model = brain({"text": "done"})
    await asked.next_turn(view(turns=[DoneTurn(number=1)]), ignore_text)
    spender = model.requests[0].spender
    assert spender is not None
    assert (spender.run_id, spender.assignment_id, spender.name) == ("r", "a", "a.2")


class Slow:
    """A model that answers when it is too late."""

    name = "model:slow"

    async def next_turn(self, view: TurnView, on_text: OnText) -> Turn:
        await on_text("I think")
        await asyncio.Event().wait()
        raise AssertionError


async def test_a_model_too_slow_for_the_deadline_leaves_the_routine_its_time() -> None:
    heard: list[str | None] = []

    async def hear(text: str | None) -> None:
        heard.append(text)

    work = WORK.model_copy(update={"deadline_at": now() + timedelta(seconds=0.5)})
    falling = FallingBackBrain(Slow(), routine)
    turn = await asyncio.wait_for(falling.next_turn(view(work=work), hear), 30)
    assert (turn.brain, turn.outcome) == ("routine", Outcome(answer="by rule"))
    assert turn.note == "routine: the model was too slow for the deadline | ruled"
    assert heard == ["I think", None]


async def test_behind_a_model_the_routine_looks_at_its_own_turns_and_notes() -> None:
    """It finds its calls by its notes; what the model asked, wrongly perhaps, is not what it would have asked."""
    seen: list[TurnView] = []

    def looking(told: TurnView) -> Turn:
        seen.append(told)
        return Turn(calls=[CallRequest(tool="search")], note="asked for")

    wrong = DoneTurn(
        number=1, brain="model:x", calls=[DoneCall(id="1", tool="search", state=CallState.failed)]
    )
    falling = FallingBackBrain(brain({"error": {"kind": "fatal", "what": "a; b"}})[0], looking, proves=True)
    first = await falling.next_turn(view(turns=[wrong]), ignore_text)
    assert first.note == "routine: model unavailable: a; b | asked for"
    mine = DoneTurn(number=2, brain="routine", note=first.note)
    await falling.next_turn(view(turns=[wrong, mine]), ignore_text)
    assert [[t.number for t in told.turns] for told in seen] == [[], [2]]
    assert seen[1].turns[0].note == "asked for"
    assert why_instead([wrong, mine]) == "model unavailable: a; b"
    assert why_instead([wrong]) == ""
    await falling.next_turn(view(turns=[wrong, mine], tools=[]), ignore_text)
    assert [t.number for t in seen[2].turns] == [1, 2]  # where it may not ask, what was asked is all there is


async def test_whoever_takes_over_from_a_routine_behind_a_model_goes_on_with_the_routine() -> None:
    asked, model = brain({"text": "me again"})
    turn = await FallingBackBrain(asked, routine).next_turn(view(turns=[DoneTurn(number=1)]), ignore_text)
    assert (turn.brain, model.requests) == ("routine", [])


@pytest.mark.parametrize("proves", [True, False])
async def test_only_an_agent_that_reads_lines_falls_back_from_what_was_not_proved(proves: bool) -> None:
    falling = FallingBackBrain(brain()[0], routine, proves=proves)
    assert falling.fall_back("nothing stands") is proves
    assert falling.name == ("routine" if proves else "model:scripted")
    assert not falling.fall_back("again")


async def test_a_small_window_is_offered_the_tools_that_the_agent_names_first() -> None:
    many = [
        ToolSchema(name=name, description="what it does, at length " * 20, parameters={"type": "object"})
        for name in ("search", "context", "compare", "follow", "remember")
    ]
    spec = replace(SPEC, first_tools=("search", "context"))
    names = [tool.name for tool in many]
    for window, offered in ((32_000, names), (2_000, ["search", "context"])):
        model = ScriptedModel([{"text": "ok"}])
        made = ModelBrain(spec, model, tool_schemas=many, context_tokens=window, redactor=Redactor())
        await made.next_turn(view(tools=names), ignore_text)
        assert [tool.name for tool in model.requests[0].tools] == [*offered, "finish"]
