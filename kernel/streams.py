"""The event log: one Redis Stream per run, capped and with a time to live; the stream id is the event id."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, cast

from redis import asyncio as aioredis

from kernel.clock import now
from kernel.events import EVENT, Event, ReportReady

_BLOCK_MILLISECONDS = 5000


@dataclass(frozen=True)
class LoggedEvent:
    """An event with its id; ids grow."""

    id: str
    event: Event


class EventLog:
    """Appends to and reads from run streams."""

    def __init__(self, redis: aioredis.Redis, *, length: int, ttl_seconds: int) -> None:
        self._redis = redis
        self._length = length
        self._ttl = ttl_seconds

    async def append(self, event: Event) -> str:
        """Append an event and return its id."""
        key = _key(event.run_id)
        stamped = event.model_copy(update={"at": event.at or now().isoformat()})
        async with self._redis.pipeline() as pipe:
            pipe.xadd(key, {"event": stamped.model_dump_json()}, maxlen=self._length, approximate=True)
            pipe.expire(key, self._ttl)
            return str((await pipe.execute())[0])

    async def read(self, run_id: str, after: str = "0", *, block: bool = False) -> list[LoggedEvent]:
        """Return the events after an id; with `block`, wait a few seconds for the first one."""
        answer = await self._redis.xread({_key(run_id): after}, block=_BLOCK_MILLISECONDS if block else None)
        entries = cast("list[tuple[str, dict[str, Any]]]", answer[0][1] if answer else [])
        return [LoggedEvent(id_, EVENT.validate_json(fields["event"])) for id_, fields in entries]

    async def follow(self, run_id: str, after: str = "0") -> AsyncIterator[LoggedEvent | None]:
        """Yield events as they come until the report; None each few silent seconds (a heartbeat)."""
        last = after
        while True:
            batch = await self.read(run_id, last, block=True)
            if not batch:
                yield None
            for logged in batch:
                yield logged
                last = logged.id
                if isinstance(logged.event, ReportReady):
                    return


def _key(run_id: str) -> str:
    return f"nightdesk:events:{run_id}"
