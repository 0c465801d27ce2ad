"""Logs come out as redacted JSON lines with the bound ids, whichever library wrote them."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
import structlog
from pydantic import SecretStr

from kernel import logs
from kernel.settings import Settings

Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def restored() -> Iterator[None]:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    yield
    root.handlers[:] = before
    root.setLevel(level)
    logging.captureWarnings(capture=False)
    logs.clear()
    structlog.reset_defaults()


@pytest.fixture
def lines(restored: None) -> Lines:
    out = io.StringIO()
    settings = Settings(smtp_password=SecretStr("plain-secret-1"), log_format="json")
    logs.configure(settings, service="coordinator", stream=out)
    return lambda: [json.loads(line) for line in out.getvalue().splitlines()]


def test_json_with_ids_level_time_and_service(lines: Lines) -> None:
    logs.bind(run="r-1", namespace="团队")
    logs.get("x.y").info("run accepted", sources=2)
    logs.clear()
    logs.get("x.y").warning("next")
    first, second = lines()
    assert {"event": "run accepted", "run": "r-1", "namespace": "团队", "sources": 2}.items() <= first.items()
    assert (first["level"], first["service"], first["logger"]) == ("info", "coordinator", "x.y")
    assert datetime.fromisoformat(first["timestamp"]).tzinfo == UTC
    assert "run" not in second


def test_stdlib_goes_through_the_same_renderer(lines: Lines) -> None:
    logs.bind(call="c-1")
    logging.getLogger("celery.worker").info("Task %s received", "t-1")
    logging.getLogger("httpx").info("HTTP Request: GET http://x")
    (line,) = lines()
    assert (line["event"], line["call"], line["logger"]) == ("Task t-1 received", "c-1", "celery.worker")


@pytest.mark.parametrize("name", ["ours", "stdlib"])
def test_secrets_appear_nowhere(lines: Lines, name: str) -> None:
    log = logs.get("a") if name == "ours" else logging.getLogger("a")
    try:
        raise ValueError("password=hunter2 and plain-secret-1")
    except ValueError:
        log.exception("call 13800138000 failed")
    logs.get("a").info(
        "sent",
        password=12345,
        to=["ops@example.com", ValueError("pwd=hunter2")],
        error=ValueError("token=abcd12345"),
    )
    text = json.dumps(lines())
    assert "Traceback" in text
    assert "sent" in text
    for secret in ("hunter2", "plain-secret-1", "13800138000", "12345", "ops@example.com"):
        assert secret not in text


def test_level_and_console(restored: None) -> None:
    out = io.StringIO()
    logs.configure(Settings(log_format="console", log_level="warning"), service="s", stream=out)
    logs.get("a").info("hidden")
    logs.get("a").error("shown", phone="13800138000")
    assert "hidden" not in out.getvalue()
    assert "shown" in out.getvalue()
    assert "13800138000" not in out.getvalue()


async def test_ids_stay_within_their_task(lines: Lines) -> None:
    async def work(run: str) -> None:
        logs.bind(run=run)
        await asyncio.sleep(0)
        logs.get("a").info(run)

    await asyncio.gather(work("r-1"), work("r-2"))
    assert [(line["event"], line["run"]) for line in lines()] == [("r-1", "r-1"), ("r-2", "r-2")]
