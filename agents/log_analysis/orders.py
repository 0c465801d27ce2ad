"""Orders that stand in logs, pure: the report says where lines are shaped like instructions, which nobody followed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agents.log_analysis.wording import words
from agents.runtime.spec import TurnView
from kernel.contracts import NotDone
from kernel.orders import shaped_like_instruction
from kernel.states import CallState

#: Places told of; a log that is one long order is no longer a list of them.
_TOLD = 3


def not_followed(view: TurnView) -> list[NotDone]:
    """Return a note for the lines shown so far that are shaped like instructions: people may ask who wrote them."""
    say = words(view)
    shown = {
        f"{line['source']}:{line['line']}": str(line.get("quote", ""))
        for line in _shown(view)
        if "source" in line and "line" in line
    }
    places = [place for place, quote in shown.items() if shaped_like_instruction(quote)]
    why = "shaped like an instruction: read as data, and not followed"
    return [
        NotDone(what=say("orders in a log: {place}", place=place), why=say(why)) for place in places[:_TOLD]
    ]


def _shown(view: TurnView) -> Iterator[dict[str, Any]]:
    for call in view.calls():
        if call.state == CallState.done and isinstance(call.value, dict):
            yield from call.value.get("hits", [])
            yield from (one.get("first", {}) for one in call.value.get("problems", []))
