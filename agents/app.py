"""Composition root of an agent worker: settings to adapters to the runtime; exposes `celery_app`."""

from __future__ import annotations

from typing import Any

from agents.catalog import load
from agents.presence import Presence
from agents.runtime.tools import Resources
from agents.service import Agents
from agents.tasks import register
from kernel.artifacts import ArtifactStore
from kernel.broker import MEMORY, Doorbell, make_celery, queue
from kernel.budget import Purse
from kernel.cards import Cards
from kernel.control import Control, connect
from kernel.database import Database
from kernel.lease import LeaseKeeper
from kernel.model import make_model
from kernel.process import Process, install
from kernel.redaction import make_redactor
from kernel.settings import settings
from kernel.streams import EventLog

_settings = settings()
celery_app = make_celery(_settings, "agents")
_process = Process("agents")
_redis = connect(_settings.redis_url)
_database = Database(_settings.database)
_control = Control(_redis)
_doorbell = Doorbell(celery_app, make_redactor(_settings))
_purse = Purse(_database, _redis, _settings.budgets)
_model = make_model(_settings, _purse)


async def _ask_memory(task: str, question: dict[str, Any], seconds: float) -> Any:
    return await _control.ask(_doorbell, task, queue_name=MEMORY, question=question, seconds=seconds)


_agents = Agents(
    agents=load(_settings.agent_folders),
    resources=Resources(
        settings=_settings,
        database=_database,
        artifacts=ArtifactStore(_settings.artifacts, max_bytes=_settings.artifact_max_bytes),
        memory=_ask_memory,
        tally=_control.tally,
        model=_model,
    ),
    model=_model,
    purse=_purse,
    control=_control,
    doorbell=_doorbell,
    events=EventLog(
        _redis,
        length=_settings.event_stream_length,
        ttl_seconds=_settings.event_stream_ttl_seconds,
        database=_database,
    ),
    keeper=LeaseKeeper(_database, seconds=_settings.lease_seconds),
    worker=_process.worker,
    draining=_process.draining.is_set,
)
celery_app.conf.task_queues = [
    *celery_app.conf.task_queues,
    *(queue(a.queue) for a in _agents.agents.values()),
]
register(celery_app, _process, _agents)
_presence = Presence(_agents, Cards(_redis), _control)
install(
    celery_app,
    _settings,
    _process,
    on_ready=_presence.start,
    on_drain=_presence.leave,
    beside=_presence.source_queues,
)
