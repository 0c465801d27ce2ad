"""The standing work on the indexes: going on with a build, comparing with SQL, clearing what is old."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

from memory_service.consistency.drift import Drift
from memory_service.consistency.spaces import Spaces
from memory_service.consistency.targets import Targets
from memory_service.relay import FULL, Relay

#: A tick comes every 30 seconds and must not pile up on the next.
_SLICE_SECONDS = 20.0


class Tending:
    """The standing work on the indexes of one process; it outlives a swap."""

    def __init__(self, relay: Relay, targets: Targets, spaces: Spaces, stop: Event) -> None:
        self.relay = relay
        self.spaces = spaces
        self._targets = targets
        self._stop = stop

    def tick(self, relay: Callable[[], object]) -> None:
        """Bring the index up to date, fill one that lacks memories, go on with a build that a dead worker left."""
        self._targets.written()
        self._targets.try_again()
        if self._targets.take_lacking():
            self.relay.reconcile()
            self.relay.drain()
        relay()
        self.relay.flush()
        self.spaces.build(seconds=_SLICE_SECONDS, stop=self._stop)

    def build(self) -> bool:
        """Build until nothing is left to do or the worker drains."""
        return self.spaces.build(stop=self._stop)

    def reconcile(self, extent: str = "") -> Drift:
        """Compare the next slice with SQL; "full" compares all and deletes spaces that are old enough."""
        if extent != FULL:
            drift = self.relay.sample()
        else:
            drift = self.relay.reconcile()
            self.spaces.clear()
        self.relay.drain()
        return drift
