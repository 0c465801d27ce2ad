"""An action, its approval, and kill -9 in the middle of it: the world sees it once, and the report says what is known."""

from __future__ import annotations

import os
import signal
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.desk import Desk, running_desk

pytestmark = pytest.mark.e2e

SCRIPT = """
import sys, time
with open(sys.argv[1], "a") as world:
    world.write("done once\\n")
time.sleep(float(sys.argv[2]))
"""
ACTION = """
actions:
  - name: mark_world
    description: Write a line into the world, then take a while.
    parameters: {{type: object, properties: {{}}, additionalProperties: false}}
    argv: ["{{python}}", "{script}", "{world}", "20"]
    effect: {effect}
    risk: high
    target: "file:world"
    timeout: 60
    {probe}
    examples: {{accept: [{{}}], refuse: [{{x: 1}}]}}
"""
PLAYBOOK = """
name: default
priority: 10
assignments:
  - {key: act, agent: action_execution, goal: mark the world, inputs: {action: mark_world, parameters: {}}}
"""


def until(happened: Callable[[], Any], what: str, *, seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := happened():
            return found
        time.sleep(0.2)  # between two looks at the state, each of which may read a file or SQL
    raise AssertionError(f"{what} did not come within {seconds} s")


def stage(folder: Path, effect: str) -> tuple[Path, dict[str, str]]:
    world = folder / "world.txt"
    for name in ("actions", "books"):
        (folder / name).mkdir()
    (folder / "mark.py").write_text(SCRIPT)
    (folder / "look.py").write_text(
        textwrap.dedent("""
        import pathlib, sys
        path = pathlib.Path(sys.argv[1])
        sys.exit(0 if path.exists() and path.read_text() else 1)
        """)
    )
    probe = f'probe: {{argv: ["{{python}}", "{folder / "look.py"}", "{world}"]}}' if effect == "probe" else ""
    text = ACTION.format(script=folder / "mark.py", world=world, effect=effect, probe=probe)
    (folder / "actions" / "mark.yaml").write_text(text)
    (folder / "books" / "default.yaml").write_text(PLAYBOOK)
    return world, {
        "NIGHTDESK_ACTIONS_DIR": str(folder / "actions"),
        "NIGHTDESK_PLAYBOOKS_DIR": str(folder / "books"),
    }


def approve(desk: Desk) -> str:
    sent = desk.run("submit", "mark it", "--json")
    run_id = str(sent.json["run_id"])
    until(lambda: desk.state(run_id) == "waiting", "the question")
    waiting = desk.run("show", run_id, "--json").json["waiting"]
    assert waiting[0]["tool"] == "mark_world"
    assert len(waiting[0]["digest"]) == 64
    assert desk.run("approve", run_id, waiting[0]["call"]).code == 0
    return run_id


def kill_in_the_middle(desk: Desk, world: Path, state: str) -> None:
    run_id = approve(desk)
    until(lambda: world.exists() and world.read_text(), "the effect")
    (victim,) = [p["pid"] for p in desk.status()["processes"] if p["name"] == "action_execution"]
    os.kill(victim, signal.SIGKILL)
    until(lambda: desk.state(run_id) in ("succeeded", "failed"), "the end")
    report = desk.run("show", run_id, "--json").json
    assert [a["state"] for a in report["actions"]] == [state]
    assert world.read_text() == "done once\n"
    assert report["assignments"][0]["attempts"] == 2


def test_kill_9_in_the_middle_of_an_action_that_can_be_probed(tmp_path: Path) -> None:
    world, environment = stage(tmp_path, "probe")
    with running_desk(tmp_path / "d", environment=environment) as desk:
        kill_in_the_middle(desk, world, "done")


def test_a_denied_action_never_happens_and_kill_9_in_the_middle_of_an_unsafe_one_leaves_it_unknown(
    tmp_path: Path,
) -> None:
    world, environment = stage(tmp_path, "unsafe")
    with running_desk(tmp_path / "d", environment=environment) as desk:
        answer = desk.submit("mark it")
        assert answer.code == 4
        run_id = answer.json["run_id"]
        call = desk.run("show", run_id, "--json").json["waiting"][0]["call"]
        assert desk.run("deny", run_id, call, "--reason", "not tonight").code == 0
        until(lambda: desk.state(run_id) == "succeeded", "the end")
        report = desk.run("show", run_id, "--json").json
        assert [a["state"] for a in report["actions"]] == ["denied"]
        assert "not tonight" in str(report["not_done"])
        assert not world.exists()
        assert desk.run("approve", run_id, call).code == 1
        kill_in_the_middle(desk, world, "unknown")
