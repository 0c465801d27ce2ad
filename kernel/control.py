"""Control over Redis: stop flags with a nudge, questions with an answer in time, queue lengths."""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

from redis import asyncio as aioredis
from redis.exceptions import RedisError

from kernel.broker import Doorbell, queue_keys
from kernel.errors import Correctable, NightdeskError, Refused, Retryable
from kernel.faults import around

_STOP_CHANNEL = "nightdesk:stop"
_STOP_SECONDS = 24 * 3600
_REPLY_SECONDS = 30
_PING_SECONDS = 60
#: Redis is asked for an answer again after this: well within a client's socket timeout (`connect`), so that a long
#: question is no trouble of Redis, and a Redis that hangs is still noticed.
_LOOK_SECONDS = 5.0
#: What a question may take beyond the wait for its answer: the broker's own time-outs are many times longer.
_HANGING_SECONDS = 1.0
#: A listener that lost Redis looks again this often; flags in SQL and Redis cover the gap.
_RECONNECT_SECONDS = 1.0


def connect(url: str) -> aioredis.Redis:
    """Return an asynchronous client; it connects on first use and belongs to one loop."""
    return aioredis.Redis.from_url(
        url, decode_responses=True, socket_timeout=15, socket_connect_timeout=5, health_check_interval=10
    )


@contextmanager
def redis_errors(what: str) -> Iterator[None]:
    """Turn Redis's errors into ours: whoever asked may ask again."""
    try:
        yield
    except (RedisError, OSError) as error:
        raise Retryable(f"Redis did not take {what}", why=str(error)) from error


class Control:
    """Stop flags and questions of one process."""

    def __init__(self, redis: aioredis.Redis, *, look_seconds: float = _LOOK_SECONDS) -> None:
        self._redis = redis
        self._look_seconds = look_seconds

    async def stop(self, run_id: str, why: str) -> None:
        """Raise the stop flag of a run and nudge every worker."""
        with redis_errors("a stop flag"), around("control.stop"):
            await self._redis.set(f"nightdesk:stop:{run_id}", why, ex=_STOP_SECONDS)
            await self._redis.publish(_STOP_CHANNEL, json.dumps({"run": run_id, "why": why}))

    async def listen(self, on_stop: Callable[[str, str], None]) -> None:
        """Call `on_stop(run_id, why)` for each nudge, for ever; survives a restart of Redis."""
        while True:
            try:
                async with self._redis.pubsub() as channel:
                    await channel.subscribe(_STOP_CHANNEL)
                    async for message in channel.listen():
                        if message["type"] == "message":
                            nudge = json.loads(message["data"])
                            on_stop(nudge["run"], nudge["why"])
            except (RedisError, OSError, json.JSONDecodeError):
                await asyncio.sleep(_RECONNECT_SECONDS)

    async def ask(
        self, doorbell: Doorbell, task: str, *, queue_name: str, question: dict[str, Any], seconds: float
    ) -> Any:
        """Ask a service and wait at most `seconds`, a second more where Redis hangs; else raise Retryable."""
        reply_to = f"nightdesk:reply:{uuid.uuid4().hex}"
        told: dict[str, Any] = {"reply_to": reply_to, "question": question}
        try:
            async with asyncio.timeout(seconds + _HANGING_SECONDS):
                await asyncio.to_thread(doorbell.ask, task, queue_name=queue_name, expires=seconds, **told)
                answered = await self._answered(reply_to, seconds)
        except TimeoutError as late:
            raise Retryable(f"{task} could not be asked in {seconds:g} s", why="Redis hangs") from late
        if answered is None:
            raise Retryable(
                f"{task} gave no answer within {seconds:g} s", why="no worker took the question in time"
            )
        answer = json.loads(answered[1])
        if error := answer.get("error"):
            raise _refusal(task, error if isinstance(error, dict) else {"why": str(error)})
        return answer["value"]

    async def _answered(self, reply_to: str, seconds: float) -> list[str] | None:
        until = time.monotonic() + seconds
        with redis_errors("a question"):
            while True:
                left = until - time.monotonic()
                look = max(min(left, self._look_seconds), 0.01)
                found = await cast("Awaitable[list[str] | None]", self._redis.blpop([reply_to], timeout=look))
                if found is not None or left <= look:
                    return found

    async def answer(self, reply_to: str, value: Any = None, *, error: NightdeskError | None = None) -> None:
        """Answer a question; the answer waits at most half a minute to be read."""
        told = error and {
            "code": error.code,
            "what": error.what,
            "why": error.why,
            "next_step": error.next_step,
        }
        body = {"error": told} if told else {"value": value}
        async with self._redis.pipeline() as pipe:
            pipe.rpush(reply_to, json.dumps(body, ensure_ascii=False))
            pipe.expire(reply_to, _REPLY_SECONDS)
            await pipe.execute()

    async def tally(self, name: str, counts: Mapping[str, int]) -> None:
        """Add to the counts of a name; they are for metrics alone, and last as long as Redis's data."""
        with redis_errors("a count"):
            async with self._redis.pipeline(transaction=False) as pipe:
                for label, count in counts.items():
                    pipe.hincrby(f"nightdesk:tally:{name}", label, count)
                await pipe.execute()

    async def tallied(self, name: str) -> dict[str, int]:
        """Return the counts of a name."""
        with redis_errors("a question about its counts"):
            counted = await cast("Awaitable[dict[str, str]]", self._redis.hgetall(f"nightdesk:tally:{name}"))
        return {label: int(count) for label, count in counted.items()}

    async def queue_lengths(self, names: list[str]) -> dict[str, int]:
        """Return how many messages wait in each queue, over all priorities."""
        with redis_errors("a question about its queues"):
            async with self._redis.pipeline(transaction=False) as pipe:
                for name in names:
                    for key in queue_keys(name):
                        pipe.llen(key)
                lengths = await pipe.execute()
        width = len(queue_keys(""))
        return {name: sum(lengths[i * width : (i + 1) * width]) for i, name in enumerate(names)}

    async def ping(self) -> dict[str, Any]:
        """Return the server's facts, or raise Retryable; also where it is full or read-only: it must take a write."""
        try:
            await self._redis.set("nightdesk:ping", "", ex=_PING_SECONDS)
            facts = await self._redis.info()
            policy = await self._redis.config_get("appendonly")
        except (RedisError, OSError) as error:
            raise Retryable("Redis did not answer", why=str(error)) from error
        return {"version": facts.get("redis_version"), "appendonly": policy.get("appendonly") == "yes"}


#: What the asker can mend, and what asking again does not change, keep their class on the way.
_KEPT: dict[str, type[NightdeskError]] = {kind.code: kind for kind in (Correctable, Refused)}


def _refusal(task: str, error: dict[str, str]) -> NightdeskError:
    """Return the error of an answer, in the class that says who must act."""
    if kind := _KEPT.get(error.get("code", "")):
        return kind(error["what"], why=error["why"], next_step=error["next_step"])
    why = ": ".join(part for part in (error.get("what", ""), error.get("why", "")) if part)
    return Retryable(f"{task} failed", why=why, next_step=error.get("next_step", ""))
