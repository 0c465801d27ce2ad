"""The demo's patient: a small HTTP service `checkout` with a real connection pool, health and log."""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import os
import signal
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from ops.demo.pool import Pool, PoolExhaustedError

SERVICE = "checkout"
#: Health goes bad at this many failures within the window, and is never good before the first window is over:
#: a service that was started on a bad configuration must not look healthy for its first second.
UNHEALTHY_FAILURES, HEALTH_WINDOW_SECONDS = 10, 1.5
SIGNALS = {signal.SIGHUP, signal.SIGTERM, signal.SIGINT}
HIGH_USAGE, WARN_EVERY_SECONDS = 0.8, 0.5


@dataclass(frozen=True)
class Config:
    """What a deploy changes."""

    version: str
    pool_size: int

    @classmethod
    def read(cls, path: Path) -> Config:
        """Read a configuration file."""
        fields = json.loads(path.read_text(encoding="utf-8"))
        return cls(version=str(fields["version"]), pool_size=int(fields["pool_size"]))

    def write(self, path: Path) -> None:
        """Write a configuration file in one step, so that a reader sees the old or the new one."""
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(self.__dict__), encoding="utf-8")
        fresh.replace(path)


class Health:
    """Starting for one window, then ok, and failing while too many requests of the last window failed."""

    def __init__(self, started: float) -> None:
        self._started = started
        self._failures: deque[float] = deque()
        self._lock = threading.Lock()

    def failed(self, at: float) -> None:
        """Note a failed request."""
        with self._lock:
            self._failures.append(at)

    def state(self, at: float) -> str:
        """Return `starting`, `ok` or `failing`."""
        with self._lock:
            while self._failures and self._failures[0] < at - HEALTH_WINDOW_SECONDS:
                self._failures.popleft()
            if len(self._failures) >= UNHEALTHY_FAILURES:
                return "failing"
        return "ok" if at - self._started >= HEALTH_WINDOW_SECONDS else "starting"


class Checkout:
    """The service itself, without HTTP: takes orders through the pool and says what happens in the log."""

    def __init__(self, config_path: Path, log: logging.Logger) -> None:
        self.log = log
        self.health = Health(time.monotonic())
        self._config_path = config_path
        self._orders = itertools.count(1)
        self._warned = 0.0
        self._state = "starting"
        self.config = Config(version="", pool_size=1)
        self.pool = Pool(1)
        self.deploy()

    def deploy(self) -> None:
        """Take up the configuration file; requests under way end on the old pool."""
        self.config = Config.read(self._config_path)
        self.pool = Pool(self.config.pool_size)
        self.log.info("deployed version %s config pool_size=%d", self.config.version, self.config.pool_size)

    def order(self) -> tuple[int, str]:
        """Take one order and return the HTTP status and a line for the client."""
        number, started, pool = next(self._orders), time.monotonic(), self.pool
        try:
            with pool.connection() as taken:
                self._warn_of_usage(taken, pool.size)
                pool.query()
        except PoolExhaustedError as error:
            self.health.failed(time.monotonic())
            self.log.exception("%s: order %06d failed", error, number)  # noqa: TRY401 the first line names the cause
            self.check()
            status, line = 503, f"order {number:06d} failed"
        else:
            status, line = 200, f"order {number:06d} taken"
        spent = (time.monotonic() - started) * 1000
        self.log.info("POST /checkout %d %.0fms order=%06d", status, spent, number)
        return status, line

    def check(self) -> tuple[int, str]:
        """Return the HTTP status and state of health, and log when it changes."""
        state = self.health.state(time.monotonic())
        if state != self._state:
            self._state = state
            level = logging.ERROR if state == "failing" else logging.INFO
            self.log.log(level, "health changed to %s", state)
        return (200 if state == "ok" else 503), state

    def _warn_of_usage(self, taken: int, size: int) -> None:
        now = time.monotonic()
        if taken >= size * HIGH_USAGE and now - self._warned > WARN_EVERY_SECONDS:
            self._warned = now
            self.log.warning("pool usage high: %d/%d connections in use", taken, size)


class Server(ThreadingHTTPServer):
    """HTTP in front of the service."""

    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, port: int, service: Checkout) -> None:
        super().__init__(("127.0.0.1", port), Door)
        self.service = service


class Door(BaseHTTPRequestHandler):
    """Routes the three addresses of the service."""

    protocol_version = "HTTP/1.1"
    server: Server

    def do_GET(self) -> None:
        """Answer /healthz and /version."""
        service = self.server.service
        if self.path == "/healthz":
            status, state = service.check()
            self._answer(status, {"service": SERVICE, "state": state, "version": service.config.version})
        elif self.path == "/version":
            self._answer(200, {"service": SERVICE, "pid": os.getpid(), **service.config.__dict__})
        else:
            self._answer(404, {"error": "unknown path"})

    def do_POST(self) -> None:
        """Take an order at /checkout."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path != "/checkout":
            self._answer(404, {"error": "unknown path"})
            return
        status, line = self.server.service.order()
        self._answer(status, {"message": line})

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the base class names it
        """Stay quiet: the service logs its own request lines."""

    def _answer(self, status: int, body: dict[str, object]) -> None:
        payload = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)


class _UtcFormatter(logging.Formatter):
    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: N802 the base class names it
        return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


def open_log(path: Path) -> logging.Logger:
    """Return the service's logger, appending to `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = logging.FileHandler(path, encoding="utf-8")
    file.setFormatter(_UtcFormatter("%(asctime)s %(levelname)-5s [checkout] %(message)s"))
    log = logging.getLogger(SERVICE)
    log.setLevel(logging.INFO)
    log.propagate = False
    log.addHandler(file)
    return log


def main() -> int:
    """Serve until SIGTERM; SIGHUP takes up a changed configuration; prints one line when ready."""
    parser = argparse.ArgumentParser(description="the demo's checkout service")
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--pid-file", type=Path, required=True)
    options = parser.parse_args()
    # Blocked in every thread and waited for in this one: the kernel gives a signal to any thread that takes it, and a
    # Python handler then runs only when the main thread wakes
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    service = Checkout(options.config, open_log(options.log))
    server = Server(options.port, service)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    noted = json.dumps({"pid": os.getpid(), "port": server.server_address[1], "log": str(options.log)})
    options.pid_file.write_text(noted, encoding="utf-8")
    print(noted, flush=True)
    while signal.sigwait(SIGNALS) == signal.SIGHUP:
        service.deploy()
    service.log.info("stopping version %s", service.config.version)
    server.shutdown()
    server.server_close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
