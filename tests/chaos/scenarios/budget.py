"""Budget: many runs at once against one cap of model calls, with kills and a Redis that dies; the provider counts."""

from __future__ import annotations

import json

from tests.chaos.checker import Verdict
from tests.chaos.plan import Act, Plan, RunSpec, run_id
from tests.chaos.scenarios.play import Size, play
from tests.chaos.stage import CAP, CAPPED, Stage

#: Each wants a call for each of its turns, several times the cap together.
_RUNS = 40
#: The other one goes on, so that the cap is wanted all the while.
_VICTIM = "worldly-2"


async def budget(stage: Stage, size: Size) -> Verdict:
    """Spend a budget from all sides."""
    runs = [
        RunSpec(run_id(size.seed, "budget", n), 0.05 * n, "hungry", brain="model", namespace=CAPPED)
        for n in range(_RUNS)
    ]
    acts = [Act(1.0 + 3 * n, "kill", _VICTIM) for n in range(4)]
    acts.append(Act(4.0, "redis_kill"))
    plan = Plan(size.seed, 10, runs, sorted(acts, key=lambda act: act.at))
    verdict = await play(stage, "budget", plan, size.say)
    asked = sum("chaos hungry" in json.dumps(request["body"]) for request in stage.model.requests)
    verdict.budget_over = max(0, asked - CAP)
    verdict.notes.append(f"{_RUNS} runs at once made {asked} model calls of {CAP}")
    if not asked:
        verdict.broken.append("the model was never asked")
    return verdict
