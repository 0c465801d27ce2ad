"""The whole demo with a model: a scripted OpenAI server that reads what the tools returned, through ModelBrain."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_demo import PARTS, ROOT, assert_ok, crowd
from tests.support.model_server import ModelServer

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

ANALYST, ACTOR, TELLER = "You analyse logs", "You are the action agent", "You are the notification agent"
LINE, SOURCE = (
    r'\\?"first\\?": \{\\?"source\\?": \\?"[^"\\]+\\?", \\?"line\\?": (\d+)',
    r'\\?"first\\?": \{\\?"source\\?": \\?"([^"\\]+)',
)


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"tool": tool, "arguments": arguments}


def finish(answer: str, **more: Any) -> list[dict[str, Any]]:
    finding = {
        "title": "pool exhausted: 2/2 connections",
        "severity": "critical",
        "score": 0.9,
        "key": "pool_exhausted",
        "evidence": [{"source": "{{source}}", "line": "{{line}}", "quote": "pool exhausted: 2/2"}],
    }
    return [call("finish", answer=answer, findings=[finding], **more)]


SEARCH = call("search", pattern="pool exhausted: 2/2", limit=3)
STEPS: list[dict[str, Any]] = [
    # the analyst: without a memory it looks round first; with one it searches at once and cites it
    {"system": ANALYST, "when": "Turns left: 8", "anywhere": r"\[mem:[0-9a-f]{8}", "calls": [SEARCH], "times": 1},
    {"system": ANALYST, "when": "Turns left: 8", "calls": [call("overview")], "times": 1},
    {"system": ANALYST, "when": "Turns left: 7", "anywhere": r"\[mem:[0-9a-f]{8}", "times": 1,
     "capture": {"line": LINE, "source": SOURCE, "memory": r"\[mem:([0-9a-f-]+)"},
     "calls": finish("The pool again, as in [mem:{{memory}}].")},
    {"system": ANALYST, "when": "Turns left: 7", "calls": [SEARCH, call("search", level="error", limit=2)], "times": 1},
    {"system": ANALYST, "times": 1, "capture": {"line": LINE, "source": SOURCE}, "calls": finish("The pool is exhausted.")},
    # the others: one call, then the end
    {"system": ACTOR, "when": "Turns left: 8", "calls": [call("restart_service", service="checkout", config="last-good")], "times": 0},
    {"system": ACTOR, "text": "Restarted and verified.", "times": 0},
    {"system": TELLER, "when": "Turns left: 8", "times": 0,
     "calls": [call("notify", channel="webhook", title="checkout is back", body="The pool was exhausted.", severity="error")]},
    {"system": TELLER, "text": "Told.", "times": 0},
]  # fmt: skip


def test_the_demo_passes_with_a_model(tmp_path: Path) -> None:
    import shutil

    checkout, crowded = tmp_path / "with a model", crowd()
    for part in PARTS:
        shutil.copytree(ROOT / part, checkout / part)
    with ModelServer(STEPS) as model:
        environment = {
            **os.environ,
            "PYTHONPATH": str(checkout),
            "PYTHONIOENCODING": "utf-8",
            "NIGHTDESK_MODEL_BASE_URL": model.url,
            "NIGHTDESK_MODEL_NAME": "scripted",
        }
        done = subprocess.run(
            [sys.executable, str(checkout / "ops" / "demo" / "run.py"), "--yes", "--with-model"],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=180,
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
        assert_ok(checkout, done.stdout, crowded)
        assert "model:scripted" in done.stdout
        assert len(model.requests) >= 12
