"""Trouble of Redis and SQL while runs are under way, on a whole desk: every run ends, each effect once, and health says so."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis
from celery import Celery

from tests.support.desk import Desk, running_desk
from tests.support.little_fleet import PLAYBOOK, SYMPTOMATIC

pytestmark = pytest.mark.e2e

#: Runs that are under way when trouble comes; each takes about four seconds of work.
RUNS = 4
STEPS = 4
TROUBLE_SECONDS = 10.0
#: What supervisor may bring back: Redis itself, and beat, which ends when its lock is lost and begins anew.
MAY_EXIT = {"redis", "beat"}


def until(happened: Callable[[], Any], what: str, *, seconds: float = 90) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := happened():
            return found
        time.sleep(0.2)  # between two looks at the state, each of which may be a process
    raise AssertionError(f"{what} did not come within {seconds} s")


class Stage:
    """The desk with its client, its Redis, and what the tools left in the world."""

    def __init__(self, desk: Desk) -> None:
        facts = desk.status()
        self.desk, self.url = desk, str(facts["broker_url"])
        self.app = Celery(broker=self.url, backend=self.url)
        self.client = redis.Redis.from_url(self.url, socket_timeout=5)

    def play(self, name: str, *, heard: bool = False) -> Any:
        """Send a run of steps with a second of work between; only where it is `heard` does the client subscribe."""
        turns: list[Any] = []
        for number in range(STEPS):
            turns.append([["step", {"what": f"{name}-{number}"}]])
            turns.append([["wait", {"what": f"{name}-{number}", "seconds": 1.0}]])
        sent = {"text": json.dumps(turns), "brain": "routine"}
        options = {"queue": "coordinator", "ignore_result": not heard}
        return self.app.send_task("coordinator.submit", kwargs=sent, **options)

    def report(self, run_id: str) -> Any:
        """Return the report as a program gets it that knows the id only."""
        fresh = Celery(broker=self.url, backend=self.url)
        try:
            return fresh.AsyncResult(run_id).get(timeout=120)
        finally:
            fresh.close()

    def marks(self, word: str) -> list[str]:
        path = self.desk.data_dir / "marks.txt"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return [" ".join(line.split()[:3]) for line in lines if word in line.split()[1]]

    def exits(self) -> list[str]:
        """Return the programs that ended, in order, as supervisor's log tells."""
        text = (self.desk.data_dir / "logs" / "supervisord.log").read_text(encoding="utf-8")
        return re.findall(r"exited: (\S+) ", text)

    def pid(self, name: str) -> int:
        rows = {row["name"]: row for row in self.desk.status()["processes"]}
        return int(rows[name]["pid"])

    def state(self, run_id: str) -> str:
        return str(self.desk.run("show", run_id, "--json").json.get("state", ""))

    def troubles(self) -> list[str]:
        """Return what `status` finds wrong; it must answer while the trouble lasts."""
        answer = self.desk.run("status", "--json")
        return list(answer.json["troubles"])


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("trouble")
    (folder / "books").mkdir()
    (folder / "books" / "default.yaml").write_text(PLAYBOOK, encoding="utf-8")
    environment = {
        "NIGHTDESK_AGENT_FOLDERS": json.dumps([str(SYMPTOMATIC)]),
        "NIGHTDESK_PLAYBOOKS_DIR": str(folder / "books"),
    }
    with running_desk(folder / "d", environment=environment) as desk:
        assert desk.run("worker", "symptomatic").code == 0
        made = Stage(desk)
        yield made
        made.client.close()
        made.app.close()


@contextmanager
def under_way(stage: Stage, name: str) -> Iterator[None]:
    """Have runs under way while the block makes trouble; afterwards each has ended, with each effect once."""
    before = stage.exits()
    sent = [stage.play(f"{name}{number}") for number in range(RUNS)]
    until(lambda: len([m for m in stage.marks(name) if m.endswith("begins")]) >= RUNS, "the runs")
    yield
    late = stage.play(f"{name}{RUNS}")  # the queue takes work again
    mended = time.monotonic()
    reports = [stage.report(one.id) for one in [*sent, late]]
    print(f"{name}: all ended {time.monotonic() - mended:.1f} s after; exits {stage.exits()[len(before) :]}")
    assert [report["state"] for report in reports] == ["succeeded"] * (RUNS + 1)
    for number in range(RUNS + 1):
        steps = [mark for mark in stage.marks(f"{name}{number}-") if mark.startswith("step")]
        assert steps == [f"step {name}{number}-{step} done" for step in range(STEPS)]
    assert set(stage.exits()[len(before) :]) <= MAY_EXIT
    until(lambda: stage.troubles() == [], "health")


def test_redis_killed_and_celery_26_whoever_waits_for_a_report_gets_it(stage: Stage) -> None:
    got: dict[str, Any] = {}
    waited_for = stage.play("waited", heard=True)

    def wait() -> None:
        try:
            got["report"] = waited_for.get(timeout=60)
        except (RuntimeError, redis.RedisError) as error:  # Celery's client gives up at once, and says so
            got["error"] = error

    waiting = threading.Thread(target=wait)
    with under_way(stage, "killed"):
        waiting.start()
        count = len(stage.exits())
        os.kill(stage.pid("redis"), signal.SIGKILL)
        until(lambda: "redis" in stage.exits()[count:] and _answers(stage), "Redis again")
    waiting.join(90)
    assert not waiting.is_alive()
    assert "report" in got or "reconnect" in str(got["error"]), got  # it never hangs
    assert stage.report(waited_for.id)["state"] == "succeeded"


def test_redis_restarted_in_order(stage: Stage) -> None:
    with under_way(stage, "restarted"):
        count = len(stage.exits())
        os.kill(stage.pid("redis"), signal.SIGTERM)
        until(lambda: "redis" in stage.exits()[count:] and _answers(stage), "Redis again")


def test_symptom_07_the_broker_is_gone_for_ten_seconds_and_health_says_so(stage: Stage) -> None:
    with under_way(stage, "stopped"):
        pid = stage.pid("redis")
        os.kill(pid, signal.SIGSTOP)
        stopped = time.monotonic()
        try:
            said = stage.troubles()
            until(lambda: time.monotonic() - stopped > TROUBLE_SECONDS, "ten seconds")
        finally:
            os.kill(pid, signal.SIGCONT)
    assert any("Redis" in trouble for trouble in said), said


def test_redis_emptied_and_celery_24_beat_rings_again_within_thirty_seconds(stage: Stage) -> None:
    def ticks() -> int:
        return stage.desk.log("maintenance").count("Task maintenance.reconcile[")

    with under_way(stage, "emptied"):
        stage.client.flushall()
        emptied, before = time.monotonic(), ticks()
        # two lines for each tick; one tick may have been in the worker's hands already
        until(lambda: ticks() > before + 2, "the next tick")
        assert time.monotonic() - emptied < 30.0


def test_redis_full(stage: Stage) -> None:
    with under_way(stage, "full"):
        stage.client.config_set("maxmemory", "1mb")
        filled = time.monotonic()
        try:
            said = stage.troubles()
            until(lambda: time.monotonic() - filled > TROUBLE_SECONDS / 2, "five seconds")
        finally:
            stage.client.config_set("maxmemory", "0")
    assert any("Redis" in trouble for trouble in said), said


def test_redis_slow(stage: Stage) -> None:
    with under_way(stage, "slow"):
        for _ in range(10):  # each command of anybody takes up to half a second
            stage.client.client_pause(500)
            stage.client.ping()


def test_sql_locked_for_ten_seconds(stage: Stage) -> None:
    with under_way(stage, "locked"):
        other = sqlite3.connect(stage.desk.data_dir / "nightdesk.db", isolation_level=None, timeout=30)
        other.execute("BEGIN IMMEDIATE")
        locked = time.monotonic()
        try:
            said = stage.troubles()
            until(lambda: time.monotonic() - locked > TROUBLE_SECONDS, "ten seconds")
        finally:
            other.execute("ROLLBACK")
            other.close()
    assert any("SQL" in trouble for trouble in said), said


def _answers(stage: Stage) -> bool:
    try:
        return bool(stage.client.ping())
    except redis.RedisError:
        return False


def test_a_desk_told_to_go_down_drains_and_the_next_start_ends_what_was_handed_back(stage: Stage) -> None:
    sent = stage.play("down")
    until(lambda: stage.marks("down-0"), "the run")
    before = Path(stage.desk.data_dir / "logs" / "supervisord.log").read_text(encoding="utf-8")
    stage.desk.down()
    after = Path(stage.desk.data_dir / "logs" / "supervisord.log").read_text(encoding="utf-8")[len(before) :]
    ended = dict(re.findall(r"stopped: (\S+) \((.+?)\)", after))
    workers = {name: how for name, how in ended.items() if "symptomatic" in name or "log_analysis" in name}
    assert set(workers.values()) == {"exit status 0"}, ended
    stage.desk.up()
    report = _report(stage, sent.id)
    assert report["state"] == "succeeded"
    steps = [mark for mark in stage.marks("down-") if mark.startswith("step")]
    assert steps == [f"step down-{step} done" for step in range(STEPS)]


def _report(stage: Stage, run_id: str) -> Any:
    ended = ("succeeded", "failed", "cancelled", "expired")
    until(lambda: stage.desk.state(run_id) in ended, "the end")
    return stage.desk.run("show", run_id, "--json").json
