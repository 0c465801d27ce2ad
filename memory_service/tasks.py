"""The doorways of the memory service; all work happens in threads, since the engines block."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from celery import Celery

from kernel.control import Control
from kernel.errors import NightdeskError
from kernel.process import Announcer, Process, doorway
from memory_service.service import MemoryService

Opened = Callable[[], MemoryService]


def register(app: Celery, process: Process, control: Control, memory: Opened) -> None:
    """Register the questions `recall`, `list`, `forget` and the doorbells `learn`, `relay`, `reinforce`, `decay`."""

    async def answer(reply_to: str, work: Callable[[], Any]) -> None:
        try:
            await control.answer(reply_to, await asyncio.to_thread(work))
        except NightdeskError as error:
            await control.answer(reply_to, error=str(error))
            raise

    @doorway(app, process, "memory.recall")
    async def recall(announcer: Announcer, reply_to: str, question: dict[str, Any]) -> None:
        await answer(reply_to, lambda: [hit.model_dump(mode="json") for hit in memory().recall(question)])

    @doorway(app, process, "memory.list")
    async def list_(announcer: Announcer, reply_to: str, question: dict[str, Any]) -> None:
        await answer(reply_to, lambda: memory().page(question))

    @doorway(app, process, "memory.forget")
    async def forget(announcer: Announcer, reply_to: str, question: dict[str, Any]) -> None:
        await answer(reply_to, lambda: memory().forget(question))

    @doorway(app, process, "memory.learn")
    async def learn(announcer: Announcer, run_id: str) -> None:
        await asyncio.to_thread(lambda: memory().learn(run_id))

    @doorway(app, process, "memory.relay")
    async def relay(announcer: Announcer, subject: str = "") -> None:
        await asyncio.to_thread(lambda: memory().relay())

    @doorway(app, process, "memory.reinforce")
    async def reinforce(announcer: Announcer, subject: str = "") -> None:
        await asyncio.to_thread(lambda: memory().reinforce())

    @doorway(app, process, "memory.decay")
    async def decay(announcer: Announcer, subject: str = "") -> None:
        await asyncio.to_thread(lambda: memory().decay())
