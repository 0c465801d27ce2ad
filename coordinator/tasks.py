"""The coordinator's doorways: submit, advance, reconcile, and the nightly sweep of artifacts."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from celery import Celery

from coordinator.chronicle import standing
from coordinator.reconcile import Reconciler
from coordinator.retention import Swept
from coordinator.service import Coordinator
from coordinator.store import Store
from kernel import logs
from kernel.process import Announcer, Process, doorway
from kernel.records import RunRow

log = logs.get(__name__)


def register(app: Celery, process: Process, coordinator: Coordinator, reconciler: Reconciler) -> None:
    """Register the three tasks that move runs on."""

    @doorway(app, process, "coordinator.submit", on_refused=coordinator.refuse)
    async def submit(announcer: Announcer, *args: Any, **kwargs: Any) -> None:
        await coordinator.submit(
            announcer.task_id, {**dict(zip(("text", "sources"), args, strict=False)), **kwargs}
        )

    @doorway(app, process, "coordinator.advance")
    async def advance(announcer: Announcer, run_id: str) -> str:
        run = await coordinator.advance(run_id)
        return await asyncio.to_thread(_stands, coordinator.store, run)

    @doorway(app, process, "maintenance.reconcile", quiet=True)
    async def reconcile(announcer: Announcer) -> None:
        await reconciler.tick_once()


def register_sweep(app: Celery, process: Process, sweep: Callable[[], Swept]) -> None:
    """Register the task of the night."""

    @doorway(app, process, "maintenance.artifacts")
    async def artifacts(announcer: Announcer) -> str:
        swept = await asyncio.to_thread(sweep)
        log.info(
            "artifacts were swept", files=swept.files, bytes=swept.bytes, left=swept.left, days=swept.days
        )
        return f"removed {swept.files:,} files, {swept.bytes:,} bytes; {swept.left:,} left"


def _stands(store: Store, run: RunRow) -> str:
    """Return where the run stands, for Flower."""
    with store.database.reading() as db:
        return standing(db, run)
