"""An agent for tests that plays the script in the request, and writes all that its tools do to `marks.txt`.

A request's text is JSON: a list of turns, each a list of `[tool, arguments]`. The marks are what the world saw:
one line `<tool> <what> <begins|ends|done> <worker's pid> <key>` each, whatever becomes of the worker.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from dataclasses import replace
from typing import Any

from agents.runtime.spec import AgentSpec, CallRequest, Turn, TurnView
from agents.runtime.tools import Reconciled, ToolContext, tool
from kernel.contracts import Effect, Outcome
from kernel.errors import Retryable

LONG = 600.0


def mark(ctx: ToolContext, *words: str) -> None:
    line = " ".join((*words, str(os.getpid()), ctx.key))
    with (ctx.resources.settings.data / "marks.txt").open("a", encoding="utf-8") as marks:
        marks.write(f"{line}\n")


@tool(effect=Effect.keyed)
async def step(ctx: ToolContext, what: str) -> str:
    """Leave a mark in the world."""
    mark(ctx, "step", what, "done")
    return what


@tool(timeout=LONG)
async def wait(ctx: ToolContext, what: str, seconds: float) -> str:
    """Take long."""
    mark(ctx, "wait", what, "begins")
    await asyncio.sleep(seconds)
    mark(ctx, "wait", what, "ends")
    return what


@tool(timeout=LONG)
async def hog(ctx: ToolContext, what: str, seconds: float) -> str:
    """Hold the loop of the worker, without giving the CPU away."""
    mark(ctx, "hog", what, "begins")
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        sum(range(1000))
    mark(ctx, "hog", what, "ends")
    return what


def _block(ctx: ToolContext, what: str, seconds: float) -> str:
    mark(ctx, "block", what, "begins")
    time.sleep(seconds)  # what hangs here hears no cancel: it is a thread
    mark(ctx, "block", what, "ends")
    return what


@tool(timeout=LONG)
def block(ctx: ToolContext, what: str, seconds: float) -> str:
    """Block a thread."""
    return _block(ctx, what, seconds)


@tool(timeout=1.0)
def block_briefly(ctx: ToolContext, what: str, seconds: float) -> str:
    """Block a thread, though there is one second only."""
    return _block(ctx, what, seconds)


@tool(effect=Effect.probe, timeout=LONG)
async def send(ctx: ToolContext, what: str) -> str:
    """Send something that can be looked for."""
    mark(ctx, "send", what, "done")
    return what


async def _sent(ctx: ToolContext, arguments: dict[str, Any]) -> Reconciled:
    marks = (ctx.resources.settings.data / "marks.txt").read_text(encoding="utf-8")
    return Reconciled(happened=f"send {arguments['what']} done" in marks, value="seen in the world")


@tool(effect=Effect.keyed)
async def risky(ctx: ToolContext, what: str) -> str:
    """Leave a mark that a person must agree to."""
    mark(ctx, "risky", what, "done")
    return what


@tool(timeout=LONG)
async def poison(ctx: ToolContext, what: str) -> str:
    """End the worker, as the kernel does that runs out of memory."""
    mark(ctx, "poison", what, "begins")
    os.kill(os.getpid(), signal.SIGKILL)
    return what


@tool(timeout=LONG)
async def unreachable(ctx: ToolContext, what: str) -> str:
    """Fail as a network does."""
    raise Retryable(f"no route to {what}")


def routine(view: TurnView) -> Turn:
    """Take the next turn of the script; after the last one, answer."""
    turns = json.loads(view.work.request)
    if len(view.turns) < len(turns):
        return Turn(calls=[CallRequest(tool=name, arguments=told) for name, told in turns[len(view.turns)]])
    return Turn(outcome=Outcome(answer="played"))


TOOLS = [
    step,
    wait,
    hog,
    block,
    block_briefly,
    replace(send, reconcile=_sent),
    replace(risky, risk="high"),
    poison,
    unreachable,
]

AGENT = AgentSpec(
    name="symptomatic",
    purpose="plays scripts",
    prompt="Play.",
    routine=routine,
    tools=lambda _: TOOLS,
    max_turns=40,
)
