"""The real service process: started, broken by a deploy, loaded, restarted, stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ops.demo.checkout import Config
from ops.demo.load import Load
from ops.demo.restart import (
    SCRIPT,
    NotStartedError,
    Place,
    Running,
    ask,
    command_line,
    deploy,
    is_healthy,
    is_ours,
    restart,
    runs_config,
    start,
    stop,
    wait_until,
)

pytestmark = pytest.mark.integration

GOOD, BAD = Config(version="2026.11.1", pool_size=20), Config(version="2026.11.2", pool_size=2)
RESTART = SCRIPT.with_name("restart.py")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    home = tmp_path / "a place"
    home.mkdir()
    place = Place(home)
    GOOD.write(place.config("last-good"))
    GOOD.write(place.config("current"))
    BAD.write(place.config("bad"))
    yield place
    stop(place)


@pytest.fixture
def running(place: Place) -> Running:
    return start(place, log=place.home / "checkout.log")


def run_restart(place: Place, *arguments: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, str(RESTART), "--service", "checkout", "--home", str(place.home), *arguments]
    return subprocess.run(argv, capture_output=True, text=True, check=False, timeout=30)


class TestStart:
    def test_answers_when_it_returns(self, place: Place, running: Running) -> None:
        status, said = ask(running.port, "/version")
        assert status == 200
        assert (said["pid"], said["version"], said["pool_size"]) == (running.pid, "2026.11.1", 20)
        assert place.running() == running

    def test_says_so_where_the_configuration_is_no_good(self, place: Place) -> None:
        place.config("current").write_text("not json", encoding="utf-8")
        with pytest.raises(NotStartedError):
            start(place, log=place.home / "checkout.log")


class TestStop:
    def test_ends_the_process_and_forgets_it(self, place: Place, running: Running) -> None:
        assert stop(place)
        assert not is_ours(running.pid, place)
        assert place.running() is None
        assert not stop(place)

    def test_leaves_a_process_alone_that_is_not_the_service(self, place: Place) -> None:
        noted = {"pid": os.getpid(), "port": 1, "log": "x"}
        place.pid_file.write_text(json.dumps(noted), encoding="utf-8")
        assert command_line(os.getpid())
        assert place.running() is None
        assert not stop(place)  # or this test would not live to say so


class TestBreakAndRestart:
    def test_a_bad_deploy_fails_under_load_and_a_restart_mends_it(
        self, place: Place, running: Running
    ) -> None:
        assert wait_until(lambda: is_healthy(place), 10)
        with Load(running.port) as load:
            assert load.wait_for(lambda seen: seen[200] >= 50, 20)
            assert load.seen[503] == 0
            deploy(place, place.config("bad"))
            assert load.wait_for(lambda seen: seen[503] >= 10, 20)
            assert wait_until(lambda: not is_healthy(place), 10)
            done = run_restart(place, "--config", "last-good")
            assert (done.returncode, done.stderr) == (0, "")
            assert wait_until(lambda: is_healthy(place), 10)
        new = place.running()
        assert new is not None
        assert new.port == running.port
        assert new.pid != running.pid
        assert runs_config(place, "last-good")
        text = Path(new.log).read_text(encoding="utf-8")
        assert "deployed version 2026.11.2 config pool_size=2" in text
        assert "pool exhausted: 2/2 connections in use" in text

    def test_a_restart_on_the_bad_configuration_never_looks_healthy_under_load(
        self, place: Place, running: Running
    ) -> None:
        deploy(place, place.config("bad"))
        with Load(running.port) as load:
            restart(place, "current")
            assert load.wait_for(lambda seen: seen[503] >= 1, 20)
            assert not wait_until(lambda: is_healthy(place), 2.5)


class TestMain:
    def test_without_a_service_it_says_why(self, place: Place) -> None:
        done = run_restart(place, "--config", "last-good")
        assert done.returncode == 1
        assert "no checkout service runs" in done.stderr

    def test_refuses_what_it_does_not_know(self, place: Place) -> None:
        assert run_restart(place, "--config", "../../etc/passwd").returncode == 2

    def test_the_probe_says_what_runs(self, place: Place, running: Running) -> None:
        assert run_restart(place, "--config", "last-good", "--check", "config").returncode == 0
        deploy(place, place.config("bad"))
        assert wait_until(lambda: not runs_config(place, "last-good"), 5)
        assert run_restart(place, "--config", "last-good", "--check", "config").returncode == 1
        assert run_restart(place, "--config", "current", "--check", "config").returncode == 2
