"""What `status` shows: whole pids and states at any width, a desk that is down, and no dead workers."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from typing import Any

import pytest
from rich.console import Console

from coordinator.cli.status import is_dead_here, is_down, show

HOST = socket.gethostname()


def found(**changed: Any) -> dict[str, Any]:
    rows = [("action_execution", 4194301, "running"), ("log_analysis-12", 4194302, "starting")]
    return {
        "running": True,
        "data_dir": "/desk",
        "broker_url": "redis://127.0.0.1:1/0",
        "flower_url": "http://127.0.0.1:2",
        "processes": [
            {"name": n, "pid": p, "state": s, "uptime_seconds": 86400.0, "queue": f"agents.{n}"}
            for n, p, s in rows
        ],
        "cards": [{"worker": f"x@{HOST}:4194301", "agent": "x", "queue": "agents.x"}],
        "queues": {"agents.action_execution": 3},
        "redis": {},
        "oldest_waiting": [],
        "troubles": [],
        "versions": {"nightdesk": "1"},
    } | changed


def shown(document: dict[str, Any], width: int) -> str:
    console = Console(width=width, highlight=False)
    with console.capture() as capture:
        show(document, console)
    return capture.get()


@pytest.mark.parametrize("width", [60, 80, 100])
def test_pids_and_states_are_never_cut(width: int) -> None:
    text = shown(found(), width)
    for whole in ("4194301", "4194302", "running", "starting", "action_execution", "86400 s"):
        assert whole in text
    rows = [line for line in text.splitlines() if "41943" in line]
    assert len(rows) == 2
    assert ["yes" in row for row in rows] == [True, False]


def test_the_queue_gives_way_and_is_whole_where_there_is_room() -> None:
    assert "agents.action_execution" in shown(found(), 120)
    assert "agents.acti" in shown(found(), 80)
    assert "agents.action_execution" not in shown(found(), 80)


def test_a_desk_that_is_down_is_a_plain_sentence() -> None:
    down = found(running=False, processes=[], cards=[], redis={"trouble": "no"}, troubles=["Redis did not"])
    assert is_down(down)
    text = shown(down, 200)
    assert "the desk is down; start it with nightdesk up" in text
    assert "trouble" not in text
    # its own Redis elsewhere answers, but nobody works
    assert is_down(down | {"redis": {}})


def test_a_fleet_is_no_stopped_desk() -> None:
    fleet = found(running=False, processes=[], flower_url="", cards=[])
    assert not is_down(fleet)
    lost = fleet | {"redis": {"trouble": "no"}, "troubles": ["Redis did not answer"]}
    assert is_down(lost)
    assert "trouble: Redis did not answer" in shown(lost, 200)
    elsewhere = [{"worker": "x@other:4194301", "agent": "x", "queue": "agents.x"}]
    assert "elsewhere: x@other:4194301" in shown(found(cards=elsewhere), 200)


def test_only_a_process_of_this_host_can_be_known_to_be_dead() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert is_dead_here(f"log_analysis@{HOST}:{child.pid}")
    assert not is_dead_here(f"log_analysis@{HOST}:{os.getpid()}")
    assert not is_dead_here(f"log_analysis@{HOST}-other:{child.pid}")
    assert not is_dead_here("odd")


def test_dead_letters_are_told_with_their_command() -> None:
    assert "dead letters" not in shown(found(waiting_for_people={"dead_letters": 0}), 80)
    assert "dead letters: 3; nightdesk dead-letters list" in shown(
        found(waiting_for_people={"dead_letters": 3}), 80
    )


def test_sources_are_told_with_the_workers_that_reach_them() -> None:
    cards = [
        {"worker": f"x@{HOST}:{n}", "agent": "x", "queue": "agents.x", "sources": names}
        for n, names in ((1, ["checkout", "search"]), (2, ["checkout"]))
    ]
    text = shown(found(cards=cards), 200)
    assert f"source checkout: x@{HOST}:1, x@{HOST}:2" in text
    assert f"source search: x@{HOST}:1\n" in text
