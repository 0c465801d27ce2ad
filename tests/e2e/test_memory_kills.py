"""Kill -9 of the memory worker again and again while runs teach it, and a killed Redis: nothing learnt is lost or doubled."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import redis
from celery import Celery
from sqlmodel import col, func, select

from coordinator.cli.layout import Layout
from coordinator.cli.supervision import Supervisor
from kernel.broker import Doorbell, make_celery
from kernel.control import Control, connect
from kernel.database import Database
from kernel.redaction import Redactor
from kernel.settings import Settings
from memory_service.audit import broken_link
from memory_service.tables import JobRunRow, MemoryOutboxRow, MemoryRow, MemoryStateRow
from tests.support.desk import Desk, running_desk

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

ROOT = Path(__file__).resolve().parents[2]
#: An agent that does nothing and the playbook that gives it every request: runs that end at once.
NOOP, BOOKS = ROOT / "ops" / "bench" / "noop", ROOT / "ops" / "bench" / "playbooks"
#: Of these facts each is told by one run, the first ones by two at once.
FACTS, TWICE = 16, 4
KILLS = 6
SEED = 20261102
_pause = threading.Event()  # never set: a pause between two looks at a state


@dataclass
class Stage:
    """The desk, the door to its supervisor, and its rows."""

    desk: Desk
    url: str
    database: Database
    supervisor: Supervisor
    killed: list[int] = field(default_factory=list)

    def pid(self, name: str) -> int:
        return next((facts.pid for facts in self.supervisor.processes() if facts.name == name), 0)

    def kill(self, name: str) -> None:
        """End a process at once, as soon as it runs."""
        pid = until(lambda: (found := self.pid(name)) not in self.killed and found, f"{name} running")
        os.kill(pid, signal.SIGKILL)
        self.killed.append(pid)

    def learnt(self) -> int:
        with self.database.reading() as session:
            query = select(func.count()).where(JobRunRow.job == "learn", JobRunRow.state == "done")
            return int(session.exec(query).one())

    def waiting(self) -> int:
        with self.database.reading() as session:
            return int(session.exec(select(func.count()).select_from(MemoryOutboxRow)).one())

    def told(self) -> list[tuple[str, int, str]]:
        """Return text, weight and status of every memory."""
        query = (
            select(MemoryRow.text, MemoryStateRow.weight, MemoryStateRow.status)
            .where(col(MemoryRow.pk) == col(MemoryStateRow.pk))
            .order_by(MemoryRow.text)
        )
        with self.database.reading() as session:
            return [(text, weight, status) for text, weight, status in session.exec(query)]

    def recall(self, questions: list[str]) -> list[list[str]]:
        """Ask the memory worker over the queue; return the texts of each answer."""
        settings = Settings(redis_url=self.url, data_dir=self.desk.data_dir)

        async def ask() -> list[list[str]]:
            client, app = connect(self.url), make_celery(settings, "test")
            bell, control, found = Doorbell(app, Redactor()), Control(client), []
            try:
                for text in questions:
                    asked = {"text": text, "namespace": "default", "user": "local", "limit": 3}
                    hits = await control.ask(
                        bell, "memory.recall", queue_name="memory", question=asked, seconds=60
                    )
                    found.append([hit["text"] for hit in hits])
            finally:
                await client.aclose()
                app.close()
            return found

        return asyncio.run(ask())


def until(happened: Callable[[], Any], what: str, *, seconds: float = 120) -> Any:
    end = time.monotonic() + seconds
    while not (found := happened()):
        assert time.monotonic() < end, f"{what} did not come within {seconds} s"
        _pause.wait(0.2)
    return found


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    with running_desk(tmp_path, environment={"NIGHTDESK_PLAYBOOKS_DIR": str(BOOKS)}) as desk:
        assert desk.run("worker", "--agent-folder", str(NOOP)).code == 0
        database = Database(f"sqlite:///{desk.data_dir / 'nightdesk.db'}")
        supervisor = Supervisor(Layout(desk.data_dir).socket)
        try:
            yield Stage(desk, str(desk.status()["broker_url"]), database, supervisor)
        finally:
            supervisor._transport.close()
            database.close()


def fact(number: int) -> str:
    return f"the pool of svc-{number:02d} is {100 + number}"


def answers(url: str) -> bool:
    client = redis.Redis.from_url(url, socket_timeout=5)
    try:
        return bool(client.ping())
    except redis.RedisError:
        return False
    finally:
        client.close()


def teach(stage: Stage, told: list[int], chance: random.Random) -> None:
    """Submit a run for each fact, at uneven moments."""
    app = Celery(broker=stage.url, backend=stage.url)
    for number in told:
        sent = {"text": f"remember that {fact(number)}", "sources": []}
        app.send_task("coordinator.submit", kwargs=sent, queue="coordinator", ignore_result=True)
        _pause.wait(chance.uniform(0, 0.4))
    app.close()


def test_kill_9_of_the_memory_worker_at_any_moment_and_of_redis_lose_no_learnt_memory(stage: Stage) -> None:
    chance = random.Random(SEED)
    told = [*range(FACTS), *range(TWICE)]
    half = len(told) // 2
    for part, kills in ((told[:half], KILLS // 2), (told[half:], KILLS - KILLS // 2)):
        teacher = threading.Thread(target=teach, args=(stage, part, random.Random(chance.random())))
        teacher.start()
        for _ in range(kills):
            _pause.wait(chance.uniform(0, 1.5))  # so it dies while it starts, catches up, learns or relays
            stage.kill("memory")
        teacher.join(60)
        if part == told[:half]:
            stage.kill("redis")  # with what the runs have rung for in it
            until(lambda: answers(stage.url), "redis again")
    until(lambda: stage.learnt() == len(told), f"all runs learnt ({stage.learnt()} of {len(told)})")
    until(lambda: stage.waiting() == 0, "an empty outbox")

    weights = {fact(number): 2 if number < TWICE else 1 for number in range(FACTS)}
    assert sorted(stage.told()) == sorted((text, weight, "active") for text, weight in weights.items())
    asked = [f"what is the pool of svc-{number:02d}?" for number in range(FACTS)]
    assert [hits.count(fact(number)) for number, hits in enumerate(stage.recall(asked))] == [1] * FACTS
    examined = stage.desk.run("memory", "doctor", "--json")
    assert examined.code == 0, examined.out + examined.err
    assert broken_link(stage.database) is None
    assert len(stage.killed) == KILLS + 1
