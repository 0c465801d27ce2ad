"""The doorways of the agents: one task each, named by the agent."""

from __future__ import annotations

from celery import Celery

from agents.service import Agents
from kernel.process import Announcer, Process, doorway


def register(app: Celery, process: Process, agents: Agents) -> None:
    """Register `agents.<name>.work(assignment_id)` for every agent."""

    async def work(announcer: Announcer, assignment_id: str) -> str:
        return await agents.work(assignment_id, announcer.say)

    for name in agents.agents:
        doorway(app, process, f"agents.{name}.work", on_bug=agents.broke)(work)
