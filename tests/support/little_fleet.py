"""A little fleet of real processes: Redis, a coordinator, beat and two workers of one agent that plays scripts.

Leases and ticks are short; messages come back after two seconds. A request's text is the script that its run plays
(see tests/support/symptomatic); what its tools did stands in `marks`.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redis
from sqlmodel import col, select

from coordinator.app import Parts, make_parts
from kernel.broker import make_celery, submit
from kernel.records import AssignmentRow, CallRow, RunRow
from kernel.redaction import Redactor
from kernel.schema import migrate
from kernel.settings import Settings
from kernel.states import RUN_ENDED, RunState
from tests.support.parent_death import dies_with_parent
from tests.support.redis_server import RedisServer, redis_server

SUPPORT = Path(__file__).parent
SYMPTOMATIC = SUPPORT / "symptomatic"
QUEUE = "agents.symptomatic"
#: Shorter than the tools of the tests run; longer than a busy machine stalls.
LEASE_SECONDS = 2.0
VISIBILITY_SECONDS = 2
TICK_SECONDS = 1.0
DRAIN_SECONDS = 4.0
#: Generous: the machine may be busy with other tests.
PATIENCE = 120.0

PLAYBOOK = """
name: default
priority: 10
assignments: [{key: job, agent: symptomatic, goal: play the script}]
"""

Script = list[list[tuple[str, dict[str, Any]]]]


def until(
    found: Callable[[], Any], told: Callable[[], Any] = lambda: "", *, seconds: float = PATIENCE
) -> Any:
    """Return what `found` finds, once it does."""
    end = time.monotonic() + seconds
    while not (value := found()):
        assert time.monotonic() < end, told()
        time.sleep(0.02)  # between two looks at the state
    return value


@dataclass
class Fleet:
    """The processes by name, and the coordinator's parts for a look at the rows."""

    folder: Path
    server: RedisServer
    environment: Mapping[str, str]
    processes: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.settings = Settings(data_dir=self.folder, redis_url=self.server.url)
        self.parts = Parts(self.settings, make_celery(self.settings, "test"))
        self.database = self.parts.store.database
        migrate(self.database)
        self.redis = redis.Redis.from_url(self.server.url, decode_responses=True)

    def start(self, name: str, **environment: str) -> None:
        """Start one process; `ready` waits for it."""
        celery = [sys.executable, "-m", "kernel.program", "-A"]
        threads = ["--pool", "threads", "--without-gossip", "--without-mingle", "-E", "-n", f"{name}@fleet"]
        argv = {
            "coordinator": [*celery, "coordinator.app", "worker", "-Q", "coordinator,maintenance", "-c", "8"],
            "beat": [*celery, "coordinator.cli.bystander", "beat"],
        }.get(name.partition("-")[0], [*celery, "fleet_worker", "worker", "-Q", QUEUE, "-c", "16"])
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                argv if "beat" in argv else [*argv, *threads],
                cwd=SUPPORT,
                env={
                    **os.environ,
                    **self.environment,
                    "FLEET_NAME": name,
                    "FLEET_VISIBILITY": str(VISIBILITY_SECONDS),
                    **environment,
                },
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                preexec_fn=dies_with_parent(),  # noqa: PLW1509 it only calls prctl
            )

    def ready(self, *names: str) -> None:
        """Wait until these workers have put their cards up."""
        until(lambda: all(self.pid(n) in self.carded() for n in names), lambda: self.log(names[0])[-3000:])

    def ensure(self, *names: str) -> None:
        """Have exactly these workers up: an earlier test may have ended one."""
        for name in [n for n in self.processes if n.startswith("worker") and n not in names]:
            self.end(name)
        for name in names:
            if name not in self.processes or self.processes[name].poll() is not None:
                self.start(name)
        self.ready(*names)

    def carded(self) -> set[int]:
        """Return the process ids of the cards that are up."""
        cards: Any = self.redis.hvals("nightdesk:cards")
        return {int(json.loads(card)["card"]["worker"].rpartition(":")[2]) for card in cards}

    def pid(self, name: str) -> int:
        return self.processes[name].pid

    def signal(self, name: str, with_signal: signal.Signals) -> None:
        self.processes[name].send_signal(with_signal)

    def kill(self, name: str) -> None:
        """End a process as a power cut does."""
        self.processes[name].kill()
        self.processes.pop(name).wait(PATIENCE)

    def end(self, name: str) -> int:
        """Ask a process to end, and return its exit code."""
        process = self.processes[name]
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
        code = process.wait(PATIENCE)
        del self.processes[name]
        return code

    def arm(self, name: str, label: str, *, after: str) -> None:
        """Have a worker die at the next fault point of that label, once the marks hold `after`."""
        aside = self.folder / f"aside-{name}"
        aside.write_text(json.dumps([label, after]), encoding="utf-8")
        aside.rename(self.folder / f"strike-{name}")

    def play(self, script: Script, **fields: Any) -> str:
        """Submit a script; return the run's id."""
        return self.submit(json.dumps(script), brain="routine", **fields)

    def submit(self, text: str, **fields: Any) -> str:
        """Submit a request as a program does that has only the broker's address; return the run's id."""
        run_id = f"run-{uuid.uuid4().hex[:8]}"
        submit(self.parts.celery, Redactor(), run_id, {"text": text, **fields})
        return run_id

    def marks(self, what: str = "") -> list[str]:
        """Return what tools left in the world, those that name `what`."""
        return [" ".join(words[:3]) for words in self._marks(what)]

    def makers(self, what: str) -> set[int]:
        """Return the pids of the workers that left those marks."""
        return {int(words[3]) for words in self._marks(what)}

    def _marks(self, what: str) -> list[list[str]]:
        path = self.folder / "marks.txt"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [words for words in map(str.split, lines) if words[1].startswith(what)]

    def begun(self, what: str, times: int = 1) -> None:
        """Wait until a tool has begun."""
        until(lambda: sum(m.endswith("begins") for m in self.marks(what)) >= times, self.logs)

    def name_of(self, pid: int) -> str:
        return next(name for name, process in self.processes.items() if process.pid == pid)

    def holder(self, what: str) -> tuple[str, str]:
        """Return the worker that plays, and the one that idles."""
        self.begun(what)
        (pid,) = self.makers(what)
        busy = self.name_of(pid)
        return busy, next(n for n in self.processes if n.startswith("worker") and n != busy)

    def run(self, run_id: str) -> RunRow | None:
        with self.database.reading() as db:
            return db.get(RunRow, run_id)

    def assignment(self, run_id: str) -> AssignmentRow:
        with self.database.reading() as db:
            return db.exec(select(AssignmentRow).where(AssignmentRow.run_id == run_id)).one()

    def calls(self, run_id: str) -> list[CallRow]:
        with self.database.reading() as db:
            rows = db.exec(select(CallRow).where(CallRow.run_id == run_id).order_by(col(CallRow.id)))
            return list(rows.all())

    def ended(self, run_id: str, *, seconds: float = PATIENCE) -> RunRow:
        """Wait for the end of a run and return its row."""

        def look() -> RunRow | None:
            row = self.run(run_id)
            return row if row is not None and RunState(row.state) in RUN_ENDED else None

        row: RunRow = until(look, lambda: f"{self.run(run_id)!r}\n{self.logs()}", seconds=seconds)
        return row

    def log(self, name: str) -> str:
        path = self.folder / f"{name}.log"
        return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""

    def logs(self) -> str:
        """Return the ends of all logs, for the message of a failed test."""
        return "\n".join(
            f"== {path.name}\n{self.log(path.stem)[-1500:]}" for path in self.folder.glob("*.log")
        )

    def close(self) -> None:
        for name in list(self.processes):
            self.signal(name, signal.SIGCONT)
            self.kill(name)
        self.redis.close()
        self.parts.celery.close()
        self.database.close()


def cancel(fleet: Fleet, run_id: str) -> float:
    """Cancel as the command line and the HTTP face do, with connections of our own; return when it was said."""

    async def say() -> float:
        parts = make_parts(fleet.settings)
        try:
            said = time.monotonic()
            await parts.decisions.cancel(run_id, by="ann")
            return said
        finally:
            await parts.close()

    return asyncio.run(say())


@contextmanager
def little_fleet(folder: Path, **settings: str) -> Iterator[Fleet]:
    """Run the fleet while the block runs; `settings` are NIGHTDESK_ variables in lower case."""
    data, books = folder / "data", folder / "books"
    for made in (data, books):
        made.mkdir(parents=True)
    (books / "default.yaml").write_text(PLAYBOOK, encoding="utf-8")
    with redis_server(folder / "redis") as server:
        told = {
            "data_dir": str(data),
            "redis_url": server.url,
            "playbooks_dir": str(books),
            "agent_folders": json.dumps([str(SYMPTOMATIC)]),
            "lease_seconds": str(LEASE_SECONDS),
            "reconcile_seconds": str(TICK_SECONDS),
            "drain_seconds": str(DRAIN_SECONDS),
            "embedder": "hash",
            "recall_timeout": "0.05",
            **settings,
        }
        fleet = Fleet(data, server, {f"NIGHTDESK_{name.upper()}": value for name, value in told.items()})
        try:
            for name in ("coordinator", "beat", "worker-a", "worker-b"):
                fleet.start(name)
            fleet.ready("worker-a", "worker-b")
            fleet.ended(fleet.play([[("step", {"what": "hello"})]]))
            yield fleet
        finally:
            fleet.close()
