"""The commands that look at runs: watch, runs, show; and the wait that `submit` shares with them."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from coordinator.cli import screen
from coordinator.cli.options import AsJson, DataDir, RunId

if TYPE_CHECKING:
    from coordinator.cli.following import Followed
    from kernel.settings import Settings
    from kernel.streams import LoggedEvent


@screen.answering
def watch(
    run: RunId,
    *,
    after: Annotated[
        str | None, typer.Option(metavar="EVENT", help="Show what came after this event; 0: all.")
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show a run live: its plan, turns, calls and texts; goes on where it left off."""
    from coordinator.cli import history
    from coordinator.cli.connection import join

    settings = join(data_dir)
    with history.reading(settings) as session:
        run_id = history.find_run(session, run).id
    raise typer.Exit(
        attend(settings, run_id, live=True, as_json=as_json, after=after, events_as_json=as_json)
    )


@screen.answering
def runs(
    *,
    state: Annotated[
        str | None, typer.Option(help="Only runs in this state: working, waiting, failed, …")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 20,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List runs, the newest first."""
    from coordinator.cli import history
    from coordinator.cli.connection import join
    from kernel.errors import Correctable
    from kernel.states import RunState

    if state is not None and state not in list(RunState):
        raise Correctable(f"there is no state {state!r}", next_step=f"There are: {', '.join(RunState)}.")
    with history.reading(join(data_dir)) as session:
        found = history.recent(session, state=state, limit=limit)
    if as_json:
        screen.print_json({"runs": found})
        return
    from rich.table import Table

    table = Table()
    for title in ("run", "state", "when", "took"):
        table.add_column(title, no_wrap=True)
    table.add_column("request")
    for row in found:
        text = row["text"] + (f"  ({row['reason']})" if row["reason"] else "")
        table.add_row(
            row["run_id"][:8], row["state"], row["created_local"], f"{row['seconds']} s", _plain(text)
        )
    screen.out().print(table if found else "no runs yet")


@screen.answering
def show(
    run: RunId,
    *,
    evidence: Annotated[bool, typer.Option("--evidence", help="Only the evidence, as a table.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Print a run's report with its evidence, and which worker and brain did what."""
    from coordinator.cli import history
    from coordinator.cli.connection import join

    with history.reading(join(data_dir)) as session:
        row = history.find_run(session, run)
        report = history.report_of(session, row)
        waiting = history.pending_approvals(session, row.id)
    if as_json:
        told = report.model_dump(mode="json")
        if waiting:
            told["waiting"] = [history.waiting_row(approval) for approval in waiting]
        screen.print_json(told)
        return
    from coordinator.cli.report_view import print_evidence, print_report, print_waiting

    if evidence:
        print_evidence(report, screen.out())
        return
    print_report(report, screen.out())
    print_waiting(row.id, waiting, screen.out())


def attend(
    settings: Settings,
    run_id: str,
    *,
    live: bool,
    as_json: bool,
    after: str | None = None,
    events_as_json: bool = False,
) -> int:
    """Follow a run to its end, print what was asked for, and return the exit code that its state means.

    Without a terminal a run that waits for approval ends the wait with code 4, for nobody would answer.
    """
    from coordinator.cli import marks
    from coordinator.cli.following import follow
    from coordinator.cli.layout import Layout

    folder = Layout(settings.data).marks
    terminal = sys.stdout.isatty() and not as_json
    # the tree of a terminal is drawn from the first event on; a log of lines goes on where it left off
    goes_on = live and not terminal and not as_json
    with _Show(run_id, drawn=terminal and live, lines=goes_on) as show:
        followed = asyncio.run(
            follow(
                settings,
                run_id,
                after=after or (marks.recall(folder, run_id) if goes_on else "0"),
                on_event=show.take,
                remark=screen.remark,
                stop_when_waiting=not terminal,
            )
        )
    with suppress(OSError):  # a data folder that is only readable is no reason to fail a look
        marks.remember(folder, run_id, followed.last_id)
    events = show.events if events_as_json else None
    return _conclude(settings, run_id, followed, as_json=as_json, events=events)


class _Show:
    """Shows events as they come: as a tree on a terminal, as lines elsewhere, or only kept."""

    def __init__(self, run_id: str, *, drawn: bool, lines: bool) -> None:
        from rich.live import Live

        from coordinator.cli.tree import RunTree

        self.events: list[dict[str, Any]] = []
        self._tree = RunTree(run_id)
        self._lines = lines
        self._live = (
            Live(
                get_renderable=self._tree.draw,
                console=screen.out(),
                refresh_per_second=8,
                vertical_overflow="visible",
            )
            if drawn
            else None
        )

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def take(self, logged: LoggedEvent, followed: Followed) -> None:
        """Show an event."""
        from coordinator.cli.tree import event_line

        self.events.append({"id": logged.id, **logged.event.model_dump(mode="json")})
        self._tree.plan(followed.assignments)
        self._tree.take(logged.event)
        line = event_line(logged.event) if self._lines else ""
        if line:
            screen.out().print(f"{logged.id}  {line}", markup=False)


def _conclude(
    settings: Settings, run_id: str, followed: Followed, *, as_json: bool, events: list[dict[str, Any]] | None
) -> int:
    from coordinator.cli import history
    from coordinator.cli.report_view import print_report, waiting_text

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
    if followed.waits:
        for approval in followed.approvals:
            screen.remark(waiting_text(run_id, approval))
    return screen.EXIT_CODES.get(report.state, screen.FAILED)


def _plain(text: str) -> Any:
    from rich.text import Text

    return Text(text)
