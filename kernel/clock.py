"""The only clock: UTC and zone-aware. Rules take a time as an argument instead."""

from __future__ import annotations

import time
from datetime import UTC, datetime


def now() -> datetime:
    """Return the present moment in UTC."""
    return datetime.now(UTC)


def monotonic() -> float:
    """Return seconds on a clock that never goes back; only differences mean anything."""
    return time.monotonic()


def local(moment: datetime) -> str:
    """Render a moment in the reader's own zone, with the offset."""
    return moment.astimezone().strftime("%Y-%m-%d %H:%M:%S %z")
