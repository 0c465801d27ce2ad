"""The commands that look at runs: watch, runs, show."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coordinator.cli import screen
from coordinator.cli.options import AsJson, DataDir, RunId

if TYPE_CHECKING:
    from kernel.records import RunRow
    from kernel.reports import Report
    from kernel.settings import Settings

_EVENT_ID = re.compile(r"\d+(-\d+)?", re.ASCII)
#: States that are said with "has"; all others with "is".
_REACHED = frozenset({"succeeded", "failed", "expired"})
#: Blanks between two columns of the table of runs, and the least that a terminal shows of a request.
_BETWEEN, _LEAST = 2, 12


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
    console = screen.out()
    room = console.width if console.is_terminal else None
    console.print(_table(found, room) if found else _none_found(state), markup=False)


OnlyEvidence = Annotated[
    bool,
    typer.Option(
        "--evidence",
        help="Only the evidence, read again now, with the lines round it; "
        "ends with 1 where a line changed, is gone or cannot be reached.",
    ),
]
Around = Annotated[
    int, typer.Option("--context", min=0, max=1000, help="With --evidence: lines before and after each.")
]


@screen.answering
def show(
    run: RunId,
    *,
    evidence: OnlyEvidence = False,
    context: Around = 3,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Print a run's report with its evidence, who did what, and what happened: take-overs, a stop, calls unknown."""
    from coordinator.chronicle import chronicle
    from coordinator.cli import history
    from coordinator.cli.connection import join
    from coordinator.cli.memory_working import print_slots, slots_of

    settings = join(data_dir)
    with history.reading(settings) as session:
        row = history.find_run(session, run)
        report = history.report_of(session, row)
        slots = slots_of(session, row.id)
        waiting = history.pending_approvals(session, row.id)
        happened = chronicle(session, row.id)
    if evidence:
        _show_evidence(report, row, settings, context, as_json=as_json)
        return
    if as_json:
        told = report.model_dump(mode="json") | {"happened": happened.model_dump(mode="json")}
        asked = {"waiting": [history.waiting_row(approval) for approval in waiting]} if waiting else {}
        screen.print_json(told | {"working": slots} | asked)
        return
    from coordinator.cli.chronicle_view import print_chronicle
    from coordinator.cli.report_view import print_report, print_waiting

    print_report(report, screen.out())
    print_slots(slots)
    print_chronicle(happened, screen.out())
    print_waiting(row.id, waiting, screen.out())


def _show_evidence(report: Report, row: RunRow, settings: Settings, context: int, *, as_json: bool) -> None:
    from coordinator import retention
    from coordinator.cli.evidence_reading import all_stand, read_again
    from coordinator.cli.logs_reading import reader
    from coordinator.cli.logs_text import print_document
    from coordinator.cli.report_view import print_evidence
    from kernel.artifacts import ArtifactStore
    from kernel.contracts import Request

    store = ArtifactStore(settings.artifacts, max_bytes=settings.artifact_max_bytes)
    retention.hold(store, row.id, row.request)
    gone = retention.let_go(store, row.id, row.request, row.ended_at)
    sources = Request.model_validate(row.request).sources
    rows = read_again(
        report, sources, read=reader(), settings=settings, store=store, context=context, gone=gone
    )
    if as_json:
        print_document(rows)
    else:
        print_evidence(rows, screen.out())
    if not all_stand(rows):
        raise typer.Exit(screen.FAILED)


def _table(found: list[dict[str, Any]], room: int | None) -> Any:
    """Return the table of runs; on a terminal of so many columns a line for each: the request gives way."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    # little space between columns: a request keeps its beginning in a terminal of 80
    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    rows = [
        (
            row["run_id"][:8],
            ", ".join([row["state"], *row["marks"]]),
            row["created_local"],
            f"{row['seconds']} s",
            row["text"] + (f"  ({row['reason']})" if row["reason"] else ""),
        )
        for row in found
    ]
    for title in ("run", "state", "when", "took"):
        table.add_column(title, no_wrap=True)
    table.add_column("request")
    others = sum(max(len(row[number]) for row in rows) + _BETWEEN for number in range(4))
    for *cells, text in rows:
        request = _plain(text)
        if room is not None:
            request.truncate(max(room - others, _LEAST), overflow="ellipsis")
        table.add_row(*cells, request)
    return table


def _none_found(state: str | None) -> str:
    if state is None:
        return "no runs yet"
    return f"no run {'has' if state in _REACHED else 'is'} {state} (--state {state})"


def _plain(text: str) -> Any:
    from rich.text import Text

    return Text(text)
