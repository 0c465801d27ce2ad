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
