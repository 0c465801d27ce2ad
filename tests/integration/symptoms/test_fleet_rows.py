"""Rows of the Celery table that a little fleet shows: beats, clocks, models, results, killed coordinators."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import redis

from kernel.broker import make_celery, queue, queue_keys, submit
from kernel.redaction import Redactor
from kernel.settings import Settings
from tests.support.little_fleet import TICK_SECONDS, Fleet, until

pytestmark = pytest.mark.integration


def ticks(fleet: Fleet) -> int:
    """Return how often the reconciler was rung, as the worker's log tells."""
    return fleet.log("coordinator").count("Task maintenance.reconcile[")


def test_celery_23_two_beats_ring_once_for_each_slot_and_celery_24_a_killed_leader_is_followed(
    fleet: Fleet,
) -> None:
    fleet.start("beat-2")
    until(lambda: "is starting" in fleet.log("beat-2"), lambda: fleet.log("beat-2"))
    before, began = ticks(fleet), time.monotonic()
    until(lambda: ticks(fleet) >= before + 8, fleet.logs)
    took = time.monotonic() - began
    # a task is logged when it is received and when it ends: two lines for each slot
    assert ticks(fleet) - before <= 2 * (took / TICK_SECONDS + 2), took
    fleet.kill("beat")
    killed, last = time.monotonic(), ticks(fleet)
    until(lambda: ticks(fleet) >= last + 4, fleet.logs)
    assert time.monotonic() - killed < 30.0
    before, began = ticks(fleet), time.monotonic()
    until(lambda: ticks(fleet) >= before + 4, fleet.logs)
    assert ticks(fleet) - before <= 2 * ((time.monotonic() - began) / TICK_SECONDS + 2)


def test_celery_33_a_worker_whose_clock_is_an_hour_ahead_neither_steals_nor_repeats(little: Fleet) -> None:
    little.ensure("worker-a")
    little.start("worker-late", FLEET_AHEAD="3600")
    little.ready("worker-a", "worker-late")
    runs = [little.play([[("wait", {"what": f"c33-{number}", "seconds": 2.5})]]) for number in range(8)]
    assert [little.ended(run_id).state for run_id in runs] == ["succeeded"] * 8
    for number, run_id in enumerate(runs):
        assert little.marks(f"c33-{number}") == [f"wait c33-{number} begins", f"wait c33-{number} ends"]
        assert (little.assignment(run_id).fence, little.assignment(run_id).attempts) == (1, 0)
    assert little.pid("worker-late") in little.makers("c33")


def test_celery_07_a_request_in_the_hands_of_a_killed_coordinator_comes_back_once(fleet: Fleet) -> None:
    with fleet.database.engine.connect() as locked:
        locked.exec_driver_sql("ROLLBACK")
        locked.exec_driver_sql("BEGIN IMMEDIATE")  # so that nobody can write it down
        run_id = fleet.play([[("step", {"what": "c07"})]])
        until(lambda: run_id in str(fleet.redis.hgetall("unacked")), fleet.logs)
        fleet.kill("coordinator")
        locked.exec_driver_sql("ROLLBACK")
    fleet.start("coordinator")
    assert fleet.ended(run_id).state == "succeeded"
    assert fleet.marks("c07") == ["step c07 done"]


def test_celery_25_a_thousand_submissions_leave_no_channel_and_celery_28_no_large_message(
    tmp_path: Path, redis_url: str
) -> None:
    app = make_celery(Settings(redis_url=redis_url, data_dir=tmp_path), "test")
    with redis.Redis.from_url(redis_url) as client:
        for number in range(1000):
            text = "x" * 32_000 if number == 0 else f"why? {number}"
            submit(app, Redactor(), f"run-{number}", {"text": text})
        channels = client.pubsub_channels("celery-task-meta*")
        lists = [client.lrange(key, 0, -1) for key in queue_keys("coordinator")]
    app.close()
    messages = [message for one in lists for message in one]  # type: ignore[union-attr] # the synchronous answer
    assert len(messages) == 1000
    assert len(channels) == 0  # type: ignore[arg-type] # the synchronous answer
    assert max(map(len, messages)) < 64 * 1024


def test_a_client_that_asks_for_celerys_own_result_gets_the_report(fleet: Fleet) -> None:
    app = fleet.parts.celery
    sent = app.send_task(
        "coordinator.submit", kwargs={"text": "[]"}, queue=queue("coordinator"), ignore_result=False
    )
    report = sent.get(timeout=60)
    assert (report["run_id"], report["state"]) == (sent.id, "succeeded")
