"""The embedded desk: started by the command line, looked after by supervisor, seen in Flower, extended, stopped."""

from __future__ import annotations

import base64
import os
import re
import signal
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from celery import Celery

from tests.support.desk import Desk, running_desk

pytestmark = pytest.mark.integration

PROCESSES = {
    "redis": "",
    "coordinator": "coordinator",
    "log_analysis": "agents.log_analysis",
    "action_execution": "agents.action_execution",
    "notification": "agents.notification",
    "memory": "memory",
    "maintenance": "maintenance",
    "beat": "",
    "flower": "",
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """One desk for this module, in a folder whose name is hard to quote."""
    with running_desk(tmp_path_factory.mktemp("desk") / "a b%20'c' 数据") as running:
        yield running


def until(true: Callable[[], Any], *, seconds: float = 30.0) -> Any:
    """Look at a state until it holds; each look is a command or a request, which takes its own time."""
    give_up = time.monotonic() + seconds
    while True:
        value = true()
        if value or time.monotonic() > give_up:
            return value


def process(desk: Desk, name: str) -> dict[str, Any]:
    found = [p for p in desk.status()["processes"] if p["name"] == name]
    return found[0] if found else {"pid": 0, "state": "gone"}


def fetch(url: str, login: str | None = None, *, method: str = "GET") -> int:
    request = urllib.request.Request(url, method=method, data=b"" if method == "POST" else None)
    if login is not None:
        request.add_header("Authorization", "Basic " + base64.b64encode(login.encode()).decode())
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def flower_login(desk: Desk) -> str:
    return "nightdesk:" + (desk.data_dir / "flower.password").read_text().strip()


def test_status_tells_everything_a_program_needs(desk: Desk) -> None:
    status = desk.status()
    assert {p["name"]: p["queue"] for p in status["processes"]} == PROCESSES
    assert {p["state"] for p in status["processes"]} == {"running"}
    assert status["broker_url"] == status["result_url"]
    assert status["broker_url"].startswith("redis://127.0.0.1:")
    assert status["redis"]["appendonly"] is True
    assert set(status["queues"]) >= {queue for queue in PROCESSES.values() if queue}
    assert status["versions"]["celery"] == "5.7.0"
    cards = until(lambda: [c for c in desk.status()["cards"] if c["agent"] == "log_analysis"])
    assert cards[0]["queue"] == "agents.log_analysis"


def test_status_for_people_names_each_process(desk: Desk) -> None:
    answer = desk.run("status")
    assert answer.code == 0
    for name in PROCESSES:
        assert name in answer.out
    assert "\x1b[" not in answer.out


def test_every_worker_answers_whoever_has_only_the_broker(desk: Desk) -> None:
    app = Celery(broker=desk.status()["broker_url"])
    replies = app.control.ping(timeout=30, limit=6)
    names = {name.partition("@")[0] for reply in replies for name in reply}
    assert names == {name for name, queue in PROCESSES.items() if queue}


def test_flower_asks_for_its_password_everywhere(desk: Desk) -> None:
    url = desk.status()["flower_url"]
    for path in ("/", "/api/workers", "/api/tasks", "/metrics"):
        assert fetch(url + path) == 401, path
        assert fetch(url + path, "nightdesk:wrong") == 401, path
        assert fetch(url + path, flower_login(desk)) == 200, path
    assert fetch(url + "/healthcheck") == 200
    assert (desk.data_dir / "flower.password").stat().st_mode & 0o777 == 0o600


def test_flower_is_read_only(desk: Desk) -> None:
    url = desk.status()["flower_url"]
    assert fetch(f"{url}/api/task/send-task/coordinator.submit", flower_login(desk), method="POST") == 403


def test_everything_listens_on_loopback_only(desk: Desk) -> None:
    pids = {p["pid"] for p in desk.status()["processes"]}
    listening = _listening_addresses(pids)
    assert listening
    assert {address for address, _ in listening} == {"0100007F"}


def _listening_addresses(pids: set[int]) -> set[tuple[str, str]]:
    inodes = set()
    for pid in pids:
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            target = str(descriptor.readlink())
            if target.startswith("socket:["):
                inodes.add(target[8:-1])
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:  # 0A: LISTEN
                address, _, port = fields[1].partition(":")
                found.add((address, port))
    return found


def test_a_second_up_on_the_same_folder_is_refused(desk: Desk) -> None:
    answer = desk.run("up", "--detach", "--json")
    assert answer.code == 1
    assert "running already" in answer.json["error"]["message"]
    assert str(desk.status()["supervisor_pid"]) in answer.json["error"]["why"]


def test_what_dies_comes_back(desk: Desk) -> None:
    for name in ("notification", "redis"):
        before = process(desk, name)
        os.kill(before["pid"], signal.SIGKILL)
        back = until(lambda name=name, pid=before["pid"]: _other_pid(desk, name, pid))
        assert back, desk.log(name)


def _other_pid(desk: Desk, name: str, pid: int) -> bool:
    now = process(desk, name)
    return now["state"] == "running" and now["pid"] != pid


def test_redis_keeps_what_it_was_given_over_a_crash(desk: Desk) -> None:
    url = desk.status()["broker_url"]
    with redis.Redis.from_url(url, decode_responses=True) as client:
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        client.set("kept", "数")
        assert client.waitaof(1, 0, 5000)[0] == 1  # on the disk
    before = process(desk, "redis")["pid"]
    os.kill(before, signal.SIGKILL)
    assert until(lambda: _other_pid(desk, "redis", before))
    with redis.Redis.from_url(url, decode_responses=True) as client:
        assert client.get("kept") == "数"


def test_workers_are_added_and_stopped_without_a_restart(desk: Desk) -> None:
    before = {p["name"]: p["pid"] for p in desk.status()["processes"]}
    added = desk.run("worker", "log_analysis", "--count", "2", "--json")
    assert added.code == 0, added.err
    assert added.json["added"] == ["log_analysis-2", "log_analysis-3"]
    after = {p["name"]: p for p in desk.status()["processes"]}
    assert after["log_analysis-3"]["queue"] == "agents.log_analysis"
    assert {name: after[name]["pid"] for name in before} == before
    for name in added.json["added"]:
        assert desk.run("worker", "--stop", name).code == 0
    assert {p["name"] for p in desk.status()["processes"]} == set(before)


def test_an_agent_of_an_outside_folder_joins_by_one_command(desk: Desk) -> None:
    folder = Path(__file__).parents[3] / "examples/travel_planner"
    added = desk.run("worker", "--agent-folder", str(folder), "--json")
    assert added.code == 0, f"{added.out}{added.err}"
    assert added.json["added"] == ["travel_planner"]
    assert process(desk, "travel_planner")["queue"] == "agents.travel_planner"
    assert desk.run("worker", "--stop", "travel_planner").code == 0
    assert process(desk, "travel_planner")["state"] == "gone"


def test_what_is_no_agent_is_said(desk: Desk, tmp_path: Path) -> None:
    for arguments in (("nobody",), ("--agent-folder", str(tmp_path)), ("--stop", "nobody"), ()):
        answer = desk.run("worker", *arguments)
        assert answer.code == 2, arguments
        assert "next:" in answer.err


def test_a_request_is_answered_shown_and_watched(desk: Desk, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    lines = [f"2026-11-29T10:00:{n:02d}Z INFO request {n} served" for n in range(50)]
    lines += ["2026-11-29T10:01:00Z ERROR connection pool exhausted (2 of 2 in use)"]
    log.write_text("\n".join(lines) + "\n")
    answer = desk.submit("requests fail, find the cause", "--log", str(log))
    assert answer.code == 0, f"{answer.out}{answer.err}{desk.log('coordinator')[-2000:]}"
    run_id = answer.json["run_id"]
    assert answer.json["state"] == "succeeded"
    quoted = [e for f in answer.json["findings"] for e in f["evidence"]]
    assert {(e["source"], e["line"], e["quote"]) for e in quoted} >= {("app.log", 51, lines[50])}
    told = desk.run("show", run_id[:8], "--json").json
    assert told.pop("happened")["taken_over"] == []
    assert told.pop("working")["where"] == {"value": ["app.log"], "source": "request"}
    assert told == answer.json
    shown = desk.run("show", run_id)
    assert "Who did what" in shown.out
    watched = desk.run("watch", run_id[:8], "--json")
    assert watched.code == 0
    assert watched.json["events"][-1]["type"] == "report"
    first, again = desk.run("watch", run_id), desk.run("watch", run_id)
    assert "run: succeeded" not in again.out  # it goes on where the first left off
    assert first.code == again.code == 0
    assert run_id in [row["run_id"] for row in desk.run("runs", "--json").json["runs"]]


def test_lines_of_a_run_begin_with_the_time(desk: Desk) -> None:
    run_id = desk.run("runs", "--json").json["runs"][0]["run_id"]
    lines = desk.run("watch", run_id, "--after", "0").out.splitlines()
    assert re.fullmatch(r"\d\d:\d\d:\d\d [+-]\d{4}  run: .+", lines[0])
    evidence = desk.run("show", run_id, "--evidence", "--json").json
    assert {"finding", "source", "line", "quote", "against", "state", "context"} <= set(evidence[0])
    assert {row["state"] for row in evidence} == {"stands"}
    assert desk.run("runs", "--state", "expired").out == "no run has expired (--state expired)\n"


def test_an_interrupted_wait_says_that_the_run_goes_on(desk: Desk) -> None:
    coordinator = process(desk, "coordinator")["pid"]
    os.kill(coordinator, signal.SIGSTOP)  # nothing ends meanwhile
    argv = desk.argv("submit", "find the cause", "--wait")
    pipe = subprocess.PIPE
    try:
        with subprocess.Popen(
            argv, env=desk.variables(), stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, text=True
        ) as waiting:
            assert waiting.stderr is not None
            # the id comes at once, long before the run ends
            said = waiting.stderr.readline()
            waiting.send_signal(signal.SIGINT)
            try:
                out, err = waiting.communicate(timeout=30)
            finally:
                waiting.kill()  # ended already, or leaving the block would wait for ever
    finally:
        os.kill(coordinator, signal.SIGCONT)
    assert waiting.returncode == 130
    run_id = said.split()[1]
    assert out == ""
    assert f"the run goes on; nightdesk watch {run_id[:8]}" in err
    assert until(lambda: desk.run("show", run_id).code == 0)


def test_a_file_under_the_desks_roots_is_read_in_place(desk: Desk) -> None:
    assert desk.working_dir is not None
    log = desk.working_dir / "local logs" / "x.log"
    log.parent.mkdir(exist_ok=True)
    log.write_text("2026-11-29T10:00:00Z ERROR disk full\n")
    answer = desk.submit("find the cause", "--log", "local logs/*.log")
    assert answer.code == 0, answer.out
    artifacts = desk.data_dir / "artifacts"
    stored = [p.read_bytes() for p in artifacts.iterdir() if p.is_file()] if artifacts.exists() else []
    assert log.read_bytes() not in stored


def test_bad_input_is_said_and_nothing_is_queued(desk: Desk, tmp_path: Path) -> None:
    before = len(desk.run("runs", "--limit", "1000", "--json").json["runs"])
    (tmp_path / "empty.log").touch()
    for arguments in (
        ("x", "--log", str(tmp_path / "none.log")),
        ("x", "--log", str(tmp_path / "empty.log")),
        ("x" * 100_000,),
        ("x", "--deadline", "soon"),
        ("x", "--label", "nothing"),
        (" ",),
    ):
        answer = desk.run("submit", *arguments)
        assert answer.code == 2, arguments
        assert "error:" in answer.err
        assert "Traceback" not in answer.err
    assert len(desk.run("runs", "--limit", "1000", "--json").json["runs"]) == before
