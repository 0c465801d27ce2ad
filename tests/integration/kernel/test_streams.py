"""The event log on a real Redis: order, resume, cap, coalesced text, and Redis away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from redis import asyncio as aioredis

from kernel.control import connect
from kernel.database import Database
from kernel.events import ReportReady, StatusChange, TextDelta
from kernel.ledgers import EventRow
from kernel.outbox import record
from kernel.records import RunRow
from kernel.reports import Report
from kernel.schema import migrate
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
        await events.say(state(word))
    first = await events.read("r")
    rest = await events.read("r", after=first[0].id)
    assert [e.event.state for e in first] == ["accepted", "planning", "working"]
    assert [e.event.state for e in rest] == ["planning", "working"]
    assert [e.id for e in first] == sorted(e.id for e in first)


async def test_following_ends_with_the_report(events: EventLog) -> None:
    async def follow() -> list[str]:
        return [logged.event.type async for logged in events.follow("r") if logged is not None]

    reader = asyncio.create_task(follow())
    await events.say(state("working"))
    await events.say(ReportReady(run_id="r", report=Report(run_id="r", state="succeeded")))
    assert await asyncio.wait_for(reader, 10) == ["status_change", "report"]


async def test_a_stream_is_capped_and_has_a_time_to_live(events: EventLog, redis: aioredis.Redis) -> None:
    for number in range(400):
        await events.say(state(str(number)))
    assert 50 <= await redis.xlen("nightdesk:events:2:r") <= 200  # Redis trims by whole nodes of 100
    assert 0 < await redis.ttl("nightdesk:events:2:r") <= 60


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


async def test_without_redis_text_is_lost_and_work_goes_on() -> None:
    client = connect("redis://127.0.0.1:1/0")
    assert await EventLog(client, length=10, ttl_seconds=60).say(state("working")) == ""
    await client.aclose()


@pytest.fixture
def database(tmp_path: Path) -> Database:
    made = Database(f"sqlite:///{tmp_path / 'x.db'}")
    migrate(made)
    with made.writing("test") as session:
        session.add(RunRow(id="r"))
    return made


@pytest.fixture
def kept(redis: aioredis.Redis, database: Database) -> EventLog:
    return EventLog(redis, length=50, ttl_seconds=60, database=database)


def commit(database: Database, *words: str) -> None:
    with database.writing("test") as session:
        record(session, *(state(word) for word in words))


async def shown(events: EventLog) -> list[tuple[str, str]]:
    return [(e.id, e.event.state) for e in await events.read("r") if isinstance(e.event, StatusChange)]


async def test_committed_events_are_numbered_and_published(kept: EventLog, database: Database) -> None:
    await kept.told(commit, database, "accepted", "planning")
    await kept.told(commit, database, "working")
    assert await shown(kept) == [("1-0", "accepted"), ("2-0", "planning"), ("3-0", "working")]


async def test_what_a_dead_process_left_unsaid_comes_before_what_follows(
    kept: EventLog, database: Database
) -> None:
    commit(database, "accepted")  # and the process died before it could publish
    await kept.told(commit, database, "planning")
    assert await shown(kept) == [("1-0", "accepted"), ("2-0", "planning")]


async def test_relaying_twice_says_nothing_twice_and_a_flush_loses_nothing(
    kept: EventLog, database: Database, redis: aioredis.Redis
) -> None:
    await kept.told(commit, database, "accepted", "planning")
    await kept.relay("r")
    before = await shown(kept)
    await redis.flushall()
    await kept.relay_behind({"r": 2})
    assert await shown(kept) == before == [("1-0", "accepted"), ("2-0", "planning")]


async def test_a_change_that_fails_tells_nothing(kept: EventLog, database: Database) -> None:
    def fails() -> None:
        with database.writing("test") as session:
            record(session, state("accepted"))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await kept.told(fails)
    await kept.told(commit, database, "accepted")
    assert await shown(kept) == [("1-0", "accepted")]


async def test_text_goes_behind_the_events_said_so_far(kept: EventLog, database: Database) -> None:
    await kept.told(commit, database, "working")
    await kept.say(TextDelta(run_id="r", text="half"))
    await kept.told(commit, database, "waiting")
    assert [e.id for e in await kept.read("r")] == ["1-0", "1-1", "2-0"]


async def test_behind_the_report_comes_nothing(kept: EventLog, database: Database) -> None:
    """A worker that lost its lease goes on streaming until it hears of it."""

    def end() -> None:
        with database.writing("test") as session:
            record(session, ReportReady(run_id="r", report=Report(run_id="r", state="succeeded")))

    await kept.say(TextDelta(run_id="r", text='a log said {"type": "report"}'))
    assert await kept.say(TextDelta(run_id="r", text="and more")) != ""
    await kept.told(end)
    assert await kept.say(TextDelta(run_id="r", text="too late")) == ""
    assert [e.event.type for e in await kept.read("r")] == ["text_delta", "text_delta", "report"]


async def test_an_event_of_a_newer_version_ends_no_reader(kept: EventLog, redis: aioredis.Redis) -> None:
    await kept.say(state("working"))
    await redis.xadd("nightdesk:events:2:r", {"event": '{"type": "from_the_future", "run_id": "r"}'})
    assert [e.event.type for e in await kept.read("r")] == ["status_change"]
    last = (await kept.read("r"))[-1].id
    assert await kept.read("r", last) == []


async def test_without_redis_a_committed_event_waits_in_the_outbox(
    redis: aioredis.Redis, database: Database
) -> None:
    away = connect("redis://127.0.0.1:1/0")
    await EventLog(away, length=10, ttl_seconds=60, database=database).told(commit, database, "working")
    await away.aclose()
    here = EventLog(redis, length=10, ttl_seconds=60, database=database)
    await here.relay("r")
    assert await shown(here) == [("1-0", "working")]


async def test_what_was_changed_in_the_outbox_is_said_anew_and_what_was_not_stays(
    kept: EventLog, database: Database, redis: aioredis.Redis
) -> None:
    await kept.told(commit, database, "accepted", "planning")
    await kept.say(TextDelta(run_id="r", assignment_id="a", text="as it streams"))
    await kept.renew("r")
    assert await redis.xlen("nightdesk:events:2:r") == 3
    with database.writing("test") as session:
        row = session.get(EventRow, ("r", 1))
        assert row is not None
        row.body = {**row.body, "state": "(forgotten)"}
    commit(database, "working")
    await kept.renew("r")
    assert await shown(kept) == [("1-0", "(forgotten)"), ("2-0", "planning"), ("3-0", "working")]


async def test_an_event_of_a_kind_that_is_not_known_yet_ends_no_reader(
    events: EventLog, redis: aioredis.Redis
) -> None:
    """So an older reader passes over what a newer worker says, and goes on behind it."""
    await events.say(state("working"))
    unknown = '{"type": "of_tomorrow", "run_id": "r", "share": 0.4}'
    await redis.xadd("nightdesk:events:2:r", {"event": unknown}, id="0-2")
    await events.say(state("waiting"))
    read = await events.read("r")
    assert [logged.event.state for logged in read if isinstance(logged.event, StatusChange)] == [
        "working",
        "waiting",
    ]
