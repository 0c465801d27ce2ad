"""The commands `nightdesk logs …`: they read logs here and now, without a desk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from coordinator.cli import logs_lines, logs_reading, logs_who, screen
from coordinator.cli.logs_options import AsCsv, Files, Form, Level, Pattern, Since, Until, Utc, Zone
from coordinator.cli.options import AsJson

app = typer.Typer(
    help="Read logs here, without the desk: files, folders, globs, archives, - for standard input.",
    no_args_is_help=True,
)

LinesCsv = Annotated[
    bool, typer.Option("--csv", help="Print LineId,EventId,EventTemplate: a row for each line of the log.")
]
_TEMPLATE_COLUMNS = ("id", "count", "share", "level", "first", "last", "source", "line", "template")
_CHANGE_COLUMNS = ("change", "before", "after", "level", "source", "line", "time", "template")


@app.command()
@screen.answering
def overview(
    files: Files,
    *,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.svg", help="Also draw levels over time into this file.")
    ] = None,
    since: Since = "",
    until: Until = "",
    form: Form = "",
    zone: Zone = "",
    utc: Utc = False,
    as_json: AsJson = False,
) -> None:
    """Take a first look: window, levels, timeline, problems with their lines, changes, silence, what was cut.

    Example: nightdesk logs overview '/var/log/checkout/*.log*' --plot timeline.svg
    """
    from coordinator.cli import logs_overview, logs_plot, logs_text, logs_view

    if plot is not None:
        logs_plot.check_plot(plot, files)
    first, last = logs_text.asked_window(since, until, utc=utc, quiet=as_json)
    logs, attempt = logs_reading.open_logs(files, form=form, zone=zone, quiet=as_json)
    found, timeline = (look(since=first, until=last) for look in (logs.overview, logs.timeline))
    if plot is not None:
        marks = [{"time": found.get("onset"), "label": "onset"}]
        marks += [{"time": c.get("time"), "label": c.get("quote", "")} for c in found.get("changes", [])]
        marks += [
            {"time": group["time"], "label": f"{row['direction']}: {row['template']}"}
            for group in logs.changes().get("groups", [])
            for row in group["changes"][:1]
        ]
        logs_plot.write_plot(plot, timeline, marks, utc=utc)
    if as_json:
        logs_text.print_document({**found, "timeline": timeline, "notes": logs.notes, **attempt.told()})
    else:
        logs_overview.print_overview(found, timeline, utc=utc)
        logs_view.print_where(logs, found["events"], utc=utc)
        logs_view.print_notes(logs.notes)
    attempt.finish()


@app.command()
@screen.answering
def templates(  # noqa: PLR0913 each option is an argument
    files: Files,
    *,
    pattern: Pattern = "",
    level: Level = "",
    sort: Annotated[str, typer.Option(help="count, rare, first or new.")] = "count",
    limit: Annotated[int, typer.Option(min=0, help="Templates at most; 0: all.")] = 50,
    as_csv: LinesCsv = False,
    summary_csv: Annotated[
        bool, typer.Option("--summary-csv", help="Print the table of templates as CSV.")
    ] = False,
    form: Form = "",
    zone: Zone = "",
    utc: Utc = False,
    as_json: AsJson = False,
) -> None:
    """List the kinds of lines: how often, how bad, when first and last, and how they spread over time.

    Example: nightdesk logs templates app.log --sort rare --level warning
    """
    from coordinator.cli import logs_files, logs_text, logs_view

    asked = {"pattern": pattern, "level": level, "sort": sort}
    logs, attempt = logs_reading.open_logs(files, form=form, zone=zone, quiet=as_json, **asked)
    if as_csv:
        rows = logs_files.template_lines(logs.line_templates())
        logs_files.write_csv(("LineId", "EventId", "EventTemplate"), rows)
        attempt.finish()
        return
    found = logs.templates(**asked, limit=limit)
    if as_json:
        logs_text.print_document({**found, "notes": logs.notes, **attempt.told()})
    elif summary_csv:
        rows = logs_files.rows_of(found["templates"], *_TEMPLATE_COLUMNS)
        logs_files.write_csv(_TEMPLATE_COLUMNS, rows)
    else:
        logs_view.print_templates(found, utc=utc)
        logs_view.print_notes(logs.notes)
    attempt.finish()


@app.command()
@screen.answering
def compare(  # noqa: PLR0913 each option is an argument
    files: Files,
    *,
    split_at: Annotated[
        str, typer.Option(metavar="TIME", help="Time (or 'line 1302') that parts before from after.")
    ] = "",
    before: Annotated[str, typer.Option(metavar="FROM..TO", help="A window instead; with --after.")] = "",
    after: Annotated[str, typer.Option(metavar="FROM..TO", help="The other window.")] = "",
    baseline: Annotated[
        str, typer.Option(help="Let one log choose: auto, first_error, deploy, hour or half.")
    ] = "",
    limit: Annotated[int, typer.Option(min=0, help="Rows of each list at most; 0: all.")] = 20,
    form: Form = "",
    zone: Zone = "",
    utc: Utc = False,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """Compare two logs, or two windows of one: which kinds of lines are new, got more, got fewer, vanished.

    Example: nightdesk logs compare app.log --split-at 2026-11-29T10:20
    """
    from coordinator.cli import logs_files, logs_text, logs_view, logs_windows

    asked = logs_windows.asked_windows(split_at, before, after, baseline, utc=utc)
    logs, attempt = logs_reading.open_logs(
        files, form=form, zone=zone, quiet=as_json, baseline=asked.get("baseline", "")
    )
    found = logs_windows.compared(logs, asked, limit=limit)
    if as_json:
        logs_text.print_document({**found, "notes": logs.notes, **attempt.told()})
    elif as_csv:
        changes = [{**row, "change": name} for name in logs_view.CHANGES for row in found.get(name, [])]
        logs_files.write_csv(_CHANGE_COLUMNS, logs_files.rows_of(changes, *_CHANGE_COLUMNS))
        logs_view.print_totals(found)
    else:
        logs_view.print_comparison(found, utc=utc)
        logs_view.print_notes(logs.notes)
    attempt.finish()


app.command()(logs_lines.search)
app.command()(logs_lines.histogram)
app.command()(logs_who.entities)
app.command()(logs_who.follow)
