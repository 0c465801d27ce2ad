"""The commands `nightdesk logs entities` and `follow`: who has it, one or all, and the way of one request."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from coordinator.cli import logs_reading, screen
from coordinator.cli.logs_options import AsCsv, Files, Form, Level, Pattern, Since, Until, Utc, Zone
from coordinator.cli.options import AsJson

_ENTITY_COLUMNS = ("entity", "count", "share", "all", "share_of_all", "source", "line", "time")
_STEP_COLUMNS = ("time", "gap_seconds", "level", "service", "source", "line", "quote")
_ID_COLUMNS = ("id", "events", "errors", "services", "source", "line", "time")

By = Annotated[
    str,
    typer.Option(
        help="host, service, pod, node, user, ip, status, trace, the name of a field, or auto.",
    ),
]
Id = Annotated[
    str,
    typer.Option(
        "--id", metavar="ID", help="As it stands in the lines; without it: the ids that have errors."
    ),
]
Rows = Annotated[int, typer.Option(min=0, help="Rows at most; 0: all.")]


@screen.answering
def entities(  # noqa: PLR0913 each option is an argument
    files: Files,
    *,
    by: By = "auto",
    pattern: Pattern = "",
    level: Level = "",
    since: Since = "",
    until: Until = "",
    limit: Rows = 20,
    form: Form = "",
    zone: Zone = "",
    utc: Utc = False,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """Count lines per host, pod, user, status …: is it one of them, or all?

    Example: nightdesk logs entities app.log --by pod --level error
    """
    from coordinator.cli import logs_files, logs_text, logs_view, logs_who_view

    first, last = logs_text.asked_window(since, until, utc=utc, quiet=as_json)
    asked = {"by": by, "pattern": pattern, "level": level}
    logs, attempt = logs_reading.open_logs(files, form=form, zone=zone, quiet=as_json, **asked)
    found = logs.entities(**asked, since=first, until=last, limit=limit)
    if as_json:
        logs_text.print_document({**found, "notes": logs.notes, **attempt.told()})
    elif as_csv:
        rows = ({**row, **row["first"]} for row in found["entities"])
        logs_files.write_csv(_ENTITY_COLUMNS, logs_files.rows_of(rows, *_ENTITY_COLUMNS))
    else:
        narrowed = bool(pattern or level or first or last)
        logs_who_view.print_entities(found, asked=narrowed, utc=utc)
        logs_view.print_where(logs, found["events"], utc=utc)
        logs_view.print_notes(logs.notes)
    attempt.finish()


@screen.answering
def follow(  # noqa: PLR0913 each option is an argument
    files: Files,
    *,
    wanted: Id = "",
    since: Since = "",
    until: Until = "",
    limit: Rows = 100,
    form: Form = "",
    zone: Zone = "",
    utc: Utc = False,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """Follow one trace, request, session or order id through all files in the order of time.

    Example: nightdesk logs follow '/var/log/shop/*.log' --id 8f3a0c1e9b7d4e52
    """
    from coordinator.cli import logs_files, logs_text, logs_view, logs_who_view

    first, last = logs_text.asked_window(since, until, utc=utc, quiet=as_json)
    logs, attempt = logs_reading.open_logs(files, form=form, zone=zone, quiet=as_json)
    found = logs.follow(wanted, since=first, until=last, limit=limit)
    if as_json:
        logs_text.print_document({**found, "notes": logs.notes, **attempt.told()})
    elif as_csv:
        columns, rows = (_STEP_COLUMNS, found["lines"]) if wanted.strip() else (_ID_COLUMNS, _ids(found))
        logs_files.write_csv(columns, logs_files.rows_of(rows, *columns))
    else:
        show = logs_who_view.print_steps if wanted.strip() else logs_who_view.print_ids
        show(found, utc=utc)
        logs_view.print_notes(logs.notes)
    attempt.finish()


def _ids(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [{**row, "services": " ".join(row["services"]), **row["first_error"]} for row in found["failed"]]
