"""The tool loop of all agents: ask the brain, run the calls, repeat until it answers, waits or is spent."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from agents.runtime.evidence import NOTHING_PROVED, strip
from agents.runtime.pressure import Limits, Pressure, own_turns, pressure, spent
from agents.runtime.spec import DoneTurn, Turn, TurnView
from kernel.contracts import NotDone, Outcome, Value, Work
from kernel.states import CallState

#: What a model is told to do about what the checkers refused.
_MEND = (
    "Quote lines that a tool returned, as they stand; cite only memories that you were given, each in a sentence "
    "that says what the memory says; give a number as a tool returned it, exactly, or leave it out."
)

_WHY_CHARACTERS = 300

OnText = Callable[[str | None], Awaitable[None]]


class BrainPort(Protocol):
    """Decides the next turn."""

    name: str

    async def next_turn(self, view: TurnView, on_text: OnText) -> Turn:
        """Return the next turn."""

    def fall_back(self, why: str) -> bool:
        """Go on with other means after an answer of which nothing stands; return whether there are any."""


class JournalPort(Protocol):
    """Keeps turns and calls; a turn is committed before its calls run."""

    async def load(self) -> list[DoneTurn]:
        """Return the turns so far."""

    async def commit_turn(self, turn: Turn, number: int) -> DoneTurn:
        """Commit a turn and return it with the ids of its calls."""


class CallsPort(Protocol):
    """Executes the calls of a turn."""

    async def run_calls(self, turn: DoneTurn) -> DoneTurn:
        """Run what has not ended; calls that need a person come back `waiting`."""


#: Checks an outcome and returns it with what was refused.
Check = Callable[[Outcome], Awaitable[tuple[Outcome, list[str]]]]
Announce = Callable[[DoneTurn], Awaitable[None]]


class Parked(Value):
    """The assignment waits for people to decide on these calls."""

    calls: list[str]


def partial(turns: list[DoneTurn], reason: str) -> Outcome:
    """Return what there is when a brain would not answer."""
    texts = [turn.text.strip() for turn in turns if turn.text.strip()]
    made = [f"{c.tool}: {c.state.value}" for t in turns for c in t.calls]
    answer = texts[-1] if texts else f"No answer was reached. Calls made: {', '.join(made) or 'none'}."
    return Outcome(
        answer=answer, partial=True, not_done=[NotDone(what="a full answer", why=f"stopped by {reason}")]
    )


def cut_off(turns: list[DoneTurn], reason: str, found: Outcome | None = None) -> Outcome:
    """Return what there is when the work may not go on: a partial outcome with what it cost, and what was found."""
    outcome = partial(turns, reason)
    if found is not None:
        outcome = found.model_copy(update={"partial": True, "not_done": [*found.not_done, *outcome.not_done]})
    return outcome.model_copy(
        update={"brain": turns[-1].brain if turns else outcome.brain, "usage": spent(turns)}
    )


async def work_through(
    work: Work,
    brain: BrainPort,
    *,
    tools: list[str],
    limits: Limits,
    journal: JournalPort,
    calls: CallsPort,
    check: Check,
    on_text: OnText,
    announce: Announce,
) -> Outcome | Parked:
    """Run the assignment from where its journal ends; return its outcome, or the calls that wait for people."""
    turns = await journal.load()
    nudge = ""
    while True:
        if turns and turns[-1].outcome is None:
            turns[-1] = await calls.run_calls(turns[-1])
            waiting = [c.id for c in turns[-1].calls if c.state == CallState.waiting]
            if waiting:
                return Parked(calls=waiting)
        if turns and (outcome := turns[-1].outcome) is not None:
            checked, refused = await check(outcome)
            if refused and _may_mend(turns, limits):
                nudge = f"Refused by the checker: {'; '.join(refused)}. {_MEND}"
            elif not (_nothing_stands(outcome, checked) and brain.fall_back(_unproved(refused))):
                return _ended(checked, refused, turns)
        if any(call.state is CallState.unknown for turn in turns for call in turn.calls):
            turns = await journal.load()  # a person may have found out meanwhile
        own = own_turns(turns, brain.name)
        press = pressure(own, limits)
        view = _view(work, turns, tools, press, nudge, left=limits.turns - len(own))
        turn = await brain.next_turn(view, on_text)
        if press.withdraw and turn.outcome is None:
            turn = _without_answer(turn, turns, press, brain)
        nudge = ""
        turns.append(await journal.commit_turn(turn, len(turns) + 1))
        await announce(turns[-1])


def _without_answer(turn: Turn, turns: list[DoneTurn], press: Pressure, brain: BrainPort) -> Turn:
    """Return a turn that had to answer and did not: it ends the work, unless the routine may go on."""
    turn = turn.model_copy(update={"calls": []})
    if brain.fall_back(f"the model came to no answer, stopped by {press.reason}"):
        return turn
    return turn.model_copy(
        update={"outcome": partial([*turns, DoneTurn(number=0, text=turn.text)], press.reason)}
    )


def _unproved(refused: list[str]) -> str:
    return f"nothing of the model's answer could be proved: {'; '.join(refused)}"[:_WHY_CHARACTERS]


def _nothing_stands(outcome: Outcome, checked: Outcome) -> bool:
    """Tell whether the checker left nothing of what an answer claimed."""
    return (bool(outcome.findings) and not checked.findings) or checked.answer == NOTHING_PROVED


def _may_mend(turns: list[DoneTurn], limits: Limits) -> bool:
    """Tell whether a refused outcome goes back: once, to a model, while turns are left."""
    refused_before = any(turn.outcome is not None for turn in turns[:-1])
    return not refused_before and not turns[-1].brain.startswith("routine") and len(turns) < limits.turns


def _view(
    work: Work, turns: list[DoneTurn], tools: list[str], press: Pressure, nudge: str, *, left: int
) -> TurnView:
    return TurnView(
        work=work,
        turns=turns,
        tools=[] if press.withdraw else tools,
        turns_left=max(1, left),
        nudge=" ".join(filter(None, (nudge, press.nudge))),
    )


def _ended(checked: Outcome, refused: list[str], turns: list[DoneTurn]) -> Outcome:
    stripped = strip(checked, refused)
    return stripped.model_copy(update={"brain": turns[-1].brain, "usage": spent(turns)})
