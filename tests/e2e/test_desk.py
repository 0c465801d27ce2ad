"""The whole desk as processes: the main job, two workers, a third, kill -9, bad input, plain celery."""

from __future__ import annotations

import gzip
import os
import signal
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from celery import Celery

from tests.support.desk import Desk

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]
CASES = ROOT.parent / "shared" / "data" / "holmesgpt" / "generated"

#: file, what the answer's top finding must say (the case files tell the truth), seconds allowed
TRUTHS = [
    ("71_connection_pool_starvation", "100/100", 15),
    ("66_http_error_needle", "Could not acquire connection from pool", 15),
    ("68_cascading_failures", "Lost connection to Redis", 15),
    ("62_fetch_error_logs_with_errors", "ETIMEDOUT", 15),
]


def until(happened: Callable[[], Any], what: str, *, seconds: float = 60) -> Any:
    """Wait on a state; say what never came."""
    import time

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := happened():
            return found
        time.sleep(0.05)  # between two looks at the state
    raise AssertionError(f"{what} did not come within {seconds} s")


def lines_of(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().split("\n")


@pytest.mark.parametrize(("name", "truth", "seconds"), TRUTHS)
def test_the_true_cause_is_found_with_evidence_that_stands(
    desk: Desk, name: str, truth: str, seconds: float
) -> None:
    path = CASES / f"{name}.log.gz"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    answer = desk.submit("requests fail, find the cause", "--log", str(path))
    assert answer.code == 0, answer.err
    report = answer.json
    assert truth in report["findings"][0]["title"] + report["findings"][0]["detail"] + report["answer"]
    assert report["timings"]["total_seconds"] < seconds
    text = lines_of(path)
    evidence = report["findings"][0]["evidence"]
    assert evidence
    for item in evidence:
        line = text[item["line"] - 1]
        at = 0
        for part in item["quote"].split("…"):
            at = line.find(part, at)
            assert at >= 0, (item, line)


def test_a_program_with_only_celery_and_the_address(desk: Desk, tmp_path: Path) -> None:
    log = desk.working_dir / "plain.log"
    log.write_text(
        "2026-11-29T03:00:00Z INFO started\n2026-11-29T03:00:01Z ERROR disk full: /var 100% used\n"
    )
    url = desk.status()["broker_url"]
    app = Celery(broker=url, backend=url)
    sent = app.send_task(
        "coordinator.submit", kwargs={"text": "what fails?", "sources": [str(log)]}, queue="coordinator"
    )
    seen = set()
    report = until(lambda: seen.add(sent.state) or (sent.ready() and sent.get(timeout=5)), "the report")
    assert (report["run_id"], report["state"]) == (sent.id, "succeeded")
    assert report["findings"][0]["evidence"][0]["line"] == 2
    assert seen <= {"PENDING", "accepted", "planning", "working", "answering", "SUCCESS"}
    app.close()


@pytest.mark.parametrize(
    ("kwargs", "said"),
    [
        ({"text": 5}, "text is int"),
        ({"text": "x", "sources": "one"}, "sources is not a list"),
        ({"text": "x" * 1_000_000}, "1,000,000 bytes"),
        ({}, "no text"),
        ({"text": "x", "nonsense": 1}, "nonsense"),
    ],
)
def test_wrong_types_over_the_queue_get_an_answer(desk: Desk, kwargs: dict[str, Any], said: str) -> None:
    url = desk.status()["broker_url"]
    app = Celery(broker=url, backend=url)
    report = app.send_task("coordinator.submit", kwargs=kwargs, queue="coordinator").get(timeout=30)
    assert report["state"] == "failed"
    assert said in report["reason"]
    app.close()


def test_sources_that_cannot_be_read_are_said_and_nothing_is_lost(desk: Desk, tmp_path: Path) -> None:
    folder = desk.working_dir / "bad"
    folder.mkdir(exist_ok=True)
    (folder / "empty.log").write_text("")
    (folder / "cut.log.gz").write_bytes(gzip.compress(b"2026-11-29T03:00:01Z ERROR disk full\n" * 2000)[:-20])
    (folder / "broken.log.gz").write_bytes(b"\x1f\x8bnot really")
    (folder / "binary.log").write_bytes(bytes(range(256)) * 64)
    (folder / "long.log").write_bytes(
        b"2026-11-29T03:00:01Z ERROR pool exhausted " + b"x" * 5_000_000 + b"\n"
    )
    sources = [str(p) for p in sorted(folder.iterdir())] + [str(folder / "missing.log"), "/etc/passwd"]
    url = desk.status()["broker_url"]
    app = Celery(broker=url, backend=url)
    report = app.send_task(
        "coordinator.submit", kwargs={"text": "what fails?", "sources": sources}, queue="coordinator"
    ).get(timeout=60)
    said = str(report["not_found"]) + str(report["not_done"]) + report["answer"]
    assert report["state"] == "succeeded"
    assert report["findings"]
    for name in ("empty.log", "broken.log.gz", "missing.log", "/etc/passwd"):
        assert name in said, name
    assert "root:" not in str(report)
    app.close()


def test_flower_without_a_password_says_nothing(desk: Desk) -> None:
    url = desk.status()["flower_url"]
    for path in ("/", "/api/tasks", "/metrics"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(url + path, timeout=20)
        assert refused.value.code == 401, path
        refused.value.close()


def test_two_workers_share_twenty_runs_and_a_third_joins_without_a_restart(desk: Desk) -> None:
    log = desk.working_dir / "many.log"
    log.write_text(
        "".join(
            f"2026-11-29T03:00:{i % 60:02d}Z {'ERROR' if i % 7 == 0 else 'INFO'} line {i}\n"
            for i in range(20000)
        )
    )
    url = desk.status()["broker_url"]
    app = Celery(broker=url, backend=url)

    def twenty() -> set[str]:
        sent = [
            app.send_task(
                "coordinator.submit",
                kwargs={"text": f"what fails? {i}", "sources": [str(log)]},
                queue="coordinator",
            )
            for i in range(20)
        ]
        reports = [r.get(timeout=120) for r in sent]
        assert [r["state"] for r in reports] == ["succeeded"] * 20
        return {a["worker"] for r in reports for a in r["assignments"]}

    assert desk.run("worker", "log_analysis").code == 0
    until(lambda: _live(desk, "log_analysis") == 2, "the second worker")
    assert len(twenty()) == 2
    assert desk.run("worker", "log_analysis").code == 0
    until(lambda: _live(desk, "log_analysis") == 3, "the third worker")
    assert len(twenty()) >= 2
    app.close()


def _live(desk: Desk, agent: str) -> int:
    return sum(1 for card in desk.status()["cards"] if card["agent"] == agent)


def test_kill_9_of_any_worker_in_a_run_and_the_run_ends(desk: Desk) -> None:
    log = desk.working_dir / "kill.log"
    log.write_text(
        "".join(
            f"2026-11-29T03:{i // 60 % 60:02d}:{i % 60:02d}Z ERROR pool exhausted {i}\n" for i in range(60000)
        )
    )
    url = desk.status()["broker_url"]
    app = Celery(broker=url, backend=url)
    for name in ("log_analysis", "coordinator", "memory", "maintenance"):
        sent = app.send_task(
            "coordinator.submit", kwargs={"text": "what fails?", "sources": [str(log)]}, queue="coordinator"
        )
        until(lambda s=sent: s.state != "PENDING", "the start of the run")
        victims = [p["pid"] for p in desk.status()["processes"] if p["name"].startswith(name) and p["pid"]]
        os.kill(victims[0], signal.SIGKILL)
        report = sent.get(timeout=90)
        assert report["state"] == "succeeded", (name, report)
        until(lambda n=name, v=victims: _alive_again(desk, n, v), f"{name} again")
    app.close()


def _alive_again(desk: Desk, name: str, victims: list[int]) -> bool:
    rows = [p for p in desk.status()["processes"] if p["name"].startswith(name)]
    return bool(rows) and all(p["state"] == "running" and p["pid"] != victims[0] for p in rows)


def test_a_run_past_its_deadline_ends_expired(desk: Desk) -> None:
    answer = desk.submit("why?", "--deadline", "0.01s")
    assert answer.code == 3, answer
    assert answer.json["state"] == "expired"


def test_a_second_desk_on_the_folder_is_refused(desk: Desk) -> None:
    answer = desk.run("up", "--detach")
    assert answer.code in (1, 2)
    assert "already" in answer.err
