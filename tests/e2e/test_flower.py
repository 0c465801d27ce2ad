"""What Flower and `show` say of a run whose worker was killed, and of one that is cancelled while its worker drains."""

from __future__ import annotations

import base64
import json
import os
import signal
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from coordinator.cli.layout import Layout
from tests.e2e.test_actions import approve, stage, until
from tests.support.desk import Desk, running_desk

pytestmark = pytest.mark.e2e

#: The drain of the test is longer than any wait below: whoever stops in time did not wait for it.
DRAIN_SECONDS = "60"


def results(desk: Desk, run_id: str) -> list[str]:
    """What Flower shows as the results of a run's tasks, from its API."""
    password = (desk.data_dir / "flower.password").read_text().strip()
    token = base64.b64encode(f"nightdesk:{password}".encode()).decode()
    url = f"{json.loads(Layout(desk.data_dir).addresses.read_text())['flower_url']}/api/tasks"
    request = urllib.request.Request(url, headers={"Authorization": f"Basic {token}"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        tasks: dict[str, dict[str, Any]] = json.load(answer)
    mine = [task for task in tasks.values() if run_id[:13] in str(task["args"])]
    return [f"{task['name']}: {task['state']}: {task['result']}" for task in mine]


def worker_pid(desk: Desk) -> int:
    (pid,) = [p["pid"] for p in desk.status()["processes"] if p["name"] == "action_execution"]
    return int(pid)


def says(desk: Desk, run_id: str, *words: str) -> bool:
    return any(all(word in line for word in words) for line in results(desk, run_id))


def test_a_lost_worker_and_a_stop_read_the_same_in_flower_and_in_show(tmp_path: Path) -> None:
    world, environment = stage(tmp_path, "unsafe")
    environment["NIGHTDESK_DRAIN_SECONDS"] = DRAIN_SECONDS
    with running_desk(tmp_path / "d", environment=environment) as desk:
        run_id = approve(desk)
        until(lambda: world.exists() and world.read_text(), "the effect")
        os.kill(worker_pid(desk), signal.SIGKILL)
        until(lambda: desk.state(run_id) == "succeeded", "the end")
        work = "agents.action_execution.work: SUCCESS"
        until(lambda: says(desk, run_id, work, "taken over (attempt 2)", "1 call unknown"), "Flower's word")
        until(
            lambda: says(desk, run_id, "coordinator.advance", "succeeded, 1 unknown, taken over"), "its end"
        )
        shown = desk.run("show", run_id).out
        assert "was lost; " in shown
        assert "took over (attempt 2)" in shown
        call = desk.run("questions", run_id, "--json").json["questions"][0]["call"]
        assert f"nightdesk resolve {run_id} {call} happened" in shown
        assert "nobody saw it end" in shown or "gone since" in shown or "gone at" in shown
        assert desk.run("resolve", run_id, call, "happened", "--reason", "the line is there").code == 0
        report = desk.run("show", run_id, "--json").json
        assert [action["state"] for action in report["actions"]] == ["unknown"]
        assert report["happened"]["questions"][0]["reason"] == "the line is there"

        # a worker that drains still hears a stop
        run_id = approve(desk)
        until(lambda: len(world.read_text().splitlines()) == 2, "the second effect")
        os.kill(worker_pid(desk), signal.SIGTERM)
        answer = desk.run("cancel", run_id, "--json")
        told = answer.json
        assert (told["ended"], told["state"]) == (True, "cancelled"), told
        (part,) = told["stopped"]
        assert (part["state"], "mark_world" in part["doing"]) == ("running", True)
        assert [(e["tool"], e["happened"]) for e in told["effects"]] == [("mark_world", "unknown")]
        until(lambda: says(desk, run_id, work, "cancelled by", "1 call unknown"), "Flower's word")
        until(lambda: says(desk, run_id, "coordinator.advance", "cancelled by", "1 unknown"), "its end")
        assert "cancelled by" in desk.run("runs").out
