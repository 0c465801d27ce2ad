"""The pulse: whether the truth takes a write and Redis an answer, felt by the harness itself while a scenario is played."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

from kernel.errors import NightdeskError
from tests.chaos.stage import Stage

_EVERY_SECONDS = 0.25
#: A write that takes longer than this was kept waiting; alone it takes a few milliseconds.
_SLOW_SECONDS = 0.25

Outage = tuple[float, float]


@asynccontextmanager
async def pulse(stage: Stage) -> AsyncIterator[list[Outage]]:
    """Yield the outages so far, from and to, in epoch seconds: nobody could have written then, or asked Redis."""
    outages: list[Outage] = []
    beating = asyncio.create_task(_beat(stage, outages))
    try:
        yield outages
    finally:
        beating.cancel()
        with suppress(asyncio.CancelledError):
            await beating


async def _beat(stage: Stage, outages: list[Outage]) -> None:
    while True:
        began = time.time()
        well = await _felt(stage)
        if not well or time.time() - began > _SLOW_SECONDS:
            outages.append((began, time.time()))
        await asyncio.sleep(_EVERY_SECONDS)


async def _felt(stage: Stage) -> bool:
    try:
        await asyncio.to_thread(_write, stage)
        await stage.parts.events.first("pulse")
    except NightdeskError:
        return False
    return True


def _write(stage: Stage) -> None:
    with stage.parts.store.database.writing("chaos.pulse"):
        pass  # the lock is what we ask for


def overlap(outages: Sequence[Outage], since: float, until: float) -> float:
    """Return for how long of a span there was an outage; two at once count once."""
    total, reached = 0.0, since
    for start, end in sorted(outages):
        start, end = max(start, reached), min(end, until)  # noqa: PLW2901 what is left of it
        total += max(0.0, end - start)
        reached = max(reached, end)
    return total
