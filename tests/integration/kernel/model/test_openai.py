"""The OpenAI client, the chain of endpoints and the brain against a scripted server in its own process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from kernel.errors import Exhausted, Fatal, Retryable
from kernel.model.fallback import FallbackModel, Patience
from kernel.model.openai import OpenAIModel
from kernel.model.port import ContextTooLong, Message, ModelRequest, ToolSchema
from kernel.settings import ModelEndpoint
from tests.support.model_server import ModelServer
from tests.support.promptness import quickest_of

pytestmark = pytest.mark.integration

SEARCH = ToolSchema(
    name="search",
    description="Search the log.",
    parameters={"type": "object", "properties": {"pattern": {"type": "string"}}, "required": ["pattern"]},
)
QUESTION = ModelRequest(messages=[Message(role="user", content="why 503?")], tools=[SEARCH])
CALL = {"text": "let me look", "calls": [{"tool": "search", "arguments": {"pattern": "错误|ERROR"}}]}


class Text:
    """Keeps streamed text; `heard` is set by the first piece."""

    def __init__(self) -> None:
        self.pieces: list[str | None] = []
        self.heard = asyncio.Event()

    async def __call__(self, text: str | None) -> None:
        self.pieces.append(text)
        self.heard.set()

    @property
    def final(self) -> str:
        since = max((i for i, piece in enumerate(self.pieces) if piece is None), default=-1)
        return "".join(piece or "" for piece in self.pieces[since + 1 :])


Make = Callable[..., OpenAIModel]


@pytest.fixture
async def make() -> AsyncIterator[Make]:
    async with AsyncExitStack() as stack:

        def made(server: ModelServer, **options: Any) -> OpenAIModel:
            options = {"timeout": 5.0, "input_price": 1.0, "output_price": 10.0} | options
            model = OpenAIModel(ModelEndpoint(base_url=server.url, model="scripted", **options))
            stack.push_async_callback(model.close)
            return model

        yield made


async def test_native_calls_are_put_together(make: Make) -> None:
    two = CALL | {"calls": [*CALL["calls"], {"tool": "search", "arguments": {"pattern": "pool"}}]}
    with ModelServer([two]) as server:
        text = Text()
        reply = await make(server).reply(QUESTION, text)
        body = server.requests[0]["body"]
    assert [call.arguments for call in reply.calls] == [{"pattern": "错误|ERROR"}, {"pattern": "pool"}]
    assert (reply.text, text.final, reply.finish) == ("let me look", "let me look", "tool_calls")
    assert (reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.estimated) == (100, 20, False)
    assert reply.usage.cost == pytest.approx((100 * 1 + 20 * 10) / 1e6)
    assert reply.seconds_to_first_token > 0
    assert reply.tokens_per_second > 0
    assert body["tools"][0]["function"]["name"] == "search"
    assert "response_format" not in body


async def test_json_protocol(make: Make) -> None:
    with ModelServer([CALL]) as server:
        text = Text()
        reply = await make(server, tool_calls="json").reply(QUESTION, text)
        body = server.requests[0]["body"]
    assert (reply.calls[0].name, reply.calls[0].arguments) == ("search", {"pattern": "错误|ERROR"})
    assert text.pieces == ["let me look"]
    assert "tools" not in body
    schema = body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["action"]["anyOf"][0]["properties"]["tool"] == {"const": "search"}
    assert "search(pattern: string)" in body["messages"][0]["content"]


async def test_a_conversation_is_sent_in_both_protocols(make: Make) -> None:
    call = {"id": "t1c0", "name": "search", "arguments": {"pattern": "x"}}
    messages = [
        *QUESTION.messages,
        Message(role="assistant", calls=[call]),
        Message(role="tool", call_id="t1c0", name="search", content="3 lines"),
    ]
    request = QUESTION.model_copy(update={"messages": messages})
    with ModelServer([{"text": "done", "times": 0}]) as server:
        await make(server).reply(request, Text())
        await make(server, tool_calls="json").reply(request, Text())
        native, by_json = (r["body"]["messages"] for r in server.requests)
    assert native[1]["tool_calls"][0]["id"] == native[2]["tool_call_id"] == "t1c0"
    assert [m["role"] for m in by_json] == ["system", "user", "assistant", "user"]
    assert '"tool": "search"' in by_json[2]["content"]


async def test_malformed_arguments_come_back_as_they_are(make: Make) -> None:
    with ModelServer([{"calls": [{"tool": "search", "arguments": '{"pattern": oops'}]}]) as server:
        reply = await make(server).reply(QUESTION, Text())
    assert reply.calls[0].arguments == '{"pattern": oops'


async def test_a_server_that_does_not_count(make: Make) -> None:
    steps = [
        {"status": 400, "message": "Unrecognized request argument: stream_options"},
        {"text": "fine", "usage": None},
    ]
    with ModelServer(steps) as server:
        # each question that is sent is one reply of the endpoint: the chain asks again
        reply = await FallbackModel([make(server)]).reply(QUESTION, Text())
        assert ["stream_options" in r["body"] for r in server.requests] == [True, False]
    assert reply.text == "fine"
    assert reply.usage.estimated
    assert reply.usage.output_tokens > 0


@pytest.mark.parametrize(
    ("step", "kind", "told"),
    [
        ({"status": 429, "headers": {"retry-after": "7"}}, Retryable, None),
        ({"status": 503}, Retryable, None),
        ({"status": 500}, Retryable, None),
        ({"status": 429, "code": "insufficient_quota"}, Exhausted, "Top up"),
        ({"status": 402, "message": "Insufficient Balance"}, Exhausted, "Top up"),
        ({"status": 400, "code": "context_length_exceeded"}, ContextTooLong, "CONTEXT_TOKENS"),
        ({"status": 400, "message": "the request exceeds the available context size"}, ContextTooLong, None),
        ({"status": 401}, Fatal, "API_KEY"),
        ({"status": 404}, Fatal, "BASE_URL"),
        ({"text": "half an answer", "cut_after": 2}, Retryable, "cut"),
        ({"text": "half an answer", "cut_after": 2, "abort": True}, Retryable, None),
    ],
)
async def test_refusals_are_classed(
    make: Make, step: dict[str, Any], kind: type[Exception], told: str | None
) -> None:
    with ModelServer([step]) as server, pytest.raises(kind, match=told) as caught:
        await make(server).reply(QUESTION, Text())
    assert type(caught.value) is kind
    if "headers" in step:
        assert caught.value.retry_after == 7.0


async def test_nobody_listens(make: Make) -> None:
    with ModelServer([]) as server:
        pass
    with pytest.raises(Retryable, match="cannot be reached"):
        await make(server).reply(QUESTION, Text())


async def test_a_silent_server_times_out(make: Make) -> None:
    with ModelServer([{"text": "a b c", "delay": 30}]) as server, pytest.raises(Retryable):
        await make(server, timeout=0.3).reply(QUESTION, Text())


@pytest.mark.parametrize("form", ["seconds", "date"])
async def test_retry_after_is_a_floor(make: Make, form: str) -> None:
    # an HTTP date has whole seconds: two ahead are at least one
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    busy = {"status": 429, "headers": {"retry-after": "1" if form == "seconds" else date}}
    with ModelServer([busy, {"text": "ok"}]) as server:
        reply = await FallbackModel([make(server)]).reply(QUESTION, Text())
        first, second = server.requests
    assert reply.text == "ok"
    assert second["at"] - first["at"] >= (1.0 if form == "seconds" else 0.95)


async def test_a_cut_stream_is_retried_and_its_text_superseded(make: Make) -> None:
    with ModelServer([{"text": "wrong half of", "cut_after": 3}, {"text": "the whole"}]) as server:
        text = Text()
        reply = await FallbackModel([make(server)], jitter=lambda: 0.0).reply(QUESTION, text)
    assert reply.text == "the whole"
    assert None in text.pieces
    assert text.final == "the whole"


async def test_cancel_closes_the_stream(make: Make) -> None:
    async def cut() -> float:
        with ModelServer([{"text": "word " * 600, "delay": 0.05}]) as server:
            text = Text()
            task = asyncio.create_task(make(server).reply(QUESTION, text))
            await text.heard.wait()
            cancelled = time.monotonic()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await server.until(lambda: server.ends)
            (end,) = server.ends
        assert end["ended"] == "disconnected"
        return float(end["at"] - cancelled)

    await quickest_of(cut, within=1.0)


async def test_an_exhausted_quota_is_final(make: Make) -> None:
    with ModelServer([{"status": 429, "code": "insufficient_quota"}, {"text": "never"}]) as server:
        model = FallbackModel([make(server)])
        with pytest.raises(Exhausted):
            await model.reply(QUESTION, Text())
        assert len(server.requests) == 1


async def test_the_breaker_opens_and_the_next_endpoint_answers(make: Make) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    now = [0.0]
    with (
        ModelServer([{"status": 500, "times": 4}, {"text": "back"}]) as broken,
        ModelServer([{"text": "b", "times": 0}]) as good,
    ):
        patience = Patience(attempts=2, open_after=4, open_seconds=30)
        model = FallbackModel(
            [make(broken), make(good)], patience=patience, sleep=sleep, clock=lambda: now[0]
        )
        for _ in range(4):
            assert (await model.reply(QUESTION, Text())).text == "b"
        assert len(broken.requests) == 4  # two replies of two attempts; then nobody knocks any more
        assert len(waits) == 2
        now[0] = 31.0
        assert (await model.reply(QUESTION, Text())).text == "back"


async def test_all_down(make: Make) -> None:
    async def sleep(seconds: float) -> None:
        return None

    with ModelServer([{"status": 401}]) as first, ModelServer([{"status": 503, "times": 0}]) as second:
        model = FallbackModel([make(first), make(second)], sleep=sleep)
        with pytest.raises(Retryable):
            await model.reply(QUESTION, Text())
        assert len(second.requests) == 3
        with pytest.raises(Retryable):
            await model.reply(QUESTION, Text())
        assert len(first.requests) == 1
