"""Judgement of outcomes: each claim is read again at its source; what a part that may not go on has found."""

from __future__ import annotations

from agents.runtime.evidence import LineReader, check, strip
from agents.runtime.loop import cut_off
from agents.runtime.spec import AgentSpec, DoneTurn, TurnView
from agents.runtime.tools import Resources, ToolContext
from kernel.contracts import Outcome, Work
from kernel.errors import NightdeskError


async def judged(
    spec: AgentSpec, work: Work, resources: Resources, outcome: Outcome
) -> tuple[Outcome, list[str]]:
    """Return the outcome as the checker leaves it, and what was refused."""
    served = {memory.id for memory in work.memories}
    return await check(outcome, read=_reader(spec, work, resources), served=served)


async def what_there_is(
    spec: AgentSpec, work: Work, resources: Resources, turns: list[DoneTurn], reason: str
) -> Outcome:
    """Return what a part came to that may not go on; its routine costs nothing, and reads findings off the journal."""
    found = spec.routine(TurnView(work=work, turns=turns, turns_left=1)).outcome
    if found is None or not found.findings:
        return cut_off(turns, reason)
    return cut_off(turns, reason, strip(*await judged(spec, work, resources, found)))


def _reader(spec: AgentSpec, work: Work, resources: Resources) -> LineReader | None:
    if (read_line := spec.read_line) is None:
        return None
    context = ToolContext(work=work, resources=resources)

    async def read(source: str, line: int) -> str | None:
        try:
            return await read_line(context, source, line)
        except NightdeskError:
            return None  # a source that cannot be read proves nothing

    return read
