"""Long: a tool that takes longer than every lease and visibility time-out in force runs once, however often one rings."""

from __future__ import annotations

import asyncio
import time

from tests.chaos.checker import Verdict
from tests.chaos.monkey import Monkey
from tests.chaos.plan import Plan, RunSpec, run_id
from tests.chaos.scenarios.play import Size, people, verdict_on, write_down
from tests.chaos.scenarios.ringing import ring_all
from tests.chaos.stage import Stage

#: The visibility time-out (kernel/broker.py) is 60 s; kombu restores at most 5 s later.
SECONDS = 75
_RING_SECONDS = 5.0


async def long(stage: Stage, size: Size) -> Verdict:
    """Run a few long tools, and ring for them all the while."""
    runs = [
        RunSpec(run_id(size.seed, "long", n), 0, "long", steps=f"long={SECONDS}", deadline=SECONDS * 3)
        for n in range(4)
    ]
    write_down(stage.folder, "long", Plan(size.seed, SECONDS, runs))
    began = time.monotonic()
    async with people(stage) as crowd:
        await crowd.live(runs, began)
        while time.monotonic() < began + SECONDS:
            await asyncio.sleep(_RING_SECONDS)
            await ring_all(stage, runs)
            size.say(f"{time.monotonic() - began:.0f} s of {SECONDS} s of a long tool")
        await crowd.until_ended(size.say)
    verdict = await verdict_on(stage, "long", runs, crowd, Monkey(stage), seconds=time.monotonic() - began)
    if verdict.states != {"succeeded": len(runs)}:
        verdict.broken.append(f"long runs ended as {verdict.states}")
    if verdict.effects != 2 * len(runs):  # each said that it began, and made its effect, once
        verdict.broken.append(f"{len(runs)} long tools left {verdict.effects} marks in the world")
    return verdict
