"""Cancel: from the word to the model's closed socket, and to the end of a program's whole process group."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from typing import Any

from sqlmodel import select

from agents.runtime.processes import GRACE_SECONDS
from coordinator.cli.supervision import alive
from kernel.records import CallRow
from tests.chaos.checker import Verdict, percentile
from tests.chaos.crowd import Crowd
from tests.chaos.monkey import Monkey
from tests.chaos.plan import Plan, RunSpec, run_id
from tests.chaos.scenarios.play import Size, people, verdict_on, write_down
from tests.chaos.stage import Stage

#: Issue 3, item 4; a program that ignores TERM has its grace on top.
SOCKET_P95, SOCKET_MOST, GROUP_MOST = 0.2, 1.0, 2.0
_PATIENCE_SECONDS = 60.0
_SIDE_BY_SIDE = 4


async def cancel(stage: Stage, size: Size) -> Verdict:
    """Cancel runs while their model streams, and runs while their program sleeps."""
    sockets, programs = (6, 4) if size.short else (24, 10)
    runs = [
        RunSpec(run_id(size.seed, "cancel", n), 0, "slow", text=f"number-{n}-", brain="model")
        for n in range(sockets)
    ]
    runs += [
        RunSpec(run_id(size.seed, "cancel", sockets + n), 0, ("act-sleep", "act-stubborn")[n % 2])
        for n in range(programs)
    ]
    write_down(stage.folder, "cancel", Plan(size.seed, 0, runs))
    began = time.monotonic()
    closed: list[float] = []
    gone: list[tuple[str, float]] = []
    async with people(stage) as crowd:
        some = asyncio.Semaphore(_SIDE_BY_SIDE)

        async def one(spec: RunSpec) -> None:
            async with some:
                if spec.kind == "slow":
                    closed.append(await _until_closed(stage, crowd, spec))
                else:
                    gone.append((spec.kind, await _until_gone(stage, crowd, spec)))

        await asyncio.gather(*(one(spec) for spec in runs))
        await crowd.until_ended(size.say)
    verdict = await verdict_on(stage, "cancel", runs, crowd, Monkey(stage), seconds=time.monotonic() - began)
    verdict.cancel_socket, verdict.cancel_child = closed, [seconds for _, seconds in gone]
    verdict.broken += _broken(closed, gone, short=size.short)
    return verdict


def _broken(closed: list[float], gone: list[tuple[str, float]], *, short: bool) -> list[str]:
    found = [
        f"the process group of {kind} was gone only after {seconds:.2f} s"
        for kind, seconds in gone
        if seconds > GROUP_MOST + (GRACE_SECONDS if kind == "act-stubborn" else 0)
    ]
    if not closed or max(closed) > SOCKET_MOST:
        found.append(f"a model's socket was closed only after {max(closed, default=0):.2f} s")
    # of six a p95 is the worst, which a busy machine decides
    if not short and percentile(closed, 0.95) > SOCKET_P95:
        found.append(f"cancel to the closed socket: p95 {percentile(closed, 0.95) * 1000:.0f} ms")
    return found


async def _until_closed(stage: Stage, crowd: Crowd, spec: RunSpec) -> float:
    """Cancel a run once its model streams; return the seconds until the server saw the client leave."""
    await crowd.submit(spec)

    def asked() -> Any:
        return next((r["number"] for r in stage.model.requests if spec.text in json.dumps(r["body"])), None)

    def left() -> Any:
        return next((end["at"] for end in stage.model.ends if end["number"] == number), None)

    number = await _until(asked, f"the model's request of {spec.id}")
    said = await crowd.cancel(spec.id)
    assert said is not None, f"{spec.id} ended before it could be cancelled"
    return float(await _until(left, f"the end of the model's answer to {spec.id}")) - said


async def _until_gone(stage: Stage, crowd: Crowd, spec: RunSpec) -> float:
    """Cancel a run once its program sleeps; return the seconds until no process of its group is left."""
    await crowd.submit(spec)

    def key() -> Any:
        with stage.parts.store.database.reading() as session:
            return session.exec(select(CallRow.key).where(CallRow.run_id == spec.id)).first()

    def told() -> Any:
        return next(
            (line["tool"].split() for line in stage.world.lines() if line["key"] == f"alive:{found}"), None
        )

    found = await _until(key, f"the call of {spec.id}")
    pids = [int(pid) for pid in await _until(told, f"the program of {spec.id}")]
    said = await crowd.cancel(spec.id)
    assert said is not None, f"{spec.id} ended before it could be cancelled"
    await _until(lambda: not any(alive(pid) for pid in pids), f"the end of the processes {pids}")
    return time.monotonic() - said


async def _until(found: Callable[[], Any], what: str) -> Any:
    """Look until something is found."""
    give_up = time.monotonic() + _PATIENCE_SECONDS
    while not (value := await asyncio.to_thread(found)):
        if time.monotonic() > give_up:
            raise TimeoutError(f"{what} did not come within {_PATIENCE_SECONDS:.0f} s")
        await asyncio.sleep(0.02)
    return value
