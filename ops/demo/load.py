"""Concurrent clients that order at the demo's checkout service and count what they get back."""

from __future__ import annotations

import argparse
import http.client
import sys
import threading
from collections import Counter
from collections.abc import Callable
from typing import Self

#: More clients than the bad pool's two connections can serve in time, far fewer than the good pool's twenty.
CLIENTS = 12
#: A client thinks this long between orders, and longer after a failure: a few dozen requests a second in all.
THINK_SECONDS, BACK_OFF_SECONDS = 0.05, 0.15
_REQUEST_SECONDS = 5.0


class Load:
    """A context: clients run inside it; `wait_for` waits on what they saw. Status 0 means no answer."""

    def __init__(self, port: int, clients: int = CLIENTS) -> None:
        self.seen: Counter[int] = Counter()
        self._port = port
        self._stop = threading.Event()
        self._change = threading.Condition()
        self._threads = [threading.Thread(target=self._order, daemon=True) for _ in range(clients)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def wait_for(self, state: Callable[[Counter[int]], bool], seconds: float) -> bool:
        """Wait until the counts satisfy `state`; False where they do not within the time."""
        with self._change:
            return self._change.wait_for(lambda: state(self.seen), seconds)

    def _order(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=_REQUEST_SECONDS)
        good = 200
        while not self._stop.is_set():
            status = _post(connection)
            with self._change:
                self.seen[status] += 1
                self._change.notify_all()
            self._stop.wait(THINK_SECONDS if status == good else BACK_OFF_SECONDS)
        connection.close()


def _post(connection: http.client.HTTPConnection) -> int:
    try:
        connection.request("POST", "/checkout", body=b"{}")
        answer = connection.getresponse()
        answer.read()
    except (OSError, http.client.HTTPException):
        connection.close()  # the service restarts under us: connect anew next time
        return 0
    return answer.status


def main() -> int:
    """Load a port for some seconds and print the counts by status."""
    parser = argparse.ArgumentParser(description="order at the demo's checkout service")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args()
    with Load(options.port, options.clients) as load:
        load.wait_for(lambda _: False, options.seconds)
    print(" ".join(f"{status}:{count}" for status, count in sorted(load.seen.items())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
