"""Storm: a mix of runs while workers die every 2 s, Redis restarts every 30 s, zombies wake and a rolling restart passes."""

from __future__ import annotations

from tests.chaos.checker import Verdict
from tests.chaos.plan import Plan, mixed_runs, storm_acts
from tests.chaos.scenarios.play import Size, play
from tests.chaos.stage import Stage

#: The plan has acts for so many times its length: on a busy machine the runs take longer, and the storm goes on.
_LONGER = 6


async def storm(stage: Stage, size: Size) -> Verdict:
    """Let it storm; afterwards everything has ended, and nothing happened twice."""
    plan = Plan(
        seed=size.seed,
        seconds=size.seconds,
        runs=mixed_runs(size.seed, "storm", size.runs, size.seconds),
        acts=storm_acts(size.seed, size.seconds, stage.workers, rolling=not size.short, longer=_LONGER),
    )
    return await play(stage, "storm", plan, size.say)
