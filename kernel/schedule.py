"""What beat rings, and when; the one leader is celery-redbeat's."""

from __future__ import annotations

from typing import Any

from celery.schedules import crontab

from kernel.settings import Settings


def schedule(settings: Settings, *, maintenance: str, memory: str) -> dict[str, Any]:
    """Return beat's entries; a tick that nobody takes in time expires, so that none pile up."""
    tick = settings.reconcile_seconds
    return {
        "reconcile": {
            "task": "maintenance.reconcile",
            "schedule": tick,
            "options": {"queue": maintenance, "expires": tick * 2},
        },
        "flush-reinforcements": {
            "task": "memory.reinforce",
            "schedule": 60.0,
            "options": {"queue": memory, "expires": 50},
        },
        "relay": {
            "task": "memory.relay",
            "schedule": 30.0,
            "options": {"queue": memory, "expires": 25},
        },
        "compare-memory": {
            "task": "memory.reconcile",
            "schedule": 3600.0,
            "options": {"queue": memory, "expires": 3000},
        },
        "nightly-compare-memory": {**_nightly("memory.reconcile", 40, memory), "args": ("full",)},
        "nightly-artifacts": _nightly("maintenance.artifacts", 25, maintenance),
        "nightly-decay": _nightly("memory.decay", 10, memory),
    }


def _nightly(task: str, minute: int, queue: str) -> dict[str, Any]:
    """Return an entry of the hour in which people sleep; the jobs of a night do not begin at once."""
    return {"task": task, "schedule": crontab(hour=3, minute=minute), "options": {"queue": queue}}
