"""Questions, stop flags, queue lengths and cards on a real Redis."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator
from time import monotonic
from typing import Any

import pytest
from redis import asyncio as aioredis

from kernel.broker import Doorbell, make_celery, queue, queue_keys
from kernel.cards import Cards
from kernel.contracts import Card
from kernel.control import Control, connect
from kernel.errors import Retryable
from kernel.redaction import Redactor
from kernel.settings import Settings

pytestmark = pytest.mark.integration


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[aioredis.Redis]:
    client = connect(redis_url)
    yield client
    await client.aclose()


@pytest.fixture
def bell(redis_url: str) -> Doorbell:
    return Doorbell(make_celery(Settings(redis_url=redis_url), "test"), Redactor(["hunter2-secret"]))


async def test_a_question_does_not_wait_for_a_broker_that_hangs(redis: aioredis.Redis) -> None:
    free = threading.Event()

    class Hanging(Doorbell):
        def ask(self, *_: Any, **__: Any) -> None:
            free.wait(30)

    bell = Hanging(make_celery(Settings(), "test"), Redactor())
    try:
        started = monotonic()
        with pytest.raises(Retryable, match="could not be asked"):
            await Control(redis).ask(bell, "memory.check", queue_name="memory", question={}, seconds=0.1)
        assert monotonic() - started < 10
    finally:
        free.set()


async def _reply_to(redis: aioredis.Redis) -> str:
    """Play the worker: take the question off the queue."""
    _, raw = await redis.brpop(queue_keys("memory"), timeout=30)
    import base64

    body = json.loads(base64.b64decode(json.loads(raw)["body"]))
    return str(body[1]["reply_to"])


async def test_a_question_gets_its_answer(redis: aioredis.Redis, bell: Doorbell) -> None:
    control = Control(redis)
    asked = asyncio.create_task(
        control.ask(bell, "memory.recall", queue_name="memory", question={"text": "x"}, seconds=30)
    )
    await control.answer(await _reply_to(redis), [{"id": "m1"}])
    assert await asked == [{"id": "m1"}]


async def test_an_error_and_silence_are_retryable(redis: aioredis.Redis, bell: Doorbell) -> None:
    control = Control(redis)
    asked = asyncio.create_task(
        control.ask(bell, "memory.recall", queue_name="memory", question={}, seconds=30)
    )
    await control.answer(await _reply_to(redis), error=Retryable("index is being built"))
    with pytest.raises(Retryable, match="index is being built"):
        await asked
    with pytest.raises(Retryable, match=r"no answer within 0\.05 s"):
        await control.ask(bell, "memory.recall", queue_name="memory", question={}, seconds=0.05)


async def test_a_question_may_take_longer_than_the_socket_of_its_client(
    bell: Doorbell, redis_url: str
) -> None:
    impatient = aioredis.Redis.from_url(redis_url, decode_responses=True, socket_timeout=1.0)
    control = Control(impatient, look_seconds=0.2)
    with pytest.raises(Retryable, match=r"memory\.doctor gave no answer within 1\.5 s") as silent:
        await control.ask(bell, "memory.doctor", queue_name="memory", question={}, seconds=1.5)
    assert "no worker took the question" in silent.value.why, "it is no trouble of Redis"
    await impatient.aclose()


async def test_a_stop_reaches_a_listener_and_leaves_a_flag(redis: aioredis.Redis, redis_url: str) -> None:
    other = connect(redis_url)
    heard: asyncio.Queue[tuple[str, str]] = asyncio.Queue()
    listener = asyncio.create_task(Control(other).listen(lambda run, why: heard.put_nowait((run, why))))
    while not (await redis.pubsub_numsub("nightdesk:stop"))[0][1]:
        await asyncio.sleep(0)
    await Control(redis).stop("run-1", "cancelled")
    assert await asyncio.wait_for(heard.get(), 30) == ("run-1", "cancelled")
    assert await redis.get("nightdesk:stop:run-1") == "cancelled"
    listener.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await listener
    await other.aclose()


async def test_queue_lengths_count_all_priorities(redis: aioredis.Redis, bell: Doorbell) -> None:
    for priority in ("high", "normal", "low"):
        bell.ring("coordinator.advance", "run-1", queue_name="coordinator", priority=priority)
    assert await Control(redis).queue_lengths(["coordinator", "memory"]) == {"coordinator": 3, "memory": 0}


async def test_counts_add_up_by_name(redis: aioredis.Redis) -> None:
    control = Control(redis)
    assert await control.tallied("citations") == {}
    await control.tally("citations", {"ok": 2, "stale": 1})
    await control.tally("citations", {"ok": 1})
    assert await control.tallied("citations") == {"ok": 3, "stale": 1}
    assert await control.tallied("others") == {}


async def test_high_priority_is_served_first(redis: aioredis.Redis, bell: Doorbell) -> None:
    bell.ring("coordinator.advance", "low", queue_name="coordinator", priority="low")
    bell.ring("coordinator.advance", "high", queue_name="coordinator", priority="high")
    _, raw = await redis.brpop(queue_keys("coordinator"), timeout=30)
    assert json.loads(raw)["headers"]["argsrepr"] == "<high>"


async def test_a_doorbell_carries_an_id_and_shows_no_secret(redis: aioredis.Redis, bell: Doorbell) -> None:
    bell.ring(
        "coordinator.advance", "run-1", queue_name="coordinator", note="login with hunter2-secret fails"
    )
    _, raw = await redis.brpop(["coordinator\x06\x163"], timeout=30)
    assert "hunter2" not in raw
    assert json.loads(raw)["headers"]["argsrepr"].startswith("<run-1 login with")
    assert len(raw) < 2000


async def test_cards_live_as_long_as_they_are_refreshed(redis: aioredis.Redis) -> None:
    cards = Cards(redis)
    card = Card(agent="a", purpose="p", queue="agents.a", worker="w")
    await cards.publish(card)
    newer = '{"until": 99999999999, "card": {"agent": "b", "field_of_a_newer_version": 1}}'
    dead = '{"until": 1, "card": {"agent": "c", "purpose": "p", "queue": "q", "worker": "w"}}'
    await redis.hset("nightdesk:cards", mapping={"b:w": newer, "c:w": dead, "d:w": "rubbish"})
    assert await cards.live() == [card]
    assert sorted(await redis.hkeys("nightdesk:cards")) == ["a:w", "b:w"]
    await cards.withdraw(card)
    assert await cards.live() == []


def test_queues_are_declared_alike_everywhere() -> None:
    assert queue("memory").exchange.name == queue("memory").routing_key == "memory"
