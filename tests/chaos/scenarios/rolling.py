"""Rolling: every worker is asked to end and comes back, one after the other, while runs pass; nothing else goes wrong."""

from __future__ import annotations

from tests.chaos.checker import Verdict
from tests.chaos.plan import Act, Plan, mixed_runs
from tests.chaos.scenarios.play import Size, play
from tests.chaos.stage import Stage


async def rolling(stage: Stage, size: Size) -> Verdict:
    """Restart every worker under load; the checker wants all exit codes 0."""
    count, seconds = (12, 12.0) if size.short else (100, 60.0)
    runs = mixed_runs(size.seed, "rolling", count, seconds, calm=True)
    verdict = await play(stage, "rolling", Plan(size.seed, seconds, runs, [Act(1.0, "rolling")]), size.say)
    if verdict.terms == 0:
        verdict.broken.append("no worker was asked to end")
    return verdict
