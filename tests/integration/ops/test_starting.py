"""Starting, stopping and failing: each of these starts a desk of its own, or tries to."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from coordinator.cli import orphans
from coordinator.cli.layout import Layout
from coordinator.cli.supervision import alive
from tests.support.desk import Desk, running_desk
from tests.support.redis_server import redis_server

pytestmark = pytest.mark.integration


def left_running(desk: Desk) -> tuple[list[int], list[int]]:
    return orphans.find(Layout(desk.data_dir))


def test_a_killed_supervisor_leaves_nothing_that_the_next_start_does_not_end_and_down_says_who_stays_away(
    tmp_path: Path,
) -> None:
    with running_desk(tmp_path / "x") as desk:
        first = desk.status()
        os.kill(first["supervisor_pid"], signal.SIGKILL)
        workers, servers = left_running(desk)
        assert len(workers) == 8
        assert len(servers) == 1
        assert desk.run("status", "--json").json["running"] is False
        desk.up()
        second = desk.status()
        assert (second["broker_url"], second["flower_url"]) == (first["broker_url"], first["flower_url"])
        assert not set(workers + servers) & {p["pid"] for p in second["processes"]}
        assert not any(alive(pid) for pid in workers + servers)
        assert desk.run("worker", "notification").code == 0
        stopped = desk.run("down")
        assert stopped.code == 0
        assert "notification-2 will not come back" in stopped.err
        assert left_running(desk) == ([], [])
        assert not alive(second["supervisor_pid"])
        told = desk.run("status")
        assert told.code == 1
        assert "the desk is down; start it with nightdesk up" in told.out
        as_json = desk.run("status", "--json")
        assert (as_json.code, as_json.json["running"]) == (1, False)


def test_in_the_foreground_a_signal_drains_and_ends_it(tmp_path: Path) -> None:
    with redis_server(tmp_path / "redis", persistent=False) as server:
        desk = Desk(tmp_path / "desk", {"NIGHTDESK_REDIS_URL": server.url})
        with subprocess.Popen(
            desk.argv("up"),
            env=desk.variables(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        ) as up:
            assert up.stdout is not None
            assert "ready" in up.stdout.readline()
            names = {p["name"] for p in desk.status()["processes"]}
            assert "redis" not in names  # ours is used
            assert "coordinator" in names
            up.send_signal(signal.SIGTERM)
            _, remarks = up.communicate(timeout=60)
            assert up.returncode == 0
        assert "warning: Redis keeps nothing on disk" in remarks
        assert left_running(desk) == ([], [])
        assert server.process is not None
        assert server.process.poll() is None  # not ours to end


def test_a_taken_flower_port_is_said_at_once(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        answer = Desk(tmp_path / "desk", {"NIGHTDESK_FLOWER_PORT": str(port)}).run("up", "--detach")
    assert answer.code == 1
    assert f"port {port} is taken" in answer.err


def test_a_process_that_does_not_start_is_shown_with_its_log_and_all_is_stopped(tmp_path: Path) -> None:
    (tmp_path / "no_agent").mkdir()
    desk = Desk(tmp_path / "desk", {"NIGHTDESK_AGENT_FOLDERS": f'["{tmp_path / "no_agent"}"]'})
    answer = desk.run("up", "--detach")
    assert answer.code == 1
    assert "does not start" in answer.err
    assert "no agent.py" in answer.err
    assert left_running(desk) == ([], [])


def test_a_database_that_cannot_be_opened_is_said(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "desk")
    (desk.data_dir / "nightdesk.db").mkdir(parents=True)
    answer = desk.run("up", "--detach")
    assert answer.code == 1
    assert "database cannot be written" in answer.err
    assert "Traceback" not in answer.err
    assert left_running(desk) == ([], [])


def test_an_external_redis_that_does_not_answer_is_said(tmp_path: Path) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        url = f"redis://127.0.0.1:{nobody.getsockname()[1]}/0"
        desk = Desk(tmp_path / "desk", {"NIGHTDESK_REDIS_URL": url})
        for command in (("up", "--detach"), ("submit", "x")):
            answer = desk.run(*command)
            assert answer.code == 1
            assert "Redis does not answer" in answer.err
    assert left_running(desk) == ([], [])
