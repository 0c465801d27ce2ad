"""How far a scan is, told a few times a second, and the wish that it stop."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from kernel.clock import monotonic

#: Seconds between two words on how far it is; whether to stop is asked far more often.
_PACE = 0.25


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a scan is: bytes done of all bytes (decompressed), lines, events, the file it is at, seconds so far."""

    done: int
    total: int
    lines: int
    events: int
    file: str
    seconds: float


class Pace:
    """Tells a listener how far it is, not too often, and whether to go on."""

    def __init__(self, listener: Callable[[Progress], None] | None, stop: threading.Event) -> None:
        self._listener, self._stop = listener, stop
        self._began = self._told = monotonic()
        self.total = 0

    @property
    def stopped(self) -> bool:
        """Return whether somebody wants it to stop."""
        return self._stop.is_set()

    def tell(self, done: int, lines: int, events: int, file: str) -> bool:
        """Note how far it is; return whether to go on."""
        now = monotonic()
        if self._listener is not None and now - self._told >= _PACE:
            self._told = now
            self._listener(
                Progress(
                    done=min(done, self.total),
                    total=self.total,
                    lines=lines,
                    events=events,
                    file=file,
                    seconds=now - self._began,
                )
            )
        return not self._stop.is_set()
