"""The wait for a run that `submit` and `watch` share: what is shown meanwhile, what is printed at its end."""

from __future__ import annotations

import asyncio
import functools
import sys
from contextlib import suppress
from typing import Any

from coordinator.chronicle import questions
from coordinator.cli import history, marks, screen
from coordinator.cli.chronicle_view import question_text
from coordinator.cli.following import Followed, follow
from coordinator.cli.layout import Layout
from coordinator.cli.live import Show
from coordinator.cli.report_view import print_report, waiting_text
from kernel.settings import Settings


def attend(
    settings: Settings,
    run_id: str,
    *,
    live: bool,
    as_json: bool,
    after: str | None = None,
    events_as_json: bool = False,
    new: bool = False,
) -> int:
    """Follow a run to its end, print what was asked for, and return the exit code that its state means.

    Without a terminal a run that waits for approval ends the wait with code 4, for nobody would answer.
    """
    folder = Layout(settings.data).marks
    terminal = sys.stdout.isatty() and not as_json
    # the tree of a terminal is drawn from the first event on; a log of lines goes on where it left off
    goes_on = live and not terminal and not as_json
    start = after or (marks.recall(folder, run_id) if goes_on else "0")
    ticking = not live and sys.stderr.isatty()
    show = Show(run_id, drawn=terminal and live, lines=goes_on, ticking=ticking, after=start)
    try:
        if new:
            _greet(run_id, as_json=as_json)
        following = functools.partial(follow, on_event=show.take, remark=screen.remark)
        with show:
            followed = asyncio.run(following(settings, run_id, after=start, stop_when_waiting=not terminal))
    except KeyboardInterrupt:
        return _leave(run_id, as_json=as_json)
    finally:
        # only lines say where they go on; a data folder that is only readable is no reason to fail a look
        with suppress(OSError):
            marks.remember(folder, run_id, show.last_id)
    events = show.events if events_as_json else None
    return _conclude(settings, run_id, followed, as_json=as_json, events=events)


def _greet(run_id: str, *, as_json: bool) -> None:
    """Say the id of a new run at once, for the wait may be long."""
    if not as_json or sys.stderr.isatty():
        screen.remark(f"run {run_id} accepted; follow it with: nightdesk watch {run_id[:8]}")


def _leave(run_id: str, *, as_json: bool) -> int:
    """Say that only the wait has ended."""
    watch = f"nightdesk watch {run_id[:8]}"
    if as_json:
        told = {"code": "interrupted", "message": "the wait was interrupted", "why": "the run goes on"}
        screen.print_json({"run_id": run_id, "error": told | {"next_step": f"Run `{watch}`."}})
    else:
        screen.remark(f"the run goes on; {watch}")
    return screen.INTERRUPTED


def _conclude(
    settings: Settings, run_id: str, followed: Followed, *, as_json: bool, events: list[dict[str, Any]] | None
) -> int:
    report = followed.report
    if report is None:
        with history.reading(settings) as session:
            report = history.report_of(session, history.find_run(session, run_id))
    if events is not None:
        screen.print_json({"run_id": run_id, "state": report.state, "events": events})
    elif as_json:
        screen.print_json(report.model_dump(mode="json"))
    else:
        print_report(report, screen.out())
        with history.reading(settings) as session:
            for question in questions(session, run_id=run_id):
                screen.remark(question_text(question))
    if followed.waits:
        for approval in followed.approvals:
            screen.remark(waiting_text(run_id, approval))
    return screen.EXIT_CODES.get(report.state, screen.FAILED)
