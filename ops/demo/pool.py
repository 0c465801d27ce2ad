"""The service's connection pool: real limits and real waits, so that exhausting it is a real failure."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: How long a request waits for a free connection: well above one query, well below a client's patience.
ACQUIRE_SECONDS = 0.12
#: A query takes 50 to 100 ms, as a small write to a database in the next rack does.
QUERY_SECONDS, QUERY_SPREAD = 0.05, 0.05


class PoolExhaustedError(Exception):
    """No connection became free in time."""


class Pool:
    """At most `size` connections; whoever waits longer than `timeout` seconds gets PoolExhaustedError."""

    def __init__(self, size: int, *, timeout: float = ACQUIRE_SECONDS) -> None:
        self.size = size
        self.timeout = timeout
        self.in_use = 0
        self._free = threading.Condition()
        self._queries = itertools.count()

    @contextmanager
    def connection(self) -> Iterator[int]:
        """Lend a connection; yields how many are in use now."""
        with self._free:
            if not self._free.wait_for(lambda: self.in_use < self.size, self.timeout):
                raise PoolExhaustedError(
                    f"pool exhausted: {self.in_use}/{self.size} connections in use, "
                    f"timed out after {self.timeout:.2f} s"
                )
            self.in_use += 1
            taken = self.in_use
        try:
            yield taken
        finally:
            with self._free:
                self.in_use -= 1
                self._free.notify()

    def query(self) -> None:
        """Spend the time of one database round trip."""
        spread = next(self._queries) * 17 % 100 / 100
        threading.Event().wait(QUERY_SECONDS + QUERY_SPREAD * spread)
