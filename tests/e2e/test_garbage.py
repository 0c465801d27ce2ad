"""Hundreds of messages of eight kinds of garbage, mixed with good runs, against a whole desk."""

from __future__ import annotations

import itertools
import json
import os
import time
import uuid
from pathlib import Path

import pytest
import redis
from celery import Celery

from kernel.broker import make_celery, queue_keys, submit
from kernel.redaction import Redactor
from kernel.settings import Settings
from tests.support.desk import Desk, running_desk
from tests.support.garbage import GARBAGE

pytestmark = [pytest.mark.e2e, pytest.mark.chaos]

KINDS = (
    "not JSON",
    "bad Base64",
    "a body of another shape",
    "bad time limits",
    "no delivery tag",
    "an unknown task",
    "pickle",
    "too long",
)
#: CI takes a third; GARBAGE_PER_KIND=125 is the thousand of messages that docs/reliability.md tells of.
PER_KIND = int(os.environ.get("GARBAGE_PER_KIND", "40"))
RUNS = PER_KIND * 2 // 5
QUEUES = ("coordinator", "agents.log_analysis", "agents.notification", "memory", "maintenance")
PATIENCE = 120.0
LOG = """2026-11-30T03:10:00Z INFO checkout started
2026-11-30T03:10:01Z ERROR checkout write failed: no space left on device: /var/lib/checkout
2026-11-30T03:10:02Z ERROR checkout write failed: no space left on device: /var/lib/checkout
"""


def pids(desk: Desk) -> dict[str, int]:
    return {process["name"]: process["pid"] for process in desk.status()["processes"]}


def push_and_submit(app: Celery, url: str, log: Path) -> list[str]:
    """Push all the garbage and between it, evenly, submit the runs; return their ids."""
    run_ids, queues = [], itertools.cycle(QUEUES)
    with redis.Redis.from_url(url) as client:
        for n in range(PER_KIND):
            for kind in KINDS:
                client.lpush(queue_keys(next(queues))[1], GARBAGE[kind][0])
            if n * RUNS // PER_KIND == len(run_ids):
                run_ids.append(str(uuid.uuid4()))
                request = {"text": f"what is wrong? {n}", "sources": [str(log)], "brain": "routine"}
                submit(app, Redactor(), run_ids[-1], request)
    return run_ids


def test_hundreds_of_messages_of_garbage_stop_no_worker_and_no_run(tmp_path: Path) -> None:
    log = tmp_path / "checkout.log"
    log.write_text(LOG, encoding="utf-8")
    with running_desk(tmp_path) as desk:
        before = pids(desk)
        url = desk.status()["broker_url"]
        app = make_celery(Settings(redis_url=url), "test")
        began = time.monotonic()
        run_ids = push_and_submit(app, url, log)
        assert len(run_ids) == RUNS
        reports = [app.AsyncResult(run_id).get(timeout=PATIENCE) for run_id in run_ids]
        end = time.monotonic() + PATIENCE
        while (kept := desk.run("dead-letters", "list", "--json", "--limit", "1").json["kept"]) < len(
            KINDS
        ) * PER_KIND:
            assert time.monotonic() < end, kept
        took = time.monotonic() - began
        after = pids(desk)
        restarts = {name: (pid, after[name]) for name, pid in before.items() if pid != after[name]}
        letters = desk.run("dead-letters", "list", "--json", "--limit", "2000").json["dead_letters"]
        app.close()
        print(
            f"garbage: letters={len(letters)} runs={len(reports)} restarts={len(restarts)} seconds={took:.1f}"
        )
    assert restarts == {}
    assert {report["state"] for report in reports} == {"succeeded"}, json.dumps(reports[:2])[:3000]
    counts = {kind: sum(GARBAGE[kind][1] in one["reason"] for one in letters) for kind in KINDS}
    assert counts == dict.fromkeys(KINDS, PER_KIND)
    assert len(letters) == len(KINDS) * PER_KIND
    assert {one["queue"] for one in letters} == set(QUEUES)
