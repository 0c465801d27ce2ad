"""The tool loop of all agents: ask the brain, run the calls, repeat until it answers, waits or is spent."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Protocol

from agents.runtime.evidence import strip
from agents.runtime.spec import DoneTurn, Turn, TurnView
from kernel.contracts import NotDone, Outcome, Usage, Value, Work
from kernel.states import CallState

#: The same call asked this often is a loop: first a nudge, then the tools go (issue: stopped within 8 turns).
_SAME_CALL_NUDGE = 2
_SAME_CALL_WITHDRAW = 3
#: A turn costs more than the one before, since it reads all of them: two of the next are about two and a half of it.
_TURNS_AHEAD = 2.5
_ERROR_STREAK_NUDGE = 3
_ERROR_STREAK_WITHDRAW = 5

#: What a model is told to do about what the checkers refused.
_MEND = (
    "Quote lines that a tool returned, as they stand; cite only memories that you were given, each in a sentence "
    "that says what the memory says; give a number as a tool returned it, exactly, or leave it out."
)

OnText = Callable[[str | None], Awaitable[None]]


class Limits(Value):
    """What one assignment may spend."""

    turns: int = 8
    calls: int = 40
    tokens: int = 200_000
    cost: float = 2.0


class Pressure(Value):
    """What the loop detector and the limits say about the next turn."""

    nudge: str = ""
    withdraw: bool = False
    reason: str = ""


class BrainPort(Protocol):
    """Decides the next turn."""

    name: str

    async def next_turn(self, view: TurnView, on_text: OnText) -> Turn:
        """Return the next turn."""


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


def spent(turns: list[DoneTurn]) -> Usage:
    """Return what the turns cost."""
    total = Usage()
    for turn in turns:
        total = total.plus(turn.usage)
    return total.model_copy(update={"turns": len(turns), "calls": sum(len(t.calls) for t in turns)})


def pressure(turns: list[DoneTurn], limits: Limits) -> Pressure:
    """Return a nudge, or the withdrawal of tools with its reason, for the turn that comes."""
    usage = spent(turns)
    if len(turns) >= limits.turns - 1:
        return Pressure(
            withdraw=True, reason=f"the limit of {limits.turns} turns", nudge="This is your last turn."
        )
    last = turns[-1].usage if turns else Usage()
    for what, used, latest, limit in (
        ("calls", usage.calls, 0, limits.calls),
        ("tokens", _tokens(usage), _tokens(last), limits.tokens),
        ("dollars", usage.cost, last.cost, limits.cost),
    ):
        # while there is enough for one turn more, but hardly for two: the answer must still come
        if used + _TURNS_AHEAD * latest >= limit:
            return Pressure(
                withdraw=True, reason=f"the budget of {limit} {what}", nudge="The budget is spent."
            )
    return _loop_pressure(turns)


def _tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens


def _loop_pressure(turns: list[DoneTurn]) -> Pressure:
    asked = [json.dumps([c.tool, c.arguments], sort_keys=True) for t in turns for c in t.calls]
    latest = {json.dumps([c.tool, c.arguments], sort_keys=True) for c in turns[-1].calls} if turns else set()
    repeats = max((asked.count(call) for call in latest), default=0)
    streak = 0
    for turn in reversed(turns):
        if not turn.calls or any(call.error is None for call in turn.calls):
            break
        streak += 1
    if repeats >= _SAME_CALL_WITHDRAW or streak >= _ERROR_STREAK_WITHDRAW:
        reason = "the same call again and again" if repeats >= _SAME_CALL_WITHDRAW else "errors in a row"
        return Pressure(
            withdraw=True, reason=reason, nudge=f"Tools were withdrawn: {reason}. Answer with what you have."
        )
    if repeats >= _SAME_CALL_NUDGE:
        return Pressure(
            nudge="You already made this call; its result will not change. Do something else or answer."
        )
    if streak >= _ERROR_STREAK_NUDGE:
        return Pressure(
            nudge="Your last calls all failed. Read the suggestions, or answer with what you have."
        )
    return Pressure()


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
            if not refused or not _may_mend(turns, limits):
                return _ended(checked, refused, turns)
            nudge = f"Refused by the checker: {'; '.join(refused)}. {_MEND}"
        if any(call.state is CallState.unknown for turn in turns for call in turn.calls):
            turns = await journal.load()  # a person may have found out meanwhile
        press = pressure(turns, limits)
        view = _view(work, turns, tools, limits, press, nudge)
        turn = await brain.next_turn(view, on_text)
        if press.withdraw and turn.outcome is None:
            outcome = partial([*turns, DoneTurn(number=0, text=turn.text)], press.reason)
            turn = turn.model_copy(update={"calls": [], "outcome": outcome})
        nudge = ""
        turns.append(await journal.commit_turn(turn, len(turns) + 1))
        await announce(turns[-1])


def _may_mend(turns: list[DoneTurn], limits: Limits) -> bool:
    """Tell whether a refused outcome goes back: once, to a model, while turns are left."""
    refused_before = any(turn.outcome is not None for turn in turns[:-1])
    return not refused_before and not turns[-1].brain.startswith("routine") and len(turns) < limits.turns


def _view(
    work: Work, turns: list[DoneTurn], tools: list[str], limits: Limits, press: Pressure, nudge: str
) -> TurnView:
    return TurnView(
        work=work,
        turns=turns,
        tools=[] if press.withdraw else tools,
        turns_left=max(1, limits.turns - len(turns)),
        nudge=" ".join(filter(None, (nudge, press.nudge))),
    )


def _ended(checked: Outcome, refused: list[str], turns: list[DoneTurn]) -> Outcome:
    stripped = strip(checked, refused)
    return stripped.model_copy(update={"brain": turns[-1].brain, "usage": spent(turns)})
