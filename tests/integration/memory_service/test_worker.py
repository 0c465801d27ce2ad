"""The memory worker as it is started for real: asked and rung over Redis."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from sqlmodel import select

from kernel import clock
from kernel.broker import Doorbell, make_celery
from kernel.control import Control, connect
from kernel.database import Database
from kernel.errors import Correctable
from kernel.ledgers import SpendRow
from kernel.redaction import Redactor
from kernel.schema import migrate
from kernel.settings import Settings
from memory_service.decay import Decay
from tests.integration.memory_service.world import START, World, end_run, finding, restart
from tests.support.parent_death import dies_with_parent

pytestmark = pytest.mark.integration
worker_pause = threading.Event()  # never set: a pause between two looks at a state
ROOT = Path(__file__).parents[3]


@dataclass
class Worker:
    process: subprocess.Popen[str]
    log: Path

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)


def start(redis_url: str, data: Path, name: str, **settings: str) -> Worker:
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("NIGHTDESK_")},
        "NIGHTDESK_REDIS_URL": redis_url,
        "NIGHTDESK_DATA_DIR": str(data),
        "NIGHTDESK_EMBEDDER": "hash",
        "OMP_NUM_THREADS": "1",
        **{f"NIGHTDESK_{setting.upper()}": value for setting, value in settings.items()},
    }
    log = data / f"{name}.log"
    with log.open("w") as out:
        command = [
            "-m",
            "kernel.program",
            "-A",
            "memory_service.app",
            "worker",
            "-Q",
            "memory",
            "--pool",
            "threads",
            "-c",
            "4",
            "-n",
        ]
        process = subprocess.Popen(
            [sys.executable, *command, f"{name}@test"],
            cwd=ROOT,
            env=environment,
            stdout=out,
            stderr=out,
            text=True,
            preexec_fn=dies_with_parent(),  # noqa: PLW1509 it only calls prctl
        )
    return Worker(process, log)


def wait_for(worker: Worker, words: str) -> None:
    until = time.monotonic() + 60
    while words not in worker.log.read_text():
        assert worker.process.poll() is None, worker.log.read_text()
        assert time.monotonic() < until, worker.log.read_text()
        worker_pause.wait(0.1)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    database = Database(f"sqlite:///{tmp_path / 'nightdesk.db'}")
    migrate(database)
    database.close()
    return tmp_path


def ask(redis_url: str, task: str, question: dict[str, Any]) -> Any:
    async def asked() -> Any:
        redis = connect(redis_url)
        try:
            bell = Doorbell(make_celery(Settings(redis_url=redis_url), "test"), Redactor())
            control = Control(redis)
            return await control.ask(bell, task, queue_name="memory", question=question, seconds=20)
        finally:
            await redis.aclose()

    return asyncio.run(asked())


def ring(redis_url: str, task: str, subject: str) -> None:
    Doorbell(make_celery(Settings(redis_url=redis_url), "test"), Redactor()).ring(
        task, subject, queue_name="memory"
    )


def test_it_learns_when_rung_answers_when_asked_and_forgets(redis_url: str, data: Path) -> None:
    database = Database(f"sqlite:///{data / 'nightdesk.db'}")
    ended = World(database, None, None, None, Decay(database, "w"), None, now=START)  # type: ignore[arg-type] # rows only
    end_run(ended, "run-1", findings=[finding()], actions=[restart()])
    worker = start(redis_url, data, "memory")
    try:
        wait_for(worker, "worker_ready")
        ring(redis_url, "memory.learn", "run-1")
        wait_for(worker, "learnt")
        [hit] = ask(redis_url, "memory.recall", {"text": "checkout returns 503", "namespace": "default"})
        assert hit["slots"]["action"] == "restart_service"
        for task in ("memory.relay", "memory.reinforce", "memory.decay"):
            ring(redis_url, task, "")
        listed = ask(redis_url, "memory.list", {"namespace": "default"})
        assert [m["id"] for m in listed["memories"]] == [hit["id"]]
        with pytest.raises(Correctable, match="cannot be read"):
            ask(redis_url, "memory.recall", {"colour": "red"})
        assert ask(redis_url, "memory.forget", {"id": hit["id"]}) == {"forgotten": hit["id"]}
        assert ask(redis_url, "memory.recall", {"text": "checkout returns 503"}) == []
    finally:
        assert worker.stop() == 0, worker.log.read_text()
        database.close()


def test_it_asks_the_model_about_a_run_that_it_has_learnt_and_counts_what_that_costs(
    redis_url: str, data: Path
) -> None:
    database = Database(f"sqlite:///{data / 'nightdesk.db'}")
    ended = World(database, None, None, None, Decay(database, "w"), None, now=clock.now())  # type: ignore[arg-type] # rows only
    end_run(ended, "run-1", "why does checkout return 503? Ann owns billing since May.")
    told = {
        "kind": "fact",
        "text": "Ann owns billing since May",
        "quote": "Ann owns billing since May",
        "key": "",
    }
    lessons = {"memories": [{**told, "importance": 0.7, "emotion": 0.0}]}
    script = data / "script.yaml"
    script.write_text(yaml.safe_dump([{"text": json.dumps(lessons)}]))
    worker = start(redis_url, data, "memory", model_script=str(script))
    try:
        wait_for(worker, "worker_ready")
        ring(redis_url, "memory.learn", "run-1")
        wait_for(worker, "taught")
        listed = ask(redis_url, "memory.list", {"namespace": "default"})
        assert [m["text"] for m in listed["memories"]] == ["Ann owns billing since May"]
        with database.reading() as session:
            (spent,) = session.exec(select(SpendRow).where(SpendRow.run_id == "run-1")).all()
        assert (spent.model_calls, spent.tokens, spent.settled) == (1, 120, True)
    finally:
        worker.stop()
        database.close()


def test_a_killed_worker_gives_the_folder_free_and_a_second_one_is_refused(
    redis_url: str, data: Path
) -> None:
    first = start(redis_url, data, "first")
    try:
        wait_for(first, "worker_ready")
        assert ask(redis_url, "memory.recall", {"text": "anything"}) == []
        second = start(redis_url, data, "second")
        assert second.process.wait(60) == 0
        assert "NIGHTDESK_QDRANT_URL" in second.log.read_text()
    finally:
        first.process.kill()
        first.process.wait(30)
    third = start(redis_url, data, "third")
    try:
        wait_for(third, "worker_ready")
        assert ask(redis_url, "memory.list", {})["total"] == 0
    finally:
        third.stop()
