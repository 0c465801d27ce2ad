"""The worldly agent's routine, pure: the calls that the label `steps` names, turn by turn, then the end."""

from __future__ import annotations

from agents.runtime.spec import CallRequest, DoneTurn, Turn, TurnView
from kernel.contracts import ActionOutcome, Effect, Outcome, Work

_EFFECTS = {effect.value for effect in Effect if effect is not Effect.read} | {"long"}


def routine(view: TurnView) -> Turn:
    """Return the next turn: `keyed+read probe` is two turns, the first with two calls side by side."""
    steps = view.work.labels.get("steps", "read").split()
    number = len([turn for turn in view.turns if turn.calls])
    if number >= len(steps):
        return Turn(outcome=Outcome(answer=f"{number} turns were taken"))
    part = view.work.goal.split()[-1]
    calls = [_call(name, f"{part}-{number}-{at}") for at, name in enumerate(steps[number].split("+"))]
    return Turn(text=f"turn {number + 1} of {len(steps)}", calls=calls)


def _call(name: str, what: str) -> CallRequest:
    name, _, seconds = name.partition("=")
    return CallRequest(
        tool=name, arguments={"what": what, **({"seconds": float(seconds)} if seconds else {})}
    )


def collect(work: Work, turns: list[DoneTurn]) -> Outcome:
    """Return what the journal says of each effect."""
    return Outcome(
        actions=[
            ActionOutcome(name=call.tool, state=call.state.value, call_id=call.id, parameters=call.arguments)
            for turn in turns
            for call in turn.calls
            if call.tool in _EFFECTS
        ]
    )
