"""One worker process on one Redis, for tests of what the broker's trouble does to it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis
from celery import Celery

from kernel.broker import make_celery, queue
from kernel.dead_letters import STREAM
from kernel.settings import Settings
from tests.support.parent_death import dies_with_parent
from tests.support.redis_server import RedisServer, redis_server

SUPPORT = Path(__file__).parent
#: Generous: the machine may be busy with other tests.
PATIENCE = 60.0


def until(found: Callable[[], Any], told: Callable[[], Any] = lambda: "") -> Any:
    """Return what `found` finds, once it does."""
    end = time.monotonic() + PATIENCE
    while not (value := found()):
        assert time.monotonic() < end, told()
        time.sleep(0.02)  # between two looks at the state
    return value


@dataclass
class Fleet:
    """A Redis, a worker that takes its queue, and a client that sends."""

    folder: Path
    server: RedisServer
    worker: subprocess.Popen[bytes]
    app: Celery

    @property
    def client(self) -> redis.Redis:
        return redis.Redis.from_url(self.server.url)

    @property
    def seen(self) -> list[str]:
        with suppress(FileNotFoundError):
            return (self.folder / "seen.txt").read_text(encoding="utf-8").splitlines()
        return []

    @property
    def log(self) -> str:
        return (self.folder / "worker.log").read_text(encoding="utf-8", errors="replace")

    def send(self, task: str, what: str, **kwargs: Any) -> None:
        sender: Any = self.app.send_task
        sender(f"test.{task}", args=[what], kwargs=kwargs, queue=queue("coordinator"), task_id=what)

    def wait(self, line: str) -> None:
        until(lambda: line in self.seen, lambda: f"{self.seen}\n{self.log[-3000:]}")

    def go_on(self) -> None:
        (self.folder / "go-on").touch()

    def letters(self) -> list[dict[str, str]]:
        with self.client as client:
            entries: Any = client.xrange(STREAM)
        return [{k.decode(): v.decode() for k, v in fields.items()} for _, fields in entries]

    @property
    def unacked(self) -> int:
        with self.client as client:
            count: Any = client.hlen("unacked")
        return int(count)

    def stop(self) -> int:
        if self.worker.poll() is None:
            self.worker.send_signal(signal.SIGTERM)
        return self.worker.wait(PATIENCE)


@contextmanager
def fleet(folder: Path, *, program: str = "broker_worker", slots: int = 1) -> Iterator[Fleet]:
    """Run a Redis and a worker on it while the block runs."""
    with (
        redis_server(folder / "redis") as server,
        worker(folder, server, program=program, slots=slots) as made,
    ):
        made.send("early", "hello")
        made.wait("hello done")
        yield made


@contextmanager
def worker(
    folder: Path, server: RedisServer, *, program: str = "broker_worker", slots: int = 1
) -> Iterator[Fleet]:
    """Run a worker while the block runs."""
    folder.mkdir(parents=True, exist_ok=True)
    argv = [
        sys.executable,
        "-m",
        "kernel.program",
        "-A",
        program,
        "worker",
        "-Q",
        "coordinator",
        "--pool",
        "threads",
    ]
    ours = {name: value for name, value in os.environ.items() if not name.startswith("NIGHTDESK_")}
    with (folder / "worker.log").open("ab") as log:
        process = subprocess.Popen(
            [*argv, "-c", str(slots), "--without-gossip", "--without-mingle", "-n", f"{folder.name}@test"],
            cwd=SUPPORT,
            env={**ours, "NIGHTDESK_REDIS_URL": server.url, "NIGHTDESK_DATA_DIR": str(folder)},
            stdout=log,
            stderr=subprocess.STDOUT,
            preexec_fn=dies_with_parent(),  # noqa: PLW1509 it only calls prctl
        )
    app = make_celery(Settings(redis_url=server.url), "test")
    made = Fleet(folder, server, process, app)
    try:
        yield made
    finally:
        made.go_on()
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE)
        app.close()
