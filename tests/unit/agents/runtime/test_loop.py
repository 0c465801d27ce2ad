from typing import Any

import pytest

from agents.runtime.loop import Parked, partial, work_through
from agents.runtime.pressure import Limits, pressure, spent
from agents.runtime.spec import CallRequest, DoneCall, DoneTurn, Turn, TurnView
from kernel.contracts import Finding, Outcome, Usage, Work
from kernel.states import CallState

WORK = Work(run_id="r", assignment_id="a", agent="x", goal="g", request="q")


def turn(*calls: DoneCall, number: int = 1, **fields: Any) -> DoneTurn:
    return DoneTurn(number=number, calls=list(calls), **fields)


def made(tool: str = "search", state: CallState = CallState.done, **arguments: Any) -> DoneCall:
    error = {"code": "c", "message": "m"} if state is CallState.failed else None
    return DoneCall(id="1", tool=tool, arguments=arguments, state=state, error=error)


class TestPressure:
    def test_nothing_presses_a_fresh_assignment(self) -> None:
        press = pressure([], Limits())
        assert (press.nudge, press.withdraw) == ("", False)

    def test_the_last_turn_has_no_tools(self) -> None:
        assert not pressure([turn(made(p=i)) for i in range(6)], Limits(turns=8)).withdraw
        assert pressure([turn(made(p=i)) for i in range(7)], Limits(turns=8)).reason == "the limit of 8 turns"

    @pytest.mark.parametrize(
        ("limits", "reason"),
        [
            (Limits(calls=1), "the budget of 1 calls"),
            (Limits(tokens=10), "the budget of 10 tokens"),
            (Limits(cost=0.5), "the budget of 0.5 dollars"),
        ],
    )
    def test_a_spent_budget_withdraws_tools(self, limits: Limits, reason: str) -> None:
        used = turn(made(), usage=Usage(input_tokens=6, output_tokens=5, cost=0.5))
        assert pressure([used], limits).reason == reason

    def test_tools_go_while_an_answer_can_still_be_paid(self) -> None:
        turns = [turn(made(p=i), usage=Usage(input_tokens=90, output_tokens=10, cost=0.1)) for i in range(3)]
        assert not pressure(turns, Limits(tokens=551)).withdraw
        assert pressure(turns, Limits(tokens=550)).reason == "the budget of 550 tokens"
        assert pressure(turns, Limits(cost=0.54)).reason == "the budget of 0.54 dollars"
        assert not pressure(turns, Limits(cost=0.56)).withdraw

    def test_the_same_call_is_nudged_then_withdrawn(self) -> None:
        assert pressure([turn(made(p=1))], Limits()).nudge == ""
        twice = [turn(made(p=1)), turn(made(p=1))]
        assert "already made this call" in pressure(twice, Limits()).nudge
        assert pressure([*twice, turn(made(p=1))], Limits()).withdraw

    def test_a_b_a_b_is_noticed(self) -> None:
        turns = [turn(made(p=i % 2)) for i in range(5)]
        assert "already made" in pressure(turns[:4], Limits()).nudge
        assert pressure(turns, Limits()).withdraw

    def test_a_streak_of_errors_is_noticed_and_a_success_ends_it(self) -> None:
        failed = [turn(made(state=CallState.failed, p=i)) for i in range(5)]
        assert "all failed" in pressure(failed[:3], Limits()).nudge
        assert pressure(failed, Limits()).reason == "errors in a row"
        assert pressure([*failed[:3], turn(made(p=9))], Limits()).nudge == ""


class Memory:
    """A journal in a list, and an executor that ends every call."""

    def __init__(self, turns: list[DoneTurn] | None = None, *, waits: bool = False) -> None:
        self.turns = turns or []
        self.waits = waits
        self.ran: list[int] = []

    async def load(self) -> list[DoneTurn]:
        return list(self.turns)

    async def commit_turn(self, made: Turn, number: int) -> DoneTurn:
        calls = [
            DoneCall(id=f"{number}.{i}", tool=c.tool, arguments=c.arguments, state=CallState.waiting)
            for i, c in enumerate(made.calls)
        ]
        self.turns.append(
            DoneTurn(
                number=number,
                text=made.text,
                calls=calls,
                outcome=made.outcome,
                usage=made.usage,
                brain=made.brain,
            )
        )
        return self.turns[-1]

    async def run_calls(self, done: DoneTurn) -> DoneTurn:
        self.ran.append(done.number)
        state = CallState.waiting if self.waits else CallState.done
        return done.model_copy(update={"calls": [c.model_copy(update={"state": state}) for c in done.calls]})


class Brain:
    name = "model:test"

    def __init__(self, *turns: Turn, behind: tuple[Turn, ...] = ()) -> None:
        self.left, self.behind, self.why = list(turns), behind, ""
        self.views: list[TurnView] = []

    async def next_turn(self, view: TurnView, on_text: Any) -> Turn:
        self.views.append(view)
        return self.left.pop(0) if len(self.left) > 1 else self.left[0]

    def fall_back(self, why: str) -> bool:
        self.why = why
        if self.behind:
            self.left, self.name = list(self.behind), "routine"
        return bool(self.behind)


ASK = Turn(calls=[CallRequest(tool="search")], brain="model:test")
END = Turn(outcome=Outcome(answer="done"), brain="model:test")


async def go(
    brain: Brain, memory: Memory, *, refuse: list[str] | None = None, limits: Limits | None = None
) -> Any:
    async def check(outcome: Outcome) -> tuple[Outcome, list[str]]:
        if not any(finding.title == "made up" for finding in outcome.findings):
            return outcome, refuse or []
        return outcome.model_copy(update={"findings": []}), ["a.log:9 does not say it"]

    async def quiet(*_: Any) -> None:
        return None

    return await work_through(
        WORK,
        brain,
        tools=["search"],
        limits=limits or Limits(),
        journal=memory,
        calls=memory,
        check=check,
        on_text=quiet,
        announce=quiet,
    )


class TestWorkThrough:
    async def test_calls_run_until_the_brain_answers(self) -> None:
        ended = await go(Brain(ASK, END), memory := Memory())
        assert (ended.answer, ended.usage.turns, ended.usage.calls) == ("done", 2, 1)
        assert memory.ran == [1]

    async def test_a_waiting_call_parks(self) -> None:
        assert await go(Brain(ASK), Memory(waits=True)) == Parked(calls=["1.0"])

    async def test_a_committed_answer_is_not_asked_for_again(self) -> None:
        brain = Brain(ASK)
        ended = await go(
            brain, Memory([DoneTurn(number=1, outcome=Outcome(answer="kept"), brain="model:test")])
        )
        assert (ended.answer, brain.views) == ("kept", [])

    async def test_a_refused_answer_goes_back_once_with_the_reason(self) -> None:
        brain = Brain(END)
        ended = await go(brain, Memory(), refuse=["x:9 does not exist"])
        assert len(brain.views) == 2
        assert "x:9 does not exist" in brain.views[1].nudge
        assert ended.not_done[0].why == "x:9 does not exist"

    async def test_where_nothing_of_an_answer_stands_the_routine_looks_itself(self) -> None:
        wrong = Turn(
            outcome=Outcome(answer="bad disk", findings=[Finding(title="made up")]), brain="model:test"
        )
        own = (ASK.model_copy(update={"brain": "routine"}), END.model_copy(update={"brain": "routine"}))
        ended = await go(brain := Brain(wrong, behind=own), memory := Memory())
        assert (ended.answer, ended.brain, ended.not_done) == ("done", "routine", [])
        assert brain.why == "nothing of the model's answer could be proved: a.log:9 does not say it"
        assert [bool(t.outcome) for t in memory.turns] == [True, True, False, True]
        alone = await go(Brain(wrong), Memory())
        assert (alone.answer, alone.findings) == ("bad disk", [])
        assert alone.not_done[0].what == "a claim was left out"

    async def test_where_a_model_comes_to_no_answer_the_routine_has_turns_and_tools_of_its_own(self) -> None:
        own = (ASK.model_copy(update={"brain": "routine"}), END.model_copy(update={"brain": "routine"}))
        ended = await go(brain := Brain(ASK, behind=own), memory := Memory())
        assert (ended.answer, ended.brain, ended.partial) == ("done", "routine", False)
        assert brain.why == "the model came to no answer, stopped by the same call again and again"
        assert [len(t.calls) for t in memory.turns] == [1, 1, 1, 0, 1, 0]
        assert [(v.tools, v.turns_left) for v in brain.views[-2:]] == [(["search"], 8), (["search"], 7)]

    async def test_a_routine_is_not_asked_again(self) -> None:
        brain = Brain(END.model_copy(update={"brain": "routine"}))
        await go(brain, Memory(), refuse=["no"])
        assert len(brain.views) == 1

    async def test_a_brain_that_never_answers_ends_partial(self) -> None:
        ended = await go(Brain(ASK.model_copy(update={"text": "looking"})), Memory())
        assert (ended.answer, ended.partial) == ("looking", True)
        assert ended.usage.turns == 4


def test_partial_says_what_was_made() -> None:
    assert partial([turn(made())], "x").answer == "No answer was reached. Calls made: search: done."


def test_spent_counts_turns_and_calls() -> None:
    assert spent([turn(made(), made()), turn()]).model_dump()["calls"] == 2
