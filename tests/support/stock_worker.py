"""The same worker on kombu's own transport, to show what kernel.transport mends."""

from __future__ import annotations

from broker_worker import app
from kombu.transport import TRANSPORT_ALIASES

TRANSPORT_ALIASES.update(redis="kombu.transport.redis:Transport")

__all__ = ["app"]
