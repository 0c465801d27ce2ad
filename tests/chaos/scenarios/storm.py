"""Storm: a mix of runs while workers die every 2 s, Redis restarts every 30 s, zombies wake and a rolling restart passes."""

from __future__ import annotations

from tests.chaos.checker import Verdict
from tests.chaos.plan import Plan, mixed_runs, storm_acts
from tests.chaos.scenarios.play import Size, play
from tests.chaos.stage import Stage


async def storm(stage: Stage, size: Size) -> Verdict:
    """Let it storm; afterwards everything has ended, and nothing happened twice."""
    plan = Plan(
        seed=size.seed,
        seconds=size.seconds,
        runs=mixed_runs(size.seed, "storm", size.runs, size.seconds),
        acts=storm_acts(size.seed, size.seconds, stage.workers, rolling=not size.short),
    )
    return await play(stage, "storm", plan, size.say)
