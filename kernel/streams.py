"""The event log: one Redis Stream per run, capped and with a time to live; the stream id is the event id."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, cast

from redis import asyncio as aioredis

from kernel import logs
from kernel.clock import now
from kernel.control import redis_errors
from kernel.errors import Retryable
from kernel.events import EVENT, Event, ReportReady, TextDelta

log = logs.get(__name__)

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
        """Append an event and return its id, or "" where Redis did not take it."""
        key = _key(event.run_id)
        stamped = event.model_copy(update={"at": event.at or now().isoformat()})
        try:
            with redis_errors("an event"):
                async with self._redis.pipeline() as pipe:
                    pipe.xadd(
                        key, {"event": stamped.model_dump_json()}, maxlen=self._length, approximate=True
                    )
                    pipe.expire(key, self._ttl)
                    return str((await pipe.execute())[0])
        except Retryable as error:
            # the stream is for readers; SQL has the truth, and work goes on without it
            log.warning("event_lost", type=event.type, reason=str(error))
            return ""

    async def read(self, run_id: str, after: str = "0", *, block: bool = False) -> list[LoggedEvent]:
        """Return the events after an id; with `block`, wait a few seconds for the first one."""
        with redis_errors("a read of a stream"):
            answer: Any = await self._redis.xread(
                {_key(run_id): after}, block=_BLOCK_MILLISECONDS if block else None
            )
        entries = cast("list[tuple[str, dict[str, Any]]]", answer[0][1] if answer else [])
        return [LoggedEvent(id_, EVENT.validate_json(fields["event"])) for id_, fields in entries]

    async def first(self, run_id: str) -> str:
        """Return the id of the oldest event that is still there, or "" where there is none."""
        with redis_errors("a read of a stream"):
            entries: Any = await self._redis.xrange(_key(run_id), count=1)
        return str(entries[0][0]) if entries else ""

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


class TextStream:
    """Coalesces the pieces of an answer: one event at most every COALESCE_SECONDS."""

    COALESCE_SECONDS = 0.04  # readers see motion at 25 a second; more only costs Redis

    def __init__(self, events: EventLog, *, run_id: str, assignment_id: str, agent: str) -> None:
        self._events = events
        self._ids: Any = {"run_id": run_id, "assignment_id": assignment_id, "agent": agent}
        self._turn = 0
        self._pieces: list[str] = []
        self._timer: asyncio.Task[None] | None = None

    async def write(self, piece: str | None) -> None:
        """Add a piece; None says that the text so far is superseded (a stream that was cut)."""
        if piece is None:
            await self.close()
            await self._events.append(TextDelta(turn=self._turn, text="", superseded=True, **self._ids))
            return
        self._pieces.append(piece)
        if self._timer is None:
            self._timer = asyncio.create_task(self._later())

    async def close(self) -> None:
        """Send what is left."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        await self._send()

    async def _later(self) -> None:
        await asyncio.sleep(self.COALESCE_SECONDS)
        self._timer = None
        await self._send()

    async def _send(self) -> None:
        pieces, self._pieces = self._pieces, []
        if pieces:
            await self._events.append(TextDelta(turn=self._turn, text="".join(pieces), **self._ids))
