"""The event log on a real Redis: order, resume, cap, coalesced text, and Redis away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
from redis import asyncio as aioredis

from kernel.control import connect
from kernel.events import ReportReady, StatusChange, TextDelta
from kernel.reports import Report
from kernel.streams import EventLog, TextStream

pytestmark = pytest.mark.integration


@pytest.fixture
async def redis(redis_url: str) -> AsyncIterator[aioredis.Redis]:
    client = connect(redis_url)
    yield client
    await client.aclose()


@pytest.fixture
def events(redis: aioredis.Redis) -> EventLog:
    return EventLog(redis, length=50, ttl_seconds=60)


def state(word: str) -> StatusChange:
    return StatusChange(run_id="r", state=word)


async def test_a_reader_resumes_after_the_last_id_without_gap_or_repeat(events: EventLog) -> None:
    for word in ("accepted", "planning", "working"):
        await events.append(state(word))
    first = await events.read("r")
    rest = await events.read("r", after=first[0].id)
    assert [e.event.state for e in first] == ["accepted", "planning", "working"]
    assert [e.event.state for e in rest] == ["planning", "working"]
    assert [e.id for e in first] == sorted(e.id for e in first)


async def test_following_ends_with_the_report(events: EventLog) -> None:
    async def follow() -> list[str]:
        return [logged.event.type async for logged in events.follow("r") if logged is not None]

    reader = asyncio.create_task(follow())
    await events.append(state("working"))
    await events.append(ReportReady(run_id="r", report=Report(run_id="r", state="succeeded")))
    assert await asyncio.wait_for(reader, 10) == ["status_change", "report"]


async def test_a_stream_is_capped_and_has_a_time_to_live(events: EventLog, redis: aioredis.Redis) -> None:
    for number in range(400):
        await events.append(state(str(number)))
    assert 50 <= await redis.xlen("nightdesk:events:r") <= 200  # Redis trims by whole nodes of 100
    assert 0 < await redis.ttl("nightdesk:events:r") <= 60


async def test_text_is_coalesced_and_loses_nothing(events: EventLog) -> None:
    texts = TextStream(events, run_id="r", assignment_id="a", agent="x")
    for piece in "为什么 503?" * 20:
        await texts.write(piece)
    await texts.close()
    deltas = [e.event for e in await events.read("r") if isinstance(e.event, TextDelta)]
    assert "".join(d.text for d in deltas) == "为什么 503?" * 20
    assert len(deltas) < 20


async def test_a_cut_text_is_marked_superseded(events: EventLog) -> None:
    texts = TextStream(events, run_id="r", assignment_id="a", agent="x")
    await texts.write("half an ans")
    await texts.write(None)
    await texts.write("whole answer")
    await texts.close()
    deltas = [e.event for e in await events.read("r")]
    assert [(d.text, d.superseded) for d in deltas] == [
        ("half an ans", False),
        ("", True),
        ("whole answer", False),
    ]


async def test_without_redis_an_event_is_lost_and_work_goes_on() -> None:
    client = connect("redis://127.0.0.1:1/0")
    assert await EventLog(client, length=10, ttl_seconds=60).append(state("working")) == ""
    await client.aclose()
