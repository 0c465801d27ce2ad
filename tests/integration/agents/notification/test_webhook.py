"""The webhook over real HTTP: signature, once-only delivery, classes of failure, and the address as a secret."""

from __future__ import annotations

import asyncio
import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from agents.notification.senders.webhook import sign
from agents.notification.tools import build_tools
from agents.runtime.tools import ToolContext
from kernel.errors import Correctable, NightdeskError, Refused, Retryable
from kernel.settings import Settings

pytestmark = pytest.mark.integration

DATA = Path(__file__).parents[4] / ".." / "shared" / "data" / "synthetic"
MESSAGE = {"channel": "webhook", "title": "结账 503", "body": "Cause: 连接池", "severity": "error"}


def _notify(sink: Any, ctx: ToolContext, **message: str) -> Any:
    settings = Settings(webhook_url=sink.url, webhook_secret="s3cret-s3cret")
    tool = {tool.name: tool for tool in build_tools(settings)}["notify"]
    arguments = MESSAGE | message
    tool.check(arguments)
    return tool.run(ctx, arguments)


async def test_a_signed_document_arrives(sink: Any, ctx: ToolContext) -> None:
    result = await _notify(sink, ctx)
    assert result == {"channel": "webhook", "state": "sent", "detail": "HTTP 200"}
    headers, body = sink.got[0]
    assert headers["X-Nightdesk-Id"] == "r1:webhook"
    assert headers["X-Nightdesk-Signature"] == sign("s3cret-s3cret", headers["X-Nightdesk-Timestamp"], body)
    assert headers["X-Nightdesk-Signature"] != sign("other", headers["X-Nightdesk-Timestamp"], body)
    document = json.loads(body)
    assert (document["title"], document["severity"], document["run_id"]) == ("结账 503", "error", "r1")
    assert "连接池" in document["text"]


async def test_a_run_has_one_message_per_channel(sink: Any, ctx: ToolContext) -> None:
    await _notify(sink, ctx)
    again = await _notify(sink, replace(ctx, call_id="c2"), body="something else")
    assert again["state"] == "sent"
    assert "not sent again" in again["detail"]
    assert len(sink.got) == 1


async def test_calls_side_by_side_send_once(sink: Any, ctx: ToolContext) -> None:
    results = await asyncio.gather(*(_notify(sink, replace(ctx, call_id=f"c{n}")) for n in range(6)))
    assert len(sink.got) == 1
    assert {result["state"] for result in results} <= {"sent", "skipped"}


@pytest.mark.parametrize(
    ("answer", "kind", "why"),
    [
        ((503, {}, b""), Retryable, "HTTP 503"),
        ((429, {"Retry-After": "7"}, b""), Retryable, "HTTP 429"),
        ((200, {}, b'{"errcode": 130101, "errmsg": "too fast"}'), Retryable, "code 130101"),
        ((404, {}, b""), Refused, "HTTP 404"),
        ((302, {"Location": "http://127.0.0.1:1/"}, b""), Refused, "HTTP 302"),
        ((200, {}, b'{"ok": false, "error": "no_channel"}'), Refused, "ok=false"),
        ((200, {}, b'{"errcode": 310000}'), Refused, "code 310000"),
    ],
)
async def test_failures_have_a_class_and_can_be_retried(
    sink: Any, ctx: ToolContext, answer: Any, kind: type[NightdeskError], why: str
) -> None:
    sink.answers = [answer, (200, {}, b'{"errcode": 0}')]
    with pytest.raises(kind, match=why) as caught:
        await _notify(sink, ctx)
    assert "very-secret" not in str(caught.value)
    if answer[1].get("Retry-After"):
        assert isinstance(caught.value, Retryable)
        assert caught.value.retry_after == 7
    assert (await _notify(sink, ctx))["state"] == "sent"
    assert [headers["X-Nightdesk-Id"] for headers, _ in sink.got] == ["r1:webhook"] * 2


async def test_no_listener_is_retryable_and_the_address_stays_secret(
    sink: Any, ctx: ToolContext, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), capture_logs() as lines:
        await _notify(sink, ctx)
        sink.url = "http://127.0.0.1:9/hook/very-secret"  # port 9, discard: nobody listens
        with pytest.raises(Retryable) as caught:
            await _notify(sink, replace(ctx, work=ctx.work.model_copy(update={"run_id": "r2"})))
    assert caught.value.__cause__ is None
    assert caught.value.why == "ConnectError"
    assert "very-secret" not in f"{caught.value!r}{caught.value}{caplog.text}{lines}"


async def test_a_call_stopped_while_sending_is_sent_again_with_the_same_id(
    sink: Any, ctx: ToolContext
) -> None:
    stuck = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        stuck.set()
        await reader.read()  # until the other side hangs up
        writer.close()

    good, server = sink.url, await asyncio.start_server(silent, "127.0.0.1", 0)
    sink.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/x"
    call = asyncio.create_task(_notify(sink, ctx))
    await stuck.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    server.close()
    sink.url = good
    assert (await _notify(sink, ctx))["state"] == "sent"
    assert sink.got[0][0]["X-Nightdesk-Id"] == "r1:webhook"


async def test_hostile_bodies_arrive_with_nothing_live(sink: Any, ctx: ToolContext) -> None:
    path = DATA / "injection.jsonl"
    if not path.exists():
        pytest.skip(f"needs {path}")
    logs = [json.loads(line)["log"] for line in path.read_text(encoding="utf-8").splitlines() if line]
    for number, log in enumerate(logs):
        work = ctx.work.model_copy(update={"run_id": f"run-{number}"})
        await _notify(sink, replace(ctx, work=work), title=log[:100], body=log)
    assert len(sink.got) == len(logs)
    for _, body in sink.got:
        document = json.loads(body)
        said = document["title"] + document["body"] + document["text"]
        assert not any(live in said for live in ("<", "@", "](", "http://", "https://", "\u200b", "\x1b"))


async def test_a_body_is_cut_to_what_robots_take(sink: Any, ctx: ToolContext) -> None:
    await _notify(sink, ctx, body="日志" * 20_000)
    assert len(sink.got[0][1]) < 20_000


async def test_an_unknown_channel_is_the_callers_mistake(sink: Any, ctx: ToolContext) -> None:
    with pytest.raises(Correctable, match="channel"):
        await _notify(sink, ctx, channel="#general")
    assert sink.got == []


async def test_the_console_writes_to_the_log(ctx: ToolContext) -> None:
    tools = {tool.name: tool for tool in build_tools(Settings())}
    assert await tools["list_channels"].run(ctx, {}) == {"default": ["console"], "available": ["console"]}
    with capture_logs() as lines:
        result = await tools["notify"].run(ctx, MESSAGE | {"channel": "console"})
    assert result["state"] == "sent"
    assert [(line["event"], line["title"], line["run"]) for line in lines] == [
        ("notification", "结账 503", "r1")
    ]
