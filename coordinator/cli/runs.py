"""The commands that look at runs: watch, runs, show."""

from __future__ import annotations

import re
from typing import Annotated, Any

import typer

from coordinator.cli import screen
from coordinator.cli.options import AsJson, DataDir, RunId

_EVENT_ID = re.compile(r"\d+(-\d+)?", re.ASCII)
#: States that are said with "has"; all others with "is".
_REACHED = frozenset({"succeeded", "failed", "expired"})


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
    from coordinator.cli.attending import attend
    from coordinator.cli.connection import join
    from kernel.errors import Correctable

    if after is not None and not _EVENT_ID.fullmatch(after):
        raise Correctable(
            f"{after!r} is no event",
            why="--after takes the id of an event, such as 1795991355170-0",
            next_step="Take an id of `nightdesk watch RUN --json`, or 0 for all.",
        )
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
        state = ", ".join([row["state"], *row["marks"]])
        table.add_row(row["run_id"][:8], state, row["created_local"], f"{row['seconds']} s", _plain(text))
    screen.out().print(table if found else _none_found(state), markup=False)


@screen.answering
def show(
    run: RunId,
    *,
    evidence: Annotated[
        bool, typer.Option("--evidence", help="Only the evidence: a table, or a list with --json.")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Print a run's report with its evidence, who did what, and what happened: take-overs, a stop, calls unknown."""
    from coordinator.chronicle import chronicle
    from coordinator.cli import history
    from coordinator.cli.connection import join

    with history.reading(join(data_dir)) as session:
        row = history.find_run(session, run)
        report = history.report_of(session, row)
        waiting = history.pending_approvals(session, row.id)
        happened = chronicle(session, row.id)
    if as_json and evidence:
        from coordinator.cli.report_view import evidence_rows

        screen.print_json(evidence_rows(report))
        return
    if as_json:
        told = report.model_dump(mode="json") | {"happened": happened.model_dump(mode="json")}
        if waiting:
            told["waiting"] = [history.waiting_row(approval) for approval in waiting]
        screen.print_json(told)
        return
    from coordinator.cli.chronicle_view import print_chronicle
    from coordinator.cli.report_view import print_evidence, print_report, print_waiting

    if evidence:
        print_evidence(report, screen.out())
        return
    print_report(report, screen.out())
    print_chronicle(happened, screen.out())
    print_waiting(row.id, waiting, screen.out())


def _none_found(state: str | None) -> str:
    if state is None:
        return "no runs yet"
    return f"no run {'has' if state in _REACHED else 'is'} {state} (--state {state})"


def _plain(text: str) -> Any:
    from rich.text import Text

    return Text(text)
