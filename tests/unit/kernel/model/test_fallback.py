"""The chain waits with jitter above the floor, rests what is broken, and goes on to the next endpoint."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.errors import Exhausted, Fatal, OverBudget, Retryable, Uncounted
from kernel.model.fallback import FallbackModel, Patience
from kernel.model.port import ContextTooLong, Message, ModelReply, ModelRequest, OnText, ignore_text
from kernel.model.scripted import ScriptedModel

QUESTION = ModelRequest(messages=[Message(role="user", content="why?")])
OK = {"text": "ok", "times": 0}


def busy(retry_after: float | None = None, times: int = 1) -> dict[str, Any]:
    return {"error": {"kind": "retryable", "retry_after": retry_after}, "times": times}


class World:
    def __init__(self, *scripts: list[dict[str, Any]], **patience: Any) -> None:
        self.now, self.waits = 0.0, []
        self.models = [ScriptedModel(script) for script in scripts]
        self.chain = FallbackModel(
            self.models,
            patience=Patience(**patience),
            clock=lambda: self.now,
            sleep=self.sleep,
            jitter=lambda: 0.5,
        )

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds

    async def ask(self) -> str:
        return (await self.chain.reply(QUESTION, ignore_text)).text

    @property
    def asked(self) -> list[int]:
        return [len(model.requests) for model in self.models]


async def test_backoff_grows_and_retry_after_is_a_floor() -> None:
    world = World([busy(), busy(5.0), OK])
    assert await world.ask() == "ok"
    assert world.waits == [0.5, 5.0]


async def test_attempts_are_bounded() -> None:
    world = World([busy(times=0)], attempts=3)
    with pytest.raises(Retryable):
        await world.ask()
    assert world.asked == [3]


async def test_a_long_retry_after_goes_to_the_next_endpoint_at_once() -> None:
    world = World([busy(3600.0)], [OK])
    assert await world.ask() == "ok"
    assert (world.waits, world.asked) == ([], [1, 1])


async def test_an_open_breaker_is_not_asked_and_one_failure_opens_it_again() -> None:
    world = World([busy(times=4), OK], attempts=1, open_after=3, open_seconds=10)
    for _ in range(3):
        with pytest.raises(Retryable):
            await world.ask()
    with pytest.raises(Retryable) as caught:
        await world.ask()
    assert (world.asked, caught.value.retry_after) == ([3], 10)
    world.now = 11
    with pytest.raises(Retryable):
        await world.ask()
    with pytest.raises(Retryable):
        await world.ask()
    assert world.asked == [4]
    world.now = 30
    assert await world.ask() == "ok"


@pytest.mark.parametrize(("kind", "error"), [("exhausted", Exhausted), ("fatal", Fatal)])
async def test_final_errors_are_not_retried(kind: str, error: type[Exception]) -> None:
    world = World([{"error": {"kind": kind}, "times": 0}])
    with pytest.raises(error):
        await world.ask()
    assert (world.asked, world.waits) == ([1], [])


class _Small:
    name = "small"

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        raise ContextTooLong("too long")

    async def close(self) -> None:
        return None


async def test_too_long_a_question_does_not_rest_the_endpoint() -> None:
    chain = FallbackModel([_Small()])
    for _ in range(3):
        with pytest.raises(ContextTooLong):
            await chain.reply(QUESTION, ignore_text)
    larger = FallbackModel([_Small(), ScriptedModel([OK])])
    assert (await larger.reply(QUESTION, ignore_text)).text == "ok"


class _Unpaid:
    name = "unpaid"

    def __init__(self, error: Exception) -> None:
        self.error, self.asked = error, 0

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        self.asked += 1
        raise self.error

    async def close(self) -> None:
        return None


@pytest.mark.parametrize("error", [OverBudget("budget: spent"), Uncounted("no database")])
async def test_what_was_not_sent_is_not_sent_elsewhere_and_blames_no_endpoint(error: Exception) -> None:
    first, second = _Unpaid(error), ScriptedModel([OK])
    chain = FallbackModel([first, second], patience=Patience(open_after=1))
    for _ in range(3):
        with pytest.raises(type(error)):
            await chain.reply(QUESTION, ignore_text)
    assert (first.asked, second.requests) == (3, [])
