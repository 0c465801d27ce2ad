"""The event log: one Redis Stream per run, fed from the outbox in SQL; the id `<number>-0` is the event's own."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from pydantic import ValidationError
from redis import asyncio as aioredis

from kernel import logs
from kernel.clock import now
from kernel.control import redis_errors
from kernel.database import Database
from kernel.errors import Retryable
from kernel.events import EVENT, Event, ReportReady, TextDelta
from kernel.faults import around
from kernel.outbox import Recorded, collecting, rows_after
from kernel.unbroken import then_cut

T = TypeVar("T")
log = logs.get(__name__)

_BLOCK_MILLISECONDS = 5000

#: Appends numbered events that follow the last one, and returns the number reached: what is there is not said
#: again, what would leave a gap is not said yet. KEYS: the stream. ARGV: length, seconds to live, (number, body)…
_APPEND = """
local top = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local last = top[1] and tonumber(string.match(top[1][1], '^%d+')) or 0
for i = 3, #ARGV, 2 do
  if tonumber(ARGV[i]) == last + 1 then
    redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], ARGV[i] .. '-0', 'event', ARGV[i + 1])
    last = last + 1
  end
end
redis.call('EXPIRE', KEYS[1], ARGV[2])
return last
"""
#: Appends an event that no outbox holds (text as it streams) behind the last one; behind the report comes nothing,
#: whatever a worker says that has not heard yet of the end. A text that looks like a report has its quotes escaped.
_SAY = """
local top = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)
local number, part = '0', '0'
if top[1] and string.find(top[1][2][2], '"type": "report"', 1, true) then return '' end
if top[1] then number, part = string.match(top[1][1], '^(%d+)-(%d+)$') end
local id = number .. '-' .. tostring(tonumber(part) + 1)
redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], id, 'event', ARGV[3])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return id
"""


@dataclass(frozen=True)
class LoggedEvent:
    """An event with its id; ids grow."""

    id: str
    event: Event


class EventLog:
    """Publishes what the outbox holds, and reads run streams. Without a database it only reads."""

    def __init__(
        self, redis: aioredis.Redis, *, length: int, ttl_seconds: int, database: Database | None = None
    ) -> None:
        self._redis = redis
        self._database = database
        self._bounds = (length, ttl_seconds)
        self._append = redis.register_script(_APPEND)
        self._say = redis.register_script(_SAY)

    async def told(self, change: Callable[..., T], *args: Any, **kwargs: Any) -> T:
        """Apply a blocking change in a thread, then publish the events that it committed.

        Whoever is cut meanwhile goes on when the thread has ended: nobody may read rows that are still written.
        """
        with collecting() as recorded:
            result = await then_cut(asyncio.to_thread(change, *args, **kwargs))
        try:
            await self._publish(recorded)
        except Retryable as error:
            # the outbox has them: whoever relays next, says them
            log.warning("events_late", count=len(recorded), reason=str(error))
        return result

    async def relay(self, run_id: str) -> None:
        """Bring a run's stream up to its outbox, also where Redis lost it whole; raise Retryable without Redis."""
        if self._database is not None:
            last = (await self._last([run_id]))[run_id]
            await self._push(run_id, await asyncio.to_thread(rows_after, self._database, run_id, last))

    async def renew(self, run_id: str) -> None:
        """Relay a run; where rows of its outbox were changed since (a memory was forgotten), say all of it anew."""
        if self._database is None:
            return
        rows: list[Recorded] = []
        while more := await asyncio.to_thread(
            rows_after, self._database, run_id, rows[-1].seq if rows else 0
        ):
            rows += more
        with redis_errors("a read of a stream"):
            entries: Any = await self._redis.xrange(_key(run_id))
            said = {str(id_): fields.get("event", "null") for id_, fields in entries}
            kept = ((said.get(f"{row.seq}-0"), row.text) for row in rows)
            if any(old is not None and json.loads(old) != json.loads(new) for old, new in kept):
                await self._redis.delete(_key(run_id))
        await self._push(run_id, rows)

    async def relay_behind(self, numbers: Mapping[str, int]) -> None:
        """Relay the runs whose stream has not reached the given number."""
        reached = await self._last(list(numbers))
        for run_id, number in numbers.items():
            if reached[run_id] < number:
                await self.relay(run_id)

    async def say(self, event: Event) -> str:
        """Append an event that is not worth keeping and return its id, or "" where Redis did not take it."""
        stamped = event.model_copy(update={"at": event.at or now().isoformat()})
        try:
            with redis_errors("an event"):
                args: list[int | str] = [*self._bounds, stamped.model_dump_json()]
                return str(await self._say(keys=[_key(event.run_id)], args=args))
        except Retryable as error:
            log.warning("event_lost", type=event.type, reason=str(error))
            return ""

    async def read(self, run_id: str, after: str = "0", *, block: bool = False) -> list[LoggedEvent]:
        """Return the events after an id; with `block`, wait a few seconds for the first one."""
        while True:
            with redis_errors("a read of a stream"):
                answer: Any = await self._redis.xread(
                    {_key(run_id): after}, block=_BLOCK_MILLISECONDS if block else None
                )
            entries = cast("list[tuple[str, dict[str, Any]]]", answer[0][1] if answer else [])
            readable = [logged for id_, fields in entries if (logged := _logged(id_, fields))]
            if readable or not entries:
                return readable
            after = entries[-1][0]

    async def first(self, run_id: str) -> str:
        """Return the id of the oldest event that is still there, or "" where there is none."""
        with redis_errors("a read of a stream"):
            entries: Any = await self._redis.xrange(_key(run_id), count=1)
        return str(entries[0][0]) if entries else ""

    async def follow(self, run_id: str, after: str = "0") -> AsyncIterator[LoggedEvent | None]:
        """Yield events as they come until the report; None each few silent seconds (a heartbeat)."""
        last = after
        await self.relay(run_id)
        while True:
            batch = await self.read(run_id, last, block=True)
            if not batch:
                await self.relay(run_id)
                yield None
            for logged in batch:
                yield logged
                last = logged.id
                if isinstance(logged.event, ReportReady):
                    return

    async def _publish(self, recorded: Sequence[Recorded]) -> None:
        for run_id in dict.fromkeys(event.run_id for event in recorded):
            mine = [event for event in recorded if event.run_id == run_id]
            if await self._push(run_id, mine) < mine[-1].seq:
                await self.relay(run_id)  # another process has not published what it committed before us

    async def _push(self, run_id: str, events: Sequence[Recorded]) -> int:
        if not events:
            return 0
        args: list[int | str] = [
            *self._bounds,
            *(part for event in events for part in (event.seq, event.text)),
        ]
        with redis_errors("events"), around("events.publish"):
            return int(await self._append(keys=[_key(run_id)], args=args))

    async def _last(self, run_ids: Sequence[str]) -> dict[str, int]:
        """Return the number that each run's stream has reached."""
        with redis_errors("a read of a stream"):
            async with self._redis.pipeline(transaction=False) as pipe:
                for run_id in run_ids:
                    pipe.xrevrange(_key(run_id), count=1)
                tops = await pipe.execute()
        return {
            run_id: int(top[0][0].partition("-")[0]) if top else 0
            for run_id, top in zip(run_ids, tops, strict=True)
        }


def _logged(id_: str, fields: dict[str, Any]) -> LoggedEvent | None:
    try:
        return LoggedEvent(id_, EVENT.validate_json(fields["event"]))
    except (KeyError, ValidationError) as error:
        # a newer worker's event, or somebody else's: one that cannot be read ends no reader
        log.warning("event_not_read", id=id_, reason=str(error)[:200])
        return None


def _key(run_id: str) -> str:
    # 2: the ids of the first version were times, which no number can follow
    return f"nightdesk:events:2:{run_id}"


class TextStream:
    """Coalesces the pieces of an answer: one event at most every COALESCE_SECONDS."""

    COALESCE_SECONDS = 0.04  # readers see motion at 25 a second; more only costs Redis

    def __init__(self, events: EventLog, *, run_id: str, assignment_id: str, agent: str) -> None:
        self._events = events
        self._ids: Any = {"run_id": run_id, "assignment_id": assignment_id, "agent": agent}
        #: The turn whose text comes now.
        self.turn = 1
        self._pieces: list[str] = []
        self._timer: asyncio.Task[None] | None = None

    async def write(self, piece: str | None) -> None:
        """Add a piece; None says that the text so far is superseded (a stream that was cut)."""
        if piece is None:
            await self.close()
            await self._events.say(TextDelta(turn=self.turn, text="", superseded=True, **self._ids))
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
            await self._events.say(TextDelta(turn=self.turn, text="".join(pieces), **self._ids))
