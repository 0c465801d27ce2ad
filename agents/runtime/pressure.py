"""What presses on the next turn, pure: limits of turns, calls, tokens and money, loops, and errors in a row."""

from __future__ import annotations

import json

from agents.runtime.spec import DoneTurn
from kernel.contracts import Usage, Value

_ROUTINE = "routine"
#: The same call asked this often is a loop: first a nudge, then the tools go (issue: stopped within 8 turns).
_SAME_CALL_NUDGE = 2
_SAME_CALL_WITHDRAW = 3
#: A turn costs more than the one before, since it reads all of them: two of the next are about two and a half of it.
_TURNS_AHEAD = 2.5
_ERROR_STREAK_NUDGE = 3
_ERROR_STREAK_WITHDRAW = 5


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


def own_turns(turns: list[DoneTurn], name: str) -> list[DoneTurn]:
    """Return the turns that press on the next one: a routine costs nothing, and pays for no model before it."""
    routine = name == _ROUTINE or bool(turns and turns[-1].brain == _ROUTINE)
    return [turn for turn in turns if turn.brain == _ROUTINE] if routine else turns
