"""What became of each action, pure: read from the journal, never from what a brain wrote."""

from __future__ import annotations

from agents.runtime.spec import DoneCall, DoneTurn
from kernel.contracts import ActionOutcome, NotDone, Outcome, Work
from kernel.states import CallState

#: What the runtime gives every agent besides its own tools.
_NO_ACTIONS = frozenset({"read_artifact"})


def collect(work: Work, turns: list[DoneTurn]) -> Outcome:
    """Return the actions of an assignment with their states, and the reason for each that is not done."""
    calls = [call for turn in turns for call in turn.calls if call.tool not in _NO_ACTIONS]
    actions = [_action(call) for call in calls]
    return Outcome(
        actions=actions,
        not_done=[
            NotDone(what=described(action), why=action.detail or action.state)
            for action in actions
            if action.state != CallState.done or action.verified is False
        ],
    )


def described(action: ActionOutcome) -> str:
    """Return an action with its parameters in one line."""
    parameters = ", ".join(f"{name}={value}" for name, value in action.parameters.items())
    return f"{action.name}({parameters})"


def _action(call: DoneCall) -> ActionOutcome:
    value = call.value if isinstance(call.value, dict) else {}
    state, detail = call.state.value, str(value.get("verify_detail", ""))
    if call.state is CallState.done:
        # without its state (a result too large to show whole) nobody may call it done
        state = str(value.get("state", CallState.unknown.value))
        detail = detail or str(value.get("note", ""))
    elif call.error:
        said = (call.error.get("message", "").rstrip("."), call.error.get("suggestion"))
        detail = ". ".join(filter(None, said))
    argv, verified = value.get("argv"), value.get("verified")
    return ActionOutcome(
        name=call.tool,
        argv=[str(part) for part in argv] if isinstance(argv, list) else [],
        state=state,
        verified=verified if isinstance(verified, bool) else None,
        detail=detail,
        call_id=call.id,
        parameters=call.arguments,
    )
