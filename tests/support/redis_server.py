"""A real redis-server for tests: own folder, free loopback port, stopped by its own pid.

Use `with redis_server(tmp_path) as server: server.url`, or the pytest fixture `redis_url`
(`from tests.support.redis_server import redis_url`; also exported by tests/conftest.py where that exists).
"""

from __future__ import annotations

import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from coordinator.cli.redis_binary import find_redis
from tests.support.parent_death import dies_with_parent

_START_SECONDS = 20.0


def free_port() -> int:
    """Return a loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class RedisServer:
    """One server process on one folder; `kill` and `start` again to test a crash."""

    folder: Path
    port: int
    persistent: bool = True
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def start(self) -> None:
        """Start and wait until PING is answered with PONG."""
        self.folder.mkdir(parents=True, exist_ok=True)
        argv = [str(find_redis()), "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder)]
        argv += ["--save", "", "--appendonly", "yes" if self.persistent else "no"]
        argv += ["--appendfsync", "everysec", "--maxmemory-policy", "noeviction"]
        with (self.folder / "redis.log").open("ab") as log:
            self.process = subprocess.Popen(
                argv,
                stdout=log,
                stderr=subprocess.STDOUT,
                stdin=subprocess.DEVNULL,
                preexec_fn=dies_with_parent(),  # noqa: PLW1509 it only calls prctl
            )
        give_up = time.monotonic() + _START_SECONDS
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > give_up:
                raise RuntimeError((self.folder / "redis.log").read_text()[-2000:])

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=0.05) as connection:
                connection.settimeout(1)
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError:
            # the refused connection returns at once: waiting on the process keeps this from spinning
            assert self.process is not None
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=0.02)
            return False

    def kill(self) -> None:
        """End the server at once, as a crash does."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """End the server in order."""
        self._end(signal.SIGTERM)

    def _end(self, with_signal: signal.Signals) -> None:
        if self.process is None:
            return
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        self.process.wait(timeout=20)
        self.process = None


@contextmanager
def redis_server(folder: Path, *, persistent: bool = True) -> Iterator[RedisServer]:
    """Run a redis-server in `folder` while the block runs."""
    server = RedisServer(folder, free_port(), persistent)
    server.start()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def redis_url(tmp_path: Path) -> Iterator[str]:
    """The URL of a fresh redis-server of this test."""
    with redis_server(tmp_path / "redis") as server:
        yield server.url


@pytest.fixture(scope="session")
def shared_redis_url() -> Iterator[str]:
    """The URL of one redis-server for all tests of the session: use your own key prefix."""
    with (
        tempfile.TemporaryDirectory(prefix="nightdesk-redis-") as folder,
        redis_server(Path(folder)) as server,
    ):
        yield server.url
