"""The action agent's routine, pure: the one action that the plan or a trusted memory names, then the end."""

from __future__ import annotations

from typing import Any

from agents.action_execution.outcome import collect, described
from agents.action_execution.wording import words
from agents.runtime.spec import CallRequest, Turn, TurnView
from kernel.contracts import ActionOutcome, MemoryHit, NotDone, Outcome
from kernel.states import CallState
from kernel.wording import Words

#: Of an action's output in the answer; the call keeps more.
_SHOWN_CHARACTERS = 2000


def routine(view: TurnView) -> Turn:
    """Return the call of the named action, or the outcome once it was made or cannot be."""
    name, parameters, memory = _wanted(view)
    say = words(view.work)
    cited = [memory.id] if memory else []
    if view.calls():
        return Turn(outcome=Outcome(answer=_answer(view), cited_memories=cited))
    if not name:
        return _not_done("an action", say("no action was named"), say)
    if name not in view.tools:
        known = ", ".join(view.tools) or say("none")
        return _not_done(name, say("there is no such action here; known actions: {known}", known=known), say)
    source = f" (as memory {memory.id} says)" if memory else ""
    return Turn(text=f"Running {name}{source}.", calls=[CallRequest(tool=name, arguments=parameters)])


def _wanted(view: TurnView) -> tuple[str, dict[str, Any], MemoryHit | None]:
    named = view.work.inputs.get("action")
    if isinstance(named, str) and named:
        return named, _mapping(view.work.inputs.get("parameters")), None
    for memory in view.work.memories:
        remembered = memory.slots.get("action")
        if memory.tier == "high" and isinstance(remembered, str) and remembered:
            return remembered, _mapping(memory.slots.get("parameters")), memory
    return "", {}, None


def _mapping(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, dict) else {}


def _not_done(what: str, why: str, say: Words) -> Turn:
    answer, not_done = say("Nothing was run: {why}.", why=why), [NotDone(what=what, why=why)]
    return Turn(outcome=Outcome(answer=answer, not_done=not_done, achieved=False))


def _answer(view: TurnView) -> str:
    say = words(view.work)
    parts = [" ".join(_sentence(action, say) for action in collect(view.work, view.turns).actions)]
    for call in view.calls():
        said = call.value.get("output_head", "") if isinstance(call.value, dict) else ""
        if call.state is CallState.done and call.value.get("verified") is None and said.strip():
            # nothing verifies a look at the world: what it showed is the answer
            shown = said.rstrip().lstrip("\n")[
                :_SHOWN_CHARACTERS
            ]  # blanks before the first line align its columns
            parts.append(f"```\n{shown}\n```")
    return "\n\n".join(parts)


def _sentence(action: ActionOutcome, say: Words) -> str:
    what = described(action)
    if action.state != CallState.done:
        why = (action.detail or say("no reason given")).rstrip(".")
        return say("{what} ended as {state}: {detail}.", what=what, state=say.plain(action.state), detail=why)
    if action.verified is None:
        return say("{what} was run; nothing verifies it.", what=what)
    seen = "verified" if action.verified else "NOT verified"
    return say(f"{{what}} was run and is {seen}: {{detail}}.", what=what, detail=action.detail)
