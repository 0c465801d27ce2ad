"""A desk in one process for integration tests: real SQLite, real Redis, no Celery workers; doorbells are answered here.

`Desk.settle()` plays the workers: it rings through until nothing is due, in the order of the bells.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from agents.runtime.spec import AgentSpec, CallRequest, Turn, TurnView
from agents.runtime.tools import Resources, Tool, ToolContext, tool
from agents.service import Agents
from coordinator.app import Parts
from kernel.artifacts import ArtifactStore
from kernel.broker import Doorbell, make_celery
from kernel.contracts import Card, Effect, Outcome
from kernel.lease import LeaseKeeper
from kernel.records import RunRow
from kernel.redaction import Redactor
from kernel.reports import Report
from kernel.schema import migrate
from kernel.settings import Settings

PLAYBOOK = """
name: default
priority: {priority}
assignments: {assignments}
rounds: {rounds}
"""


def script(*turns: Turn | list[CallRequest] | str) -> Any:
    """Return a routine that takes these turns in order: calls, or a text that ends the assignment."""

    def routine(view: TurnView) -> Turn:
        step = turns[min(len(view.turns), len(turns) - 1)]
        if isinstance(step, str):
            return Turn(outcome=Outcome(answer=step))
        return step if isinstance(step, Turn) else Turn(calls=step)

    return routine


def spec(name: str, routine: Any, *tools: Tool, **fields: Any) -> AgentSpec:
    """Return a small agent."""
    return AgentSpec(
        name=name, purpose="test", prompt="", routine=routine, tools=lambda _: list(tools), **fields
    )


def counter(folder: Path, *, name: str = "count", effect: Effect = Effect.keyed, risk: str = "read") -> Tool:
    """Return a tool whose every use appends its key to a file: what the world saw."""

    @tool(effect=effect)
    async def count(ctx: ToolContext, what: str = "x") -> dict[str, str]:
        """Count."""
        with (folder / "world.txt").open("a") as out:
            out.write(f"{what} {ctx.key}\n")
        return {"counted": what}

    from dataclasses import replace

    return replace(count, name=name, risk=risk)  # type: ignore[arg-type]


@dataclass
class Desk:
    """All parts in one place; `worker` makes another worker on the same rows."""

    settings: Settings
    agents: list[AgentSpec]
    model: Any = None
    rung: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.celery = make_celery(self.settings, "test")
        # the coordinator's own composition root; only the doorbell, the model and the reconciler's pace are ours
        parts = Parts(self.settings, self.celery)
        self.doorbell = parts.doorbell = _Bell(self)
        self.redis, self.events, self.store = parts.redis, parts.events, parts.store
        self.control, self.cards = parts.control, parts.cards
        self.database, self.purse = self.store.database, parts.purse
        migrate(self.database)
        self.decisions, self.coordinator, self.reconciler = (
            parts.decisions,
            parts.coordinator,
            parts.reconciler,
        )
        self.coordinator.planner.model = self.model
        self.reconciler.tick = timedelta(seconds=0)
        self.workers = [self.worker("w1")]

    def worker(self, name: str) -> Agents:
        return Agents(
            agents={a.name: a for a in self.agents},
            resources=Resources(
                settings=self.settings,
                database=self.database,
                artifacts=ArtifactStore(self.settings.artifacts, max_bytes=10_000_000),
            ),
            model=self.model,
            doorbell=self.doorbell,
            events=self.events,
            keeper=LeaseKeeper(self.database, seconds=self.settings.lease_seconds),
            worker=name,
            purse=self.purse,
            control=self.control,
        )

    async def publish_cards(self) -> None:
        for agent in self.agents:
            card = Card(
                agent=agent.name, purpose="test", queue=agent.queue, worker="w1", handles=list(agent.handles)
            )
            await self.cards.publish(card)

    async def submit(self, run_id: str, text: str = "do it", **fields: Any) -> None:
        await self.publish_cards()
        await self.coordinator.submit(run_id, {"text": text, **fields})

    async def settle(self, worker: Agents | None = None) -> None:
        """Answer every bell, side by side as workers do, until none is left."""
        while self.rung:
            bells, self.rung = self.rung, []
            await asyncio.gather(
                *(self._answer(task, subject, worker or self.workers[0]) for task, subject in bells)
            )

    async def _answer(self, task: str, subject: str, worker: Agents) -> None:
        if task == "coordinator.advance":
            await self.coordinator.advance(subject)
        elif task.startswith("agents."):
            await worker.work(subject, lambda _line: None)

    def run(self, run_id: str) -> RunRow:
        snapshot = self.store.snapshot(run_id)
        assert snapshot is not None
        return snapshot.run

    def report(self, run_id: str) -> Report:
        return Report.model_validate(self.run(run_id).report)

    async def close(self) -> None:
        await self.redis.aclose()
        self.celery.close()
        self.database.close()


class _Bell(Doorbell):
    """A doorbell that notes who was rung; `settle` answers."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk.celery, Redactor())
        self._desk = desk

    def ring(self, task: str, subject: str, **_: Any) -> None:
        self._desk.rung.append((task, subject))

    def ask(self, task: str, **_: Any) -> None:
        """Nobody answers: the memory service is down."""


def make_settings(
    folder: Path, redis_url: str, *, assignments: str, rounds: str = "[]", **fields: Any
) -> Settings:
    """Return settings for a desk in a folder with one playbook."""
    books = folder / "playbooks"
    books.mkdir(exist_ok=True)
    (books / "default.yaml").write_text(
        PLAYBOOK.format(assignments=assignments, rounds=rounds, priority=fields.pop("priority", 10)),
        encoding="utf-8",
    )
    return Settings(
        data_dir=folder,
        redis_url=redis_url,
        playbooks_dir=books,
        lease_profile="fast",
        recall_timeout=0.05,
        **fields,
    )
