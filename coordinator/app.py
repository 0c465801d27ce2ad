"""Composition root of the coordinator: settings to adapters to use cases; exposes `celery_app`."""

from __future__ import annotations

from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from celery import Celery

from coordinator import playbooks
from coordinator.dead_letters import DeadLetters
from coordinator.decisions import Decisions
from coordinator.planner import Planner
from coordinator.reconcile import Reconciler
from coordinator.retention import Swept, held, sweep
from coordinator.service import Coordinator
from coordinator.store import Store
from coordinator.tasks import register, register_sweep
from coordinator.unreached import Unreached
from kernel import logs
from kernel.artifacts import ArtifactStore
from kernel.broker import Doorbell, Results, make_celery, submit
from kernel.budget import Purse
from kernel.cards import Cards
from kernel.clock import now
from kernel.control import Control, connect
from kernel.database import Database
from kernel.dead_letters import DeadLetterStream
from kernel.model import make_model
from kernel.process import Process, install
from kernel.redaction import make_redactor
from kernel.settings import Settings, settings
from kernel.streams import EventLog

if TYPE_CHECKING:
    from starlette.applications import Starlette


class Parts:
    """The parts of one coordinator process, made when they are first asked for."""

    def __init__(self, settings: Settings, celery: Celery) -> None:
        self.settings, self.celery = settings, celery
        self.redis = connect(settings.redis_url)
        self.store = Store(Database(settings.database))
        self.doorbell = Doorbell(celery, make_redactor(settings))
        self.control = Control(self.redis)
        self.cards = Cards(self.redis)
        self.purse = Purse(self.store.database, self.redis, settings.budgets)
        self.events = EventLog(
            self.redis,
            length=settings.event_stream_length,
            ttl_seconds=settings.event_stream_ttl_seconds,
            database=self.store.database,
        )

    @cached_property
    def decisions(self) -> Decisions:
        """Return what takes people's decisions."""
        return Decisions(store=self.store, doorbell=self.doorbell, control=self.control, events=self.events)

    @cached_property
    def coordinator(self) -> Coordinator:
        """Return what moves runs on."""
        planner = Planner(
            settings=self.settings,
            store=self.store,
            books=playbooks.load(self.settings.playbooks),
            cards=self.cards,
            control=self.control,
            doorbell=self.doorbell,
            events=self.events,
            model=make_model(self.settings, self.purse),
        )
        return Coordinator(
            settings=self.settings,
            store=self.store,
            planner=planner,
            doorbell=self.doorbell,
            results=Results(self.celery),
            events=self.events,
        )

    @cached_property
    def dead_letters(self) -> DeadLetters:
        """Return what looks after messages that nobody can read and work that was given up."""
        return DeadLetters(
            store=self.store,
            stream=DeadLetterStream(self.redis),
            submit=self.submit,
            refuse=self._refuse,
        )

    async def _refuse(self, run_id: str, reason: str) -> None:
        # asked for late: whoever only drops a letter needs no playbooks
        await self.coordinator.refuse(run_id, reason)

    def submit(self, run_id: str, request: dict[str, Any], priority: str) -> None:
        """Send a request under the id of its run."""
        submit(self.celery, make_redactor(self.settings), run_id, request, priority=priority)

    @cached_property
    def reconciler(self) -> Reconciler:
        """Return what looks after silent rows."""
        return Reconciler(
            store=self.store,
            decisions=self.decisions,
            dead_letters=self.dead_letters,
            unreached=Unreached(
                store=self.store, cards=self.cards, doorbell=self.doorbell, events=self.events
            ),
            doorbell=self.doorbell,
            events=self.events,
            control=self.control,
            tick=timedelta(seconds=self.settings.reconcile_seconds),
            attempt_limit=self.settings.attempt_limit,
        )

    def sweep(self) -> Swept:
        """Remove the artifacts that have been kept long enough."""
        kept = self.settings
        artifacts = ArtifactStore(kept.artifacts, max_bytes=kept.artifact_max_bytes)
        moment = now()
        with self.store.database.reading() as session:
            due = held(session, artifacts, days=kept.artifact_days, moment=moment).due
        return sweep(artifacts, due, days=kept.artifact_days, moment=moment)

    async def close(self) -> None:
        """Close the connections."""
        await self.redis.aclose()
        self.store.database.close()


def make_parts(settings: Settings) -> Parts:
    """Return the parts for a process that is no worker: the command line, the HTTP face."""
    return Parts(settings, make_celery(settings, "coordinator"))


def _worker() -> Celery:
    app = make_celery(settings(), "coordinator")
    process, parts = Process("coordinator"), Parts(settings(), app)
    register(app, process, parts.coordinator, parts.reconciler)
    register_sweep(app, process, parts.sweep)
    install(app, settings(), process)
    return app


def _web() -> Starlette:
    from coordinator.api import Face, make_web

    logs.configure(settings(), service="api")
    parts = make_parts(settings())

    return make_web(
        Face(
            settings=parts.settings,
            store=parts.store,
            decisions=parts.decisions,
            events=parts.events,
            control=parts.control,
            cards=parts.cards,
            submit=parts.submit,
            close=parts.close,
        )
    )


def __getattr__(name: str) -> Celery | Starlette:
    """Make the worker's app (`app`) or the HTTP face (`web`) when it is asked for, so that importing costs nothing."""
    if name == "web":
        globals().update(web=_web())
    elif name in ("app", "celery_app"):
        made = _worker()
        globals().update(app=made, celery_app=made)
    else:
        raise AttributeError(name)
    found: Celery | Starlette = globals()[name]
    return found
