"""Rows of the Celery table that a little fleet shows: beats, clocks, models, results, killed coordinators."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
import redis

from kernel.broker import make_celery, queue, queue_keys, submit
from kernel.redaction import Redactor
from kernel.settings import Settings
from tests.support.little_fleet import TICK_SECONDS, VISIBILITY_SECONDS, Fleet, until
from tests.support.model_server import ModelServer

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
    until(lambda: ticks(fleet) >= before + 10, fleet.logs)
    took = time.monotonic() - began
    # a task is logged when it is received and when it ends: two lines for each slot
    assert ticks(fleet) - before <= 2 * (took / TICK_SECONDS + 2), took
    fleet.kill("beat")
    killed, last = time.monotonic(), ticks(fleet)
    until(lambda: ticks(fleet) >= last + 4, fleet.logs)
    assert time.monotonic() - killed < 30.0
    before, began = ticks(fleet), time.monotonic()
    until(lambda: ticks(fleet) >= before + 6, fleet.logs)
    assert ticks(fleet) - before <= 2 * ((time.monotonic() - began) / TICK_SECONDS + 2)


def test_celery_33_a_worker_whose_clock_is_an_hour_ahead_neither_steals_nor_repeats(little: Fleet) -> None:
    little.ensure("worker-a")
    little.start("worker-late", FLEET_AHEAD="3600")
    little.ready("worker-a", "worker-late")
    runs = [
        little.play([[("wait", {"what": f"c33-{number}", "seconds": 2.5})]], deadline_seconds=7200)
        for number in range(8)
    ]
    assert [little.ended(run_id).state for run_id in runs] == ["succeeded"] * 8
    for number, run_id in enumerate(runs):
        assert little.marks(f"c33-{number}") == [f"wait c33-{number} begins", f"wait c33-{number} ends"]
        assert (little.assignment(run_id).fence, little.assignment(run_id).attempts) == (1, 0)
    assert little.pid("worker-late") in little.makers("c33")


def _modelled(fleet: Fleet, server: ModelServer) -> None:
    fleet.ensure()
    fleet.start("worker-model", NIGHTDESK_MODEL_BASE_URL=server.url, NIGHTDESK_MODEL_NAME="scripted")
    fleet.ready("worker-model")


def test_celery_34_a_slow_model_is_asked_once_and_billed_once(little: Fleet) -> None:
    words = {"answer": "slowly " * 30}
    slow = {"text": "", "calls": [{"tool": "finish", "arguments": words}], "delay": 0.15, "times": 0}
    with ModelServer([slow]) as server:
        _modelled(little, server)
        began = time.monotonic()
        run_id = little.play([], brain="auto")
        run = little.ended(run_id)
        assert time.monotonic() - began > 2 * VISIBILITY_SECONDS  # longer than lease and visibility time-out
        assert (run.state, len(server.requests)) == ("succeeded", 1)
        assert run.report is not None
        assert run.report["usage"]["input_tokens"] == 100
        assert little.assignment(run_id).fence == 1


def test_celery_37_fifty_tasks_share_a_client_and_its_loop(little: Fleet) -> None:
    quick = {"text": "", "calls": [{"tool": "finish", "arguments": {"answer": "yes"}}], "times": 0}
    with ModelServer([quick]) as server:
        _modelled(little, server)
        runs = [little.play([], brain="auto") for _ in range(50)]
        assert {little.ended(run_id).state for run_id in runs} == {"succeeded"}
        assert len(server.requests) == 50
        brains = {little.assignment(run_id).brain for run_id in runs}
        assert brains == {"model:scripted"}
    for said in ("Event loop is closed", "attached to a different loop"):
        assert said not in little.log("worker-model")


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
