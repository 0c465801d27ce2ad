"""What a long call tells of itself: not too often, the end of it always, and never more than one word on its way."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agents.runtime import progress
from agents.runtime.progress import CallProgress
from agents.runtime.spec import DoneCall
from kernel.contracts import Work
from kernel.events import EVENT, ToolCallProgress
from kernel.states import CallState

WORK = Work(run_id="r", assignment_id="a", agent="log_analysis", goal="g", request="why?")
CALL = DoneCall(id="a.1.1", tool="overview", state=CallState.claimed)


class Stream:
    """Takes events; one that hangs takes none."""

    def __init__(self) -> None:
        self.events: list[ToolCallProgress] = []
        self.open = asyncio.Event()
        self.open.set()

    async def say(self, event: Any) -> str:
        await self.open.wait()
        self.events.append(event)
        return "1-1"


class Clock:
    """The seconds that a test says."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(progress, "monotonic", made)
    return made


async def tell(told: CallProgress, done: int, total: int = 1000) -> None:
    await asyncio.to_thread(told, "app.log", done, total)
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_word_comes_every_two_seconds_and_when_all_is_done(clock: Clock) -> None:
    stream = Stream()
    told = CallProgress(stream, WORK, CALL)  # type: ignore[arg-type] # takes events as the stream does
    for clock.now, done in (
        (0.5, 10),
        (1.9, 90),
        (2.0, 100),
        (2.5, 150),
        (4.1, 200),
        (4.2, 1000),
        (4.3, 1000),
    ):
        await tell(told, done)
    assert [(e.seconds, e.done, e.total) for e in stream.events] == [
        (2.0, 100, 1000),
        (4.1, 200, 1000),
        (4.2, 1000, 1000),
    ]
    assert stream.events[0].what == "app.log"
    assert (stream.events[0].call_id, stream.events[0].tool) == ("a.1.1", "overview")


async def test_a_short_call_says_nothing(clock: Clock) -> None:
    stream = Stream()
    told = CallProgress(stream, WORK, CALL)  # type: ignore[arg-type] # takes events as the stream does
    clock.now = 1.0
    await tell(told, 1000)
    assert stream.events == []


async def test_ten_minutes_take_no_more_than_eighty_words(clock: Clock) -> None:
    stream = Stream()
    told = CallProgress(stream, WORK, CALL)  # type: ignore[arg-type] # takes events as the stream does
    for tenth in range(6000):
        clock.now = tenth / 10
        told("app.log", tenth, 6000)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    assert 60 <= len(stream.events) <= 80


async def test_while_redis_hangs_one_word_waits_and_the_work_goes_on(clock: Clock) -> None:
    stream = Stream()
    stream.open.clear()
    told = CallProgress(stream, WORK, CALL)  # type: ignore[arg-type] # takes events as the stream does
    for clock.now in (3.0, 6.0, 9.0):
        await tell(told, 10)
    stream.open.set()
    await asyncio.sleep(0.01)
    clock.now = 12.0
    await tell(told, 20)
    await tell(told, 30)
    assert [(e.seconds, e.done) for e in stream.events] == [(3.0, 10), (12.0, 20)]


def test_the_event_survives_its_way_through_the_stream() -> None:
    event = ToolCallProgress(run_id="r", call_id="c", tool="overview", what="日志.log", done=400, total=1000)
    assert EVENT.validate_json(event.model_dump_json()) == event
