"""Two workers with different sources are each asked for their own; a killed one's work stays for whoever reaches it."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from kernel.redaction_checks import PLACEHOLDER
from tests.support.desk import Desk, running_desk

pytestmark = pytest.mark.e2e

LOGS = {
    "checkout": "2026-11-29T03:00:0{n}Z ERROR checkout: connection pool exhausted: 2/2 in use, password=Pl4nt-x9\n",
    "payments": "2026-11-29T03:00:0{n}Z ERROR payments: certificate has expired for bank.example, password=Pl4nt-x9\n",
}


def test_each_worker_is_asked_for_its_own(tmp_path: Path) -> None:
    files = {name: _sources(tmp_path, name) for name in LOGS}
    with running_desk(tmp_path / "d", environment={"NIGHTDESK_LOG_SOURCES": str(files["checkout"])}) as desk:
        added = _add(desk, files["payments"])
        workers, pid = _workers(desk, added)
        assert workers["checkout"] != workers["payments"]

        both = desk.submit("what fails?", "--log", "checkout", "--log", "payments").json
        assert {a["worker"] for a in both["assignments"]} == set(workers.values())
        assert _cited(both) == set(LOGS), both
        quotes = [proof["quote"] for finding in both["findings"] for proof in finding["evidence"]]
        # the same value is the same placeholder in both workers, so that what they found can be joined
        assert len({PLACEHOLDER.search(quote)[0] for quote in quotes}) == 1

        told = desk.submit("why does payments fail?").json
        assert {a["worker"] for a in told["assignments"]} == {workers["payments"]}
        assert _cited(told) == {"payments"}
        assert "because the request mentions it: payments" in told["answer"]

        os.kill(
            pid, signal.SIGKILL
        )  # the supervisor starts it anew, and the other worker leaves its work alone
        again = desk.submit("why does it fail?", "--log", "payments").json
        assert again["state"] == "succeeded"
        assert again["assignments"][0]["worker"] not in workers.values()


def test_a_worker_that_cannot_start_is_not_kept(tmp_path: Path) -> None:
    bad, broken = tmp_path / "bad.yaml", tmp_path / "broken"
    bad.write_text("sources: {gateway: {nope: 1}}\n")
    broken.mkdir()
    (broken / "agent.py").write_text("raise RuntimeError('no licence: 42')\n")
    with running_desk(tmp_path / "d") as desk:
        before = {process["name"] for process in desk.status()["processes"]}
        for listed, why in ((bad, "sources.gateway.nope"), (tmp_path / "none.yaml", "No such file")):
            refused = desk.run("worker", "log_analysis", environment={"NIGHTDESK_LOG_SOURCES": str(listed)})
            assert refused.code == 1
            assert "cannot be used" in refused.err
            assert f"why: {why}" in refused.err
        dead = desk.run("worker", "--agent-folder", str(broken), "--count", "2")
        assert dead.code == 1
        assert "why: RuntimeError: no licence: 42\n" in dead.err
        after = desk.status()["processes"]
        assert {process["name"] for process in after} == before
        assert {process["restarts"] for process in after} == {0}

        beat = next(process["pid"] for process in after if process["name"] == "beat")
        os.kill(beat, signal.SIGKILL)
        while not (told := [p for p in desk.status()["processes"] if p["restarts"]]):
            continue
        assert [(p["name"], p["restarts"], p["last_end"]) for p in told] == [
            ("beat", 1, "terminated by SIGKILL")
        ]


def _sources(folder: Path, name: str) -> Path:
    (folder / f"{name}.log").write_text("".join(LOGS[name].format(n=n) for n in range(5)))
    listed = folder / f"{name}.yaml"
    listed.write_text(f"sources:\n  {name}: {{paths: ['{folder}/{name}.log']}}\n")
    return listed


def _add(desk: Desk, listed: Path) -> str:
    environment = {"NIGHTDESK_LOG_SOURCES": str(listed)}
    answer = desk.run("worker", "log_analysis", "--json", environment=environment)
    assert answer.code == 0, answer.err
    name: str = answer.json["added"][0]
    return name


def _workers(desk: Desk, added: str) -> tuple[dict[str, str], int]:
    """Return the worker that reaches each source once all do, and the process of the one that was added."""
    while True:
        status = desk.status()
        cards = {name: card for card in status["cards"] for name in card["sources"]}
        if set(cards) == set(LOGS):
            for name, card in cards.items():
                assert card["queues"] == [f"agents.log_analysis@{name}"]
            pid = next(process["pid"] for process in status["processes"] if process["name"] == added)
            return {name: card["worker"] for name, card in cards.items()}, pid


def _cited(report: dict[str, Any]) -> set[str]:
    proofs = [proof["source"] for finding in report["findings"] for proof in finding["evidence"]]
    return {name for name in LOGS for proof in proofs if name in proof}
