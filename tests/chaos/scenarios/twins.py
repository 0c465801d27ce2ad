"""Twins: two beats, two reconcilers, two coordinators, and every doorbell rung again and again: nothing happens twice."""

from __future__ import annotations

import asyncio
import json
import time
from datetime import datetime

from tests.chaos.checker import Verdict
from tests.chaos.monkey import Monkey
from tests.chaos.plan import Plan, mixed_runs
from tests.chaos.scenarios.play import Size, people, verdict_on, write_down
from tests.chaos.scenarios.ringing import ring_all
from tests.chaos.stage import Stage

_RING_SECONDS = 0.5
_SENT = "Sending due task reconcile "
#: Two beats that both lead would send twice as much as one; a late tick may come beside the next.
_MOST_TICKS = 1.4


async def twins(stage: Stage, size: Size) -> Verdict:
    """Let runs pass while everything is rung for by several."""
    count, seconds = (8, 6.0) if size.short else (40, 20.0)
    runs = mixed_runs(size.seed, "twins", count, seconds, calm=True)
    write_down(stage.folder, "twins", Plan(size.seed, seconds, runs))
    began, since, rung = time.monotonic(), time.time(), 0
    async with people(stage) as crowd:
        living = asyncio.create_task(crowd.live(runs, began))
        while not living.done() or time.monotonic() < began + seconds:
            rung += await ring_all(stage, runs)
            await asyncio.sleep(_RING_SECONDS)
        await living
        ending = asyncio.create_task(crowd.until_ended(size.say))
        while not ending.done():
            rung += await ring_all(stage, runs)
            await asyncio.wait({ending}, timeout=_RING_SECONDS)
    verdict = await verdict_on(stage, "twins", runs, crowd, Monkey(stage), seconds=time.monotonic() - began)
    ticks = _ticks(stage, since) / max(verdict.seconds, 1.0) * stage.settings.reconcile_seconds
    verdict.notes.append(f"{rung} needless rings; {ticks:.2f} ticks of beat for each one that is due")
    if ticks > _MOST_TICKS:
        verdict.broken.append(f"two beats send: {ticks:.2f} ticks for each one that is due")
    return verdict


def _ticks(stage: Stage, since: float) -> int:
    lines = []
    for name in ("beat", "beat-2"):
        log = stage.settings.data / "logs" / f"{name}.log"
        lines += log.read_text(encoding="utf-8", errors="replace").splitlines()
    told = [json.loads(line) for line in lines if _SENT in line and line.startswith("{")]
    return sum(datetime.fromisoformat(line["timestamp"]).timestamp() >= since for line in told)
