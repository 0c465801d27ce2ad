"""What became of each message, pure: read from the journal, never from what a brain wrote."""

from __future__ import annotations

from typing import Literal, get_args

from agents.runtime.spec import DoneCall, DoneTurn
from kernel.contracts import NotDone, NotificationOutcome, Outcome, Work
from kernel.states import CallState

NOTIFY = "notify"

State = Literal["sent", "failed", "skipped", "unknown"]

_STATES: tuple[State, ...] = get_args(State)

_BY_CALL_STATE: dict[CallState, State] = {
    CallState.failed: "failed",
    CallState.denied: "failed",
    CallState.unknown: "unknown",
}


def collect(work: Work, turns: list[DoneTurn]) -> Outcome:
    """Return one outcome per channel, and the reason for each message that was not sent."""
    by_channel: dict[str, NotificationOutcome] = {}
    for call in (call for turn in turns for call in turn.calls if call.tool == NOTIFY):
        found = _outcome(call)
        # a later call says more than an earlier one, but nothing undoes `sent`
        known = by_channel.get(found.channel)
        if known is None or known.state != "sent":
            by_channel[found.channel] = found
    outcomes = list(by_channel.values())
    if not outcomes and turns and turns[-1].brain.startswith("model"):
        # a routine says itself why it told nobody; a model may just forget
        return Outcome(not_done=[NotDone(what="tell the channels", why="no message was sent")])
    return Outcome(
        notifications=outcomes,
        not_done=[
            NotDone(what=f"notify {outcome.channel}", why=outcome.detail or outcome.state)
            for outcome in outcomes
            if outcome.state != "sent"
        ],
    )


def _outcome(call: DoneCall) -> NotificationOutcome:
    value = call.value if isinstance(call.value, dict) else {}
    channel = str(call.arguments.get("channel", "") or "unnamed")
    if call.state is CallState.done:
        state = next((known for known in _STATES if known == value.get("state")), "unknown")
        return NotificationOutcome(channel=channel, state=state, detail=str(value.get("detail", "")))
    error = call.error or {}
    detail = " ".join(filter(None, (error.get("message"), error.get("suggestion"))))
    return NotificationOutcome(
        channel=channel,
        state=_BY_CALL_STATE.get(call.state, "unknown"),
        detail=detail or f"the call is {call.state.value}",
    )
