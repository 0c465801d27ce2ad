"""The doorway in a real worker process on a real Redis: every destination of an error."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from celery import Celery

from kernel.broker import make_celery, queue
from kernel.process import Process
from kernel.redaction import Redactor
from kernel.settings import Settings
from tests.support.redis_server import redis_server

pytestmark = pytest.mark.integration

SUPPORT = Path(__file__).parents[2] / "support"


class Worker:
    """A worker process, the lines its tasks wrote, and a way to send it work."""

    def __init__(self, url: str) -> None:
        self.client = redis.Redis.from_url(url, decode_responses=True)
        self.app: Celery = make_celery(Settings(redis_url=url), "test")

    @property
    def lines(self) -> list[str]:
        return list(self.client.lrange("seen", 0, -1))

    def send(self, task: str, what: str) -> None:
        self.client.delete("seen")
        sender: Any = self.app.send_task
        sender(task, args=[what], queue=queue("coordinator"), task_id=f"{task}-{what}")

    def wait(self, line: str) -> None:
        end = time.monotonic() + 60
        while line not in self.lines:
            assert time.monotonic() < end, self.lines
            time.sleep(0.02)  # between two looks at the state


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Worker]:
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        argv = [
            sys.executable,
            "-m",
            "kernel.program",
            "-A",
            "doorway_worker",
            "worker",
            "-Q",
            "coordinator",
            "--pool",
            "threads",
        ]
        process = subprocess.Popen(
            [*argv, "-c", "2", "--without-gossip", "--without-mingle"],
            cwd=SUPPORT,
            env={**os.environ, "NIGHTDESK_REDIS_URL": server.url},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        made = Worker(server.url)
        try:
            yield made
        finally:
            made.client.close()
            made.app.close()
            process.terminate()
            process.wait(30)


def test_trouble_sends_a_request_again_until_it_is_taken(worker: Worker) -> None:
    worker.send("test.request", "busy")
    worker.wait("busy done")
    assert worker.lines.count("busy began") == 3


def test_a_doorbell_in_trouble_is_left_to_the_reconciler(worker: Worker) -> None:
    worker.send("test.bell", "busy")
    worker.wait("busy began")
    worker.send("test.bell", "next")
    worker.wait("next done")
    assert "busy began" not in worker.lines


@pytest.mark.parametrize(
    ("what", "reason"),
    [("fatal", "cannot write"), ("bug", "a bug of Nightdesk: ZeroDivisionError; see the worker's log")],
)
def test_a_request_that_cannot_be_taken_is_answered(worker: Worker, what: str, reason: str) -> None:
    worker.send("test.request", what)
    worker.wait(f"refused test.request-{what}: {reason}")


def test_a_stop_ends_quietly_and_the_worker_goes_on(worker: Worker) -> None:
    worker.send("test.request", "stopped")
    worker.wait("stopped began")
    worker.send("test.request", "next")
    worker.wait("next done")
    assert not [line for line in worker.lines if line.startswith("refused")]


async def test_the_failure_of_background_work_is_logged(capsys: pytest.CaptureFixture[str]) -> None:
    process = Process("test")

    async def broken() -> None:
        raise ZeroDivisionError

    await asyncio.wait([asyncio.wrap_future(process.spawn(broken()))])
    process.close()
    assert "background_work_failed" in capsys.readouterr().out


async def test_the_line_that_flower_shows_is_short_redacted_and_one_line() -> None:
    process = Process("test")
    process.redactor = Redactor(["s3cret-token-x9"])
    assert process.line("cancelled by\n  ann") == "cancelled by ann"
    assert "s3cret-token-x9" not in process.line("stopped: s3cret-token-x9 was in it")
    assert len(process.line("x " * 500)) == 120
