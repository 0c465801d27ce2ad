"""An agent for tests that sleeps two seconds in a tool, or fails where its goal says so."""

from __future__ import annotations

import asyncio

from agents.runtime.spec import AgentSpec, CallRequest, Turn, TurnView
from agents.runtime.tools import ToolContext, tool
from kernel.contracts import Outcome
from kernel.errors import Fatal

SECONDS = 2.0


@tool()
async def nap(ctx: ToolContext) -> str:
    """Sleep for two seconds."""
    await asyncio.sleep(SECONDS)
    return "rested"


def routine(view: TurnView) -> Turn:
    """Nap once, then answer or fail."""
    if not view.turns:
        return Turn(calls=[CallRequest(tool="nap")])
    if view.work.goal == "fail":
        raise Fatal("this part is broken", next_step="Mend it.")
    return Turn(outcome=Outcome(answer=f"{view.work.goal}: {view.turns[0].calls[0].value}"))


AGENT = AgentSpec(name="sleeper", purpose="sleeps", prompt="", routine=routine, tools=lambda _: [nap])
