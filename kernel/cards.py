"""Cards: what live workers say they can do, in Redis with a time to live."""

from __future__ import annotations

from typing import cast

from pydantic import ValidationError
from redis import asyncio as aioredis

from kernel.contracts import Card
from kernel.control import redis_errors

_PREFIX = "nightdesk:card:"
#: A worker publishes every CARD_SECONDS; a card lives three times as long.
CARD_SECONDS = 4.0
_LIFE_SECONDS = 12


class Cards:
    """Publishes and lists cards."""

    def __init__(self, redis: aioredis.Redis) -> None:
        self._redis = redis

    async def publish(self, card: Card) -> None:
        """Put a card up, or refresh it."""
        with redis_errors("a card"):
            await self._redis.set(
                f"{_PREFIX}{card.agent}:{card.worker}", card.model_dump_json(), ex=_LIFE_SECONDS
            )

    async def withdraw(self, card: Card) -> None:
        """Take a card down."""
        with redis_errors("a card"):
            await self._redis.delete(f"{_PREFIX}{card.agent}:{card.worker}")

    async def live(self) -> list[Card]:
        """Return the cards of all live workers, by agent and worker; a card of another version is passed over."""
        with redis_errors("the cards"):
            keys = sorted([key async for key in self._redis.scan_iter(match=f"{_PREFIX}*", count=500)])
            texts = cast("list[str | None]", await self._redis.mget(keys)) if keys else []
        cards = []
        for text in texts:
            try:
                cards += [Card.model_validate_json(text)] if text else []
            except ValidationError:
                continue
        return cards
