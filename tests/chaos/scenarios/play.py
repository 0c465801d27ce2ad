"""What all scenarios share: runs live through it, the monkey plays, people decide, everything ends, the checker judges."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.checker import Verdict, judge
from tests.chaos.crowd import Crowd
from tests.chaos.evidence import gather
from tests.chaos.exits import exits
from tests.chaos.monkey import Monkey
from tests.chaos.plan import Plan, RunSpec
from tests.chaos.pulse import pulse
from tests.chaos.roles import ready_times, vacancies
from tests.chaos.stage import Stage

Say = Callable[[str], None]

_TELL_SECONDS = 5.0


@dataclass(frozen=True)
class Size:
    """How big a chaos run is."""

    runs: int
    seconds: float
    seed: int
    say: Say
    #: A short chaos leaves out what takes long.
    short: bool = False


def write_down(folder: Path, scenario: str, plan: Plan) -> None:
    """Keep a plan before anything of it is done."""
    place = folder / scenario
    place.mkdir(parents=True, exist_ok=True)
    (place / "plan.json").write_text(json.dumps(plan.as_json(), indent=1), encoding="utf-8")


@asynccontextmanager
async def people(stage: Stage) -> AsyncIterator[Crowd]:
    """Have people decide about what waits while the block runs."""
    crowd = Crowd(stage)
    deciding = asyncio.create_task(crowd.decide_for_ever())
    try:
        async with pulse(stage) as crowd.outages:
            yield crowd
    finally:
        deciding.cancel()
        with suppress(asyncio.CancelledError):
            await deciding


async def play(stage: Stage, scenario: str, plan: Plan, say: Say) -> Verdict:
    """Live through a plan and judge it."""
    write_down(stage.folder, scenario, plan)
    began = time.monotonic()
    monkey = Monkey(stage)
    async with people(stage) as crowd:
        playing = asyncio.create_task(monkey.play(plan.acts, began))
        living = asyncio.create_task(crowd.live(plan.runs, began))
        lasts = began + plan.seconds
        while not living.done() or (time.monotonic() < lasts and not playing.done()):
            await asyncio.wait({living}, timeout=_TELL_SECONDS)
            if living.done():
                await asyncio.sleep(min(_TELL_SECONDS, max(lasts - time.monotonic(), 0.0)))
            say(f"{time.monotonic() - began:.0f} s: {_so_far(crowd, monkey)}")
        await living
        await monkey.stop(playing)
        await crowd.until_ended(say)
    return await verdict_on(stage, scenario, plan.runs, crowd, monkey, seconds=time.monotonic() - began)


def _so_far(crowd: Crowd, monkey: Monkey) -> str:
    return f"{len(crowd.submitted)} submitted, {len(monkey.deeds)} deeds"


async def verdict_on(
    stage: Stage, scenario: str, specs: Sequence[RunSpec], crowd: Crowd, monkey: Monkey, *, seconds: float
) -> Verdict:
    """Gather what a scenario left behind and judge it."""
    logs, deeds = stage.settings.data / "logs", monkey.as_json()
    vacant = vacancies(deeds, ready_times(logs), time.time())
    evidence = await gather(
        stage,
        scenario,
        specs,
        submitted=crowd.submitted,
        cancelled=crowd.cancelled,
        deeds=deeds,
        outages=sorted([*crowd.outages, *vacant]),
        exits=exits(logs / "supervisord.log"),
    )
    verdict = judge(evidence)
    verdict.seconds = round(seconds, 1)
    verdict.broken += crowd.broken
    return verdict
