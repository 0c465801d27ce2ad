"""The notification agent's routine, pure: ask for the channels, send one message to each, report."""

from __future__ import annotations

from agents.notification.composition import compose
from agents.notification.outcome import NOTIFY, collect
from agents.notification.wording import words
from agents.runtime.spec import CallRequest, Turn, TurnView
from kernel.contracts import NotDone, Outcome

LIST_CHANNELS = "list_channels"


def routine(view: TurnView) -> Turn:
    """Return the next turn."""
    if view.calls(NOTIFY):
        return Turn(outcome=Outcome(answer=_answer(view)))
    if NOTIFY not in view.tools:
        return _nothing("the tool notify is not available here", view)
    channels = _channels(view)
    if channels is None:
        return Turn(text="Asking which channels there are.", calls=[CallRequest(tool=LIST_CHANNELS)])
    if not channels:
        return _nothing("no channel was named and none is configured by default", view)
    draft = compose(view.work).model_dump()
    calls = [CallRequest(tool=NOTIFY, arguments={"channel": channel, **draft}) for channel in channels]
    return Turn(text=f"Notifying {', '.join(channels)}.", calls=calls)


def _channels(view: TurnView) -> list[str] | None:
    """Return the channels to use, once each, or None where they must be asked for."""
    named = view.work.inputs.get("channels")
    if isinstance(named, str):
        named = [named]
    if not named:
        asked = view.calls(LIST_CHANNELS)
        if not asked and LIST_CHANNELS in view.tools:
            return None
        value = asked[-1].value if asked else None
        named = value.get("default") if isinstance(value, dict) else []
    return list(dict.fromkeys(map(str, named))) if isinstance(named, list) else []


def _nothing(why: str, view: TurnView) -> Turn:
    say = words(view.work)
    answer = say("Nobody was notified: {why}.", why=say(why))
    return Turn(outcome=Outcome(answer=answer, not_done=[NotDone(what="notify", why=why)]))


def _answer(view: TurnView) -> str:
    say = words(view.work)
    told = "{channel}: {state}{detail}."
    return " ".join(
        say(told, channel=o.channel, state=say.plain(o.state), detail=f" ({o.detail})" if o.detail else "")
        for o in collect(view.work, view.turns).notifications
    )
