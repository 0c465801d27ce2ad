"""The bench's agent: one tool that does nothing, and a routine that calls it once."""

from __future__ import annotations

from agents.runtime.spec import AgentSpec, CallRequest, Turn, TurnView
from agents.runtime.tools import ToolContext, tool
from kernel.contracts import Outcome


@tool()
async def nothing(ctx: ToolContext) -> str:
    """Do nothing. Use it to measure what everything around a tool costs.

    Example: nothing()
    """
    return "done"


def routine(view: TurnView) -> Turn:
    """Return the one call, then the end."""
    if view.calls():
        return Turn(outcome=Outcome(answer="nothing was done"))
    return Turn(calls=[CallRequest(tool="nothing")])


AGENT = AgentSpec(
    name="noop",
    purpose="Does nothing, once; the bench measures what surrounds it.",
    prompt="Call the tool once, then answer.",
    routine=routine,
    tools=lambda _settings: [nothing],
)
