"""Slow, many and stopped answers of one model server, asked by one real worker."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from tests.support.little_fleet import VISIBILITY_SECONDS, Fleet, cancel, until
from tests.support.model_server import ModelServer
from tests.support.promptness import quickest

pytestmark = pytest.mark.integration


def _answer(word: str, text: str, delay: float = 0.0) -> dict[str, object]:
    calls = [{"tool": "finish", "arguments": {"answer": text}}]
    return {"anywhere": word, "text": "", "calls": calls, "delay": delay, "times": 0}


STEPS = [
    _answer("be slow", "slowly " * 30, delay=0.15),
    _answer("be quick", "yes"),
    _answer("never end", "and on " * 300, delay=0.15),
]


@pytest.fixture(scope="module")
def server(little: Fleet) -> Iterator[ModelServer]:
    """A model server, and one worker that asks it."""
    with ModelServer(STEPS) as made:
        little.ensure()
        little.start("worker-model", NIGHTDESK_MODEL_BASE_URL=made.url, NIGHTDESK_MODEL_NAME="scripted")
        little.ready("worker-model")
        yield made


def asked(server: ModelServer, word: str) -> int:
    return sum(word in str(request["body"]["messages"]) for request in server.requests)


def test_celery_34_a_slow_model_is_asked_once_and_billed_once(little: Fleet, server: ModelServer) -> None:
    began = time.monotonic()
    run_id = little.submit("be slow")
    run = little.ended(run_id)
    assert time.monotonic() - began > 2 * VISIBILITY_SECONDS  # longer than lease and visibility time-out
    assert (run.state, asked(server, "be slow")) == ("succeeded", 1)
    assert run.report is not None
    assert run.report["usage"]["input_tokens"] == 100
    assert little.assignment(run_id).fence == 1


def test_celery_37_fifty_tasks_share_a_client_and_its_loop(little: Fleet, server: ModelServer) -> None:
    runs = [little.submit("be quick") for _ in range(50)]
    assert {little.ended(run_id).state for run_id in runs} == {"succeeded"}
    assert asked(server, "be quick") == 50
    assert {little.assignment(run_id).brain for run_id in runs} == {"model:scripted"}
    for said in ("Event loop is closed", "attached to a different loop"):
        assert said not in little.log("worker-model")


def test_symptom_08_a_cancel_reaches_the_models_socket_within_a_second(
    little: Fleet, server: ModelServer
) -> None:
    def cut() -> float:
        before = asked(server, "never end")
        run_id = little.submit("never end")
        until(lambda: asked(server, "never end") > before, little.logs)
        number = server.requests[-1]["number"]
        said = cancel(little, run_id)
        end = until(lambda: [e for e in server.ends if e["number"] == number], little.logs)[0]
        assert end["ended"] == "disconnected"
        assert little.ended(run_id).state == "cancelled"
        assert asked(server, "never end") == before + 1
        return float(end["at"] - said)  # the same clock: the record is of this machine

    quickest(cut, within=1.0)
