"""A run's event log as server-sent events: the stream's ids, resume, heartbeats, and an end at the report."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from typing import Any

from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.responses import Response

from kernel import logs
from kernel.errors import Correctable, NightdeskError
from kernel.events import ReportReady
from kernel.reports import Report
from kernel.streams import EventLog, LoggedEvent

log = logs.get(__name__)

_ID = re.compile(r"(\d{1,20})(?:-(\d{1,20}))?")
_LARGEST_PART = 2**64 - 1
_START = "0"
#: How long a client waits before it comes back with its Last-Event-ID.
_RECONNECT_MILLISECONDS = 2000

#: Returns the report of a run that has ended and was published, or None.
ReadReport = Callable[[], Report | None]


def check_id(given: str | None) -> str:
    """Return the id to resume after; raise Correctable where it is no id of a stream."""
    if not given:
        return _START
    found = _ID.fullmatch(given)
    if found is None or any(int(part) > _LARGEST_PART for part in found.groups(default="0")):
        raise Correctable(
            "Last-Event-ID is no event id",
            why=f"it is {given[:60]!r}",
            next_step="Send the id of the last event, or leave it out.",
        )
    return given


async def stream(
    events: EventLog, run_id: str, after: str, *, read_report: ReadReport, view: dict[str, Any]
) -> Response:
    """Return the run's events after an id; 204 where the client has them all, so that it does not come back."""
    lost = after != _START and _lies_before(after, await events.first(run_id))
    has_all = after != _START and not lost and await _silent_end(events, run_id, after, read_report)
    if has_all:
        return Response(status_code=204)
    frames = _frames(events, run_id, _START if lost else after, read_report, view if lost else None)
    # the log's own heartbeat carries the comments, so that they also mean: the log is read
    return EventSourceResponse(frames, ping=0)


async def _frames(
    events: EventLog, run_id: str, after: str, read_report: ReadReport, resync: dict[str, Any] | None
) -> AsyncIterator[ServerSentEvent]:
    yield ServerSentEvent(comment="nightdesk", retry=_RECONNECT_MILLISECONDS)
    if resync is not None:
        yield ServerSentEvent(_json(resync), event="resync")
    last = after
    try:
        # a report that is in SQL and not in the log (Redis lost it, or it grew too old) still ends the stream
        if report := await _silent_end(events, run_id, last, read_report):
            yield _told(run_id, report)
            return
        async for logged in events.follow(run_id, after):
            if logged is not None:
                last = logged.id
                yield _frame(logged)
                continue
            yield ServerSentEvent(comment="heartbeat")
            if report := await _silent_end(events, run_id, last, read_report):
                yield _told(run_id, report)
                return
    except NightdeskError as error:
        log.warning("event_stream_cut", run=run_id, reason=str(error))
        yield ServerSentEvent(comment="the event log does not answer; come back with Last-Event-ID")


async def _silent_end(events: EventLog, run_id: str, after: str, read_report: ReadReport) -> Report | None:
    """Return the report of a published run where the log has nothing more to say; else None."""
    report = await asyncio.to_thread(read_report)
    return None if report is None or await events.read(run_id, after) else report


def _frame(logged: LoggedEvent) -> ServerSentEvent:
    return ServerSentEvent(logged.event.model_dump_json(), event=logged.event.type, id=logged.id)


def _told(run_id: str, report: Report) -> ServerSentEvent:
    """Return the report from SQL as the event that it would have been; it has no id."""
    event = ReportReady(run_id=run_id, report=report)
    return ServerSentEvent(event.model_dump_json(), event=event.type)


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _lies_before(given: str, first: str) -> bool:
    """Tell whether events after an id may have been trimmed: the log begins later, or is gone."""
    return not first or _order(given) < _order(first)


def _order(id_: str) -> tuple[int, int]:
    milliseconds, _, number = id_.partition("-")
    return int(milliseconds), int(number or 0)
