"""Recovery: a worker that holds work gets kill -9 while its twin lives, again and again; then Redis, with 20 runs in flight."""

from __future__ import annotations

import asyncio
import time

from tests.chaos.checker import Verdict, judge_recovery
from tests.chaos.crowd import Crowd
from tests.chaos.monkey import Monkey
from tests.chaos.plan import Plan, RunSpec, run_id
from tests.chaos.scenarios.play import Size, people, verdict_on, write_down
from tests.chaos.stage import Stage

#: Issue 3, item 3, for the profile `fast`.
SECONDS_P95 = 5.0
_PATIENCE_SECONDS = 60.0
_EACH = 5
_IN_FLIGHT = 20
_WORKERS = ("worldly", "worldly-2")


async def recovery(stage: Stage, size: Size) -> Verdict:
    """Kill whoever holds work, one at a time, then Redis; measure how soon it goes on."""
    kills = 2 if size.short else 8
    runs = [_spec(size.seed, n, "stall=3 keyed+probe") for n in range(kills * _EACH)]
    flying = [_spec(size.seed, len(runs) + n, "stall=1 keyed probe") for n in range(_IN_FLIGHT)]
    write_down(stage.folder, "recovery", Plan(size.seed, 0, [*runs, *flying]))
    began, monkey = time.monotonic(), Monkey(stage)
    async with people(stage) as crowd:
        for at in range(kills):
            await _kill_who_holds(crowd, monkey, _WORKERS[at % 2], runs[at * _EACH : (at + 1) * _EACH])
            size.say(f"{at + 1} of {kills} workers killed that held work")
        for spec in flying:
            await crowd.submit(spec)
        await monkey.strike("redis_kill", "redis")
        await crowd.until_ended(size.say)
    verdict = await verdict_on(
        stage, "recovery", [*runs, *flying], crowd, monkey, seconds=time.monotonic() - began
    )
    verdict.broken += judge_recovery(verdict.recovery, most=SECONDS_P95)
    return verdict


def _spec(seed: int, number: int, steps: str) -> RunSpec:
    return RunSpec(run_id(seed, "recovery", number), 0, "steps", steps=steps)


async def _kill_who_holds(crowd: Crowd, monkey: Monkey, victim: str, specs: list[RunSpec]) -> None:
    """Submit until the victim holds something, kill it then, and wait until it is back and those runs have ended."""
    await monkey.ready(victim)
    for spec in specs:
        await crowd.submit(spec)
    give_up = time.monotonic() + _PATIENCE_SECONDS
    while not await monkey.holds(victim):
        if time.monotonic() > give_up or not await crowd.open_runs():
            return  # its twin took all of them
        await asyncio.sleep(0.05)
    await monkey.strike("kill", victim)
    await crowd.until_ended(lambda _: None)
    await monkey.ready(victim)
