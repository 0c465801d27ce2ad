"""Cards: what live workers say they can do, in one Redis hash; a card that is not refreshed counts as gone."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError
from redis import asyncio as aioredis

from kernel.contracts import Card
from kernel.control import redis_errors

_HASH = "nightdesk:cards"
#: A worker publishes every CARD_SECONDS; a card lives three times as long, on Redis's clock.
CARD_SECONDS = 4.0
_LIFE_SECONDS = 12


class Cards:
    """Publishes and lists cards."""

    def __init__(self, redis: aioredis.Redis) -> None:
        self._redis = redis

    async def publish(self, card: Card) -> None:
        """Put a card up, or refresh it."""
        with redis_errors("a card"):
            until = (await self._redis.time())[0] + _LIFE_SECONDS
            body = json.dumps({"until": until, "card": card.model_dump(mode="json")}, ensure_ascii=False)
            await self._field("hset", card, body)

    async def withdraw(self, card: Card) -> None:
        """Take a card down."""
        with redis_errors("a card"):
            await self._field("hdel", card)

    async def live(self) -> list[Card]:
        """Return the cards of all live workers, by agent and worker; what cannot be read is passed over."""
        with redis_errors("the cards"):
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.time()
                pipe.hgetall(_HASH)
                (now, _), bodies = await pipe.execute()
            read = {field: _read(body, now) for field, body in sorted(bodies.items())}
            gone = [field for field, (_, expired) in read.items() if expired]
            if gone:
                await self._field("hdel", *gone)
        return [card for card, expired in read.values() if card is not None and not expired]

    async def _field(self, command: str, what: Card | str, *more: str) -> None:
        field = what if isinstance(what, str) else f"{what.agent}:{what.worker}"
        run: Any = getattr(self._redis, command)  # the stubs mix the synchronous and the asynchronous answer
        await run(_HASH, field, *more)


def _read(body: str, now: int) -> tuple[Card | None, bool]:
    """Return a card and whether its time is over."""
    try:
        told = json.loads(body)
        expired = bool(told["until"] < now)
    except (ValueError, KeyError, TypeError):
        return None, True
    try:
        # a newer worker's card may say more; what it says here still holds
        known = {name: value for name, value in told["card"].items() if name in Card.model_fields}
        return Card.model_validate(known), expired
    except (ValidationError, KeyError, AttributeError):
        return None, expired
