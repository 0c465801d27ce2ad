"""Cards in Redis: what live workers say, also those of another version."""

from __future__ import annotations

import json

import pytest
from redis import asyncio as aioredis

from kernel.cards import Cards
from kernel.contracts import Card

pytestmark = pytest.mark.integration


async def test_a_card_that_says_more_than_we_know_still_counts(redis_url: str) -> None:
    redis = aioredis.from_url(redis_url, decode_responses=True)
    cards = Cards(redis)
    try:
        await cards.publish(Card(agent="a", purpose="p", queue="agents.a", worker="w1"))
        ((field, body),) = (await redis.hgetall("nightdesk:cards")).items()
        told = json.loads(body)
        told["card"] |= {"worker": "w2", "unheard_of": [1]}
        await redis.hset("nightdesk:cards", f"{field}2", json.dumps(told))
        for broken in (
            "",
            "[]",
            "{}",
            '{"until": 99999999999, "card": 1}',
            '{"until": 99999999999, "card": {}}',
        ):
            await redis.hset("nightdesk:cards", f"broken{broken}", broken)
        assert [card.worker for card in await cards.live()] == ["w1", "w2"]
    finally:
        await redis.aclose()
