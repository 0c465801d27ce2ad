"""The world of the fault tests: a file of effects, agents whose tools write it, and a catalogue action that does."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from agents.catalog import load
from agents.runtime.spec import AgentSpec, CallRequest, Turn, TurnView
from agents.runtime.tools import Reconciled, ToolContext, tool
from kernel.contracts import Effect, Outcome
from tests.support.little_desk import spec

PROGRAM = """
import os, sys
world, mode, key = sys.argv[1:]
if mode == "look":
    seen = os.path.exists(world) and any(line.split()[1] == key for line in open(world))
    sys.exit(0 if seen else 1)
with open(world, "a") as out:
    out.write(f"action {key}\\n")
"""
ACTION = """
actions:
  - name: mark_world
    description: Write a line into the world.
    parameters: {{type: object, properties: {{}}, additionalProperties: false}}
    argv: ["{{python}}", {program}, {world}, "mark", "{{key}}"]
    effect: probe
    risk: high
    target: "file:world"
    timeout: 20
    probe: {{argv: ["{{python}}", {program}, {world}, "look", "{{key}}"]}}
    examples: {{accept: [{{}}], refuse: [{{x: 1}}]}}
"""


class World:
    """A file of lines `<effect> <key>`, appended under a lock; what a dead process wrote stays."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "world.txt"

    def apply(self, effect: str, key: str, *, once: bool = False) -> None:
        """Append an effect; with `once` the world drops a repeat of its key, as a keyed API does."""
        with self.path.open("a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            if once and key in {line.split()[1] for line in file}:
                return
            file.write(f"{effect} {key}\n")
            file.flush()

    def lines(self) -> list[tuple[str, str]]:
        """Return the effects so far, oldest first."""
        text = self.path.read_text(encoding="utf-8") if self.path.exists() else ""
        return [(line.split()[0], line.split()[1]) for line in text.splitlines()]

    def happened(self, key: str) -> bool:
        """Tell whether an effect was seen."""
        return key in {seen for _, seen in self.lines()}


def agents(folder: Path) -> list[AgentSpec]:
    """Return the worker that uses every effect class, one that hangs, one that breaks, and the desk's own agents."""
    world = World(folder)

    @tool(effect=Effect.read)
    async def look(ctx: ToolContext) -> str:
        """Look."""
        return "seen"

    @tool(effect=Effect.idempotent)
    async def assure(ctx: ToolContext) -> str:
        """Assure."""
        world.apply("idempotent", ctx.key, once=True)
        return "assured"

    @tool(effect=Effect.keyed)
    async def order(ctx: ToolContext) -> str:
        """Order."""
        world.apply("keyed", ctx.key, once=True)
        return "ordered"

    @tool(effect=Effect.probe)
    async def turn(ctx: ToolContext) -> str:
        """Turn."""
        world.apply("probe", ctx.key)
        return "turned"

    @tool(effect=Effect.unsafe)
    async def pay(ctx: ToolContext) -> str:
        """Pay."""
        world.apply("unsafe", ctx.key)
        return "paid"

    @tool(effect=Effect.unsafe, timeout=30)
    async def gamble(ctx: ToolContext) -> str:
        """Have an effect, then never come back."""
        world.apply("unsafe", ctx.key)
        await asyncio.Event().wait()
        return ""

    @tool(effect=Effect.probe, timeout=30)
    async def hang(ctx: ToolContext) -> str:
        """Have an effect, then never come back."""
        world.apply("probe", ctx.key)
        await asyncio.Event().wait()
        return ""

    async def looked(ctx: ToolContext, arguments: dict[str, Any]) -> Reconciled:
        return Reconciled(happened=world.happened(ctx.key), value="turned")

    probed = [replace(one, reconcile=looked) for one in (turn, hang)]
    names = ("action_execution", "notification")
    return [
        spec("worker", _routine, look, assure, order, pay, *probed),
        spec("hanger", _calls("hang"), *probed),
        spec("gambler", _calls("gamble"), gamble),
        spec("breaker", _breaks),
        spec("ghost", _breaks),
        *(load([])[name] for name in names),
    ]


def write_actions(folder: Path) -> Path:
    """Write the action catalogue of these tests and return its folder."""
    actions = folder / "actions"
    actions.mkdir(exist_ok=True)
    (folder / "mark.py").write_text(PROGRAM, encoding="utf-8")
    program, world = json.dumps(str(folder / "mark.py")), json.dumps(str(folder / "world.txt"))
    (actions / "mark.yaml").write_text(ACTION.format(program=program, world=world), encoding="utf-8")
    return actions


def _routine(view: TurnView) -> Turn:
    turns = (
        [CallRequest(tool="look"), CallRequest(tool="look", arguments={"bad": 1})],
        [CallRequest(tool="assure"), CallRequest(tool="order")],
        [CallRequest(tool="turn"), CallRequest(tool="pay")],
    )
    if len(view.turns) < len(turns):
        return Turn(calls=turns[len(view.turns)])
    return Turn(outcome=Outcome(answer="did it"))


def _calls(tool_name: str) -> Callable[[TurnView], Turn]:
    def routine(view: TurnView) -> Turn:
        if view.turns:
            return Turn(outcome=Outcome(answer="came back"))
        return Turn(calls=[CallRequest(tool=tool_name)])

    return routine


def _breaks(view: TurnView) -> Turn:
    raise ZeroDivisionError(
        f"the routine of {view.work.agent} is broken, in {os.getpid()} of {sys.executable}"
    )
