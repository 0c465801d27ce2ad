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
        "nightly-compare-memory": {
            "task": "memory.reconcile",
            "schedule": crontab(hour=3, minute=40),
            "args": ("full",),
            "options": {"queue": memory},
        },
        "nightly-decay": {
            "task": "memory.decay",
            "schedule": crontab(hour=3, minute=10),
            "options": {"queue": memory},
        },
    }
