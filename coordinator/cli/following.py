"""Follows a run to its end: events from Redis, and the truth where events are silent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from coordinator.cli import history
from kernel.control import connect
from kernel.errors import Correctable, Fatal, Retryable
from kernel.events import ApprovalRequested, ReportReady, StatusChange
from kernel.records import ApprovalRow, AssignmentRow
from kernel.reports import Report
from kernel.settings import Settings
from kernel.shapes import NewerShape
from kernel.states import RUN_ENDED, RunState
from kernel.streams import EventLog, LoggedEvent

_RECONNECT_SECONDS = 1.0
#: Silence of the stream (each heartbeat is about 5 s) after which a request nobody took is remarked on.
_UNTAKEN_HEARTBEATS = 2
_LOST_TRIES = 30


@dataclass
class Followed:
    """Where a run stands as far as it was followed."""

    state: str = RunState.accepted.value
    report: Report | None = None
    approvals: list[ApprovalRow] = field(default_factory=list)
    assignments: list[AssignmentRow] = field(default_factory=list)
    last_id: str = "0"
    known: bool = False

    @property
    def ended(self) -> bool:
        """Return whether the run has ended and its report is here."""
        return self.report is not None and self.state in RUN_ENDED

    @property
    def waits(self) -> bool:
        """Return whether nothing goes on until a person decides."""
        return self.state == RunState.waiting and bool(self.approvals)


async def follow(
    settings: Settings,
    run_id: str,
    *,
    after: str = "0",
    on_event: Callable[[LoggedEvent, Followed], None],
    remark: Callable[[str], None],
    stop_when_waiting: bool,
) -> Followed:
    """Follow a run until it ends or, if asked, until it waits for a person."""
    redis = connect(settings.redis_url)
    events = EventLog(
        redis, length=settings.event_stream_length, ttl_seconds=settings.event_stream_ttl_seconds
    )
    followed = Followed(last_id=after)
    try:
        look(settings, run_id, followed)
        # what has been logged is shown, even where the run has ended long ago
        for logged in await events.read(run_id, after):
            _take(settings, run_id, logged, followed, on_event)
        await _to_the_end(settings, run_id, events, followed, on_event, remark, stop_when_waiting)
    finally:
        await redis.aclose()
    return followed


async def _to_the_end(
    settings: Settings,
    run_id: str,
    events: EventLog,
    followed: Followed,
    on_event: Callable[[LoggedEvent, Followed], None],
    remark: Callable[[str], None],
    stop_when_waiting: bool,
) -> None:
    silent = lost = 0
    while not (followed.ended or (stop_when_waiting and followed.waits)):
        try:
            batch = await events.read(run_id, followed.last_id, block=True)
        except Retryable as error:
            lost += 1
            if lost > _LOST_TRIES:
                raise
            if lost == 1:
                remark(f"{error}; trying again")
            await asyncio.sleep(_RECONNECT_SECONDS)
            look(settings, run_id, followed)
            continue
        lost = 0
        for logged in batch:
            _take(settings, run_id, logged, followed, on_event)
        if not batch:
            silent += 1
            look(settings, run_id, followed)
            if silent == _UNTAKEN_HEARTBEATS and not followed.known and followed.last_id == "0":
                remark("no coordinator has taken the request yet; `nightdesk status` shows what runs")


def _take(
    settings: Settings,
    run_id: str,
    logged: LoggedEvent,
    followed: Followed,
    on_event: Callable[[LoggedEvent, Followed], None],
) -> None:
    followed.last_id = logged.id
    if isinstance(logged.event, StatusChange | ApprovalRequested):
        look(settings, run_id, followed)
        if isinstance(logged.event, StatusChange) and not logged.event.assignment_id and not followed.known:
            followed.state = logged.event.state
    if isinstance(logged.event, ReportReady):
        followed.report = logged.event.report
        followed.state = logged.event.report.state
    on_event(logged, followed)


def look(settings: Settings, run_id: str, followed: Followed) -> None:
    """Bring what the truth says about the run into `followed`; a client without the truth goes by events."""
    try:
        with history.reading(settings) as session:
            run = history.find_run(session, run_id)
            followed.known, followed.state = True, run.state
            followed.approvals = history.pending_approvals(session, run.id)
            followed.assignments = history.assignments_of(session, run.id)
            if run.state in RUN_ENDED:
                followed.report = history.report_of(session, run)
    except NewerShape:
        raise  # nobody may wait for a report that cannot be read here
    except (Correctable, Retryable, Fatal):
        # not accepted yet, or this machine has only the queue
        return
