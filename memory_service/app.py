"""Composition root of the memory worker: settings to adapters to use cases; exposes `celery_app`."""

from __future__ import annotations

import asyncio
import os
import signal

from kernel import logs
from kernel.broker import make_celery
from kernel.budget import Purse
from kernel.control import Control, connect
from kernel.database import Database
from kernel.errors import Fatal
from kernel.model import make_model
from kernel.process import Process, install
from kernel.refusals import note_refusal
from kernel.settings import settings
from memory_service.opening import Opening
from memory_service.tasks import register

_settings = settings()
celery_app = make_celery(_settings, "memory")
_process = Process("memory")
_redis = connect(_settings.redis_url)
_database = Database(_settings.database)
_opening = Opening(
    _settings,
    _database,
    _process.worker,
    stop=_process.draining,
    model=make_model(_settings, Purse(_database, _redis, _settings.budgets)),
    loop=lambda: _process.loop,
)
register(celery_app, _process, Control(_redis), _opening.memory)


async def _start(_queues: list[str]) -> None:
    """Open the memory and catch up; a memory that cannot be opened ends the worker, which must not take work."""
    try:
        opened = await asyncio.to_thread(_opening.memory)
        await asyncio.to_thread(opened.service.catch_up)
        await asyncio.to_thread(note_refusal, _settings.data, "")
    except Fatal as error:
        logs.get(__name__).critical("memory_not_opened", reason=str(error))
        await asyncio.to_thread(note_refusal, _settings.data, str(error))
        os.kill(os.getpid(), signal.SIGTERM)


async def _drain() -> None:
    await asyncio.to_thread(_opening.flush)


install(celery_app, _settings, _process, on_ready=_start, on_drain=_drain)
