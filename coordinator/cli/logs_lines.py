"""The commands `nightdesk logs search` and `histogram`: lines that fit, as they are found, and how many over time."""

from __future__ import annotations

from typing import Annotated

import typer

from coordinator.cli import logs_reading, screen
from coordinator.cli.logs_options import AsCsv, Files, Form, Level, Pattern, Since, Until, Utc, Zone
from coordinator.cli.options import AsJson

_HIT_COLUMNS = ("source", "line", "time", "level", "quote")
#: A JSON document holds so many hits at most: it is one, and nothing of it can be printed before it is whole.
DOCUMENT_HITS = 50_000

Around = Annotated[int, typer.Option("--context", "-C", min=0, max=1000, help="Lines round each hit.")]
Limit = Annotated[
    int,
    typer.Option(
        min=0,
        help=f"Lines at most; 0: all ({DOCUMENT_HITS:,} with --json or --newest-first, which hold them).",
    ),
]
NewestFirst = Annotated[bool, typer.Option("--newest-first", help="From the end backwards.")]
Bucket = Annotated[str, typer.Option(help="Width such as 10s, 1m, 1h (10,000 parts at most), or auto.")]


@screen.answering
def search(  # noqa: PLR0913 each option is an argument
    files: Files,
    *,
    pattern: Pattern = "",
    level: Level = "",
    since: Since = "",
    until: Until = "",
    context: Around = 0,
    limit: Limit = 50,
    newest_first: NewestFirst = False,
    form: Form = "",
    zone: Zone = "",
    utc: Utc = False,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """Find lines by expression, level and time; prints source:line:text, and how many there are in all.

    Example: nightdesk logs search app.log -e 'timeout|refused' --level error --since 10:20
    """
    from coordinator.cli import logs_files, logs_text, logs_view

    first, last = logs_text.asked_window(since, until, utc=utc, quiet=as_json)
    asked = {"pattern": pattern, "level": level}
    logs, attempt = logs_reading.open_logs(files, form=form, zone=zone, quiet=as_json, **asked)
    most = min(limit or DOCUMENT_HITS, DOCUMENT_HITS) if as_json else limit
    span = {"since": first, "until": last}
    hits = logs.found(**asked, **span, limit=most, context=context, newest_first=newest_first)
    if as_json:
        rows = list(hits)
        left = {"hits_left_out": hits.total - len(rows)} if len(rows) < hits.total else {}
        found = {"total": hits.total, "hits": rows, **left}
        logs_text.print_document({**found, "notes": logs.notes, **attempt.told()})
    elif as_csv:
        logs_files.write_csv(_HIT_COLUMNS, logs_files.rows_of(hits, *_HIT_COLUMNS))
    else:
        logs_view.print_hits(hits)
        logs_view.print_where(logs, hits.total, utc=utc)
        logs_view.print_notes(logs.notes)
    attempt.finish()


@screen.answering
def histogram(  # noqa: PLR0913 each option is an argument
    files: Files,
    *,
    bucket: Bucket = "auto",
    pattern: Pattern = "",
    level: Level = "",
    since: Since = "",
    until: Until = "",
    form: Form = "",
    zone: Zone = "",
    utc: Utc = False,
    as_csv: AsCsv = False,
    as_json: AsJson = False,
) -> None:
    """Count lines over time: when something began, peaked or stopped.

    Example: nightdesk logs histogram app.log --bucket 1m --level error
    """
    from coordinator.cli import logs_files, logs_text, logs_view

    first, last = logs_text.asked_window(since, until, utc=utc, quiet=as_json)
    asked = {"bucket": bucket, "pattern": pattern, "level": level}
    logs, attempt = logs_reading.open_logs(files, form=form, zone=zone, quiet=as_json, **asked)
    found = logs.histogram(**asked, since=first, until=last)
    if as_json:
        logs_text.print_document({**found, "notes": logs.notes, **attempt.told()})
    elif as_csv:
        rows = ((logs_text.when(row["from"], utc=utc), row["count"]) for row in logs_view.every_bucket(found))
        logs_files.write_csv(("from", "count"), rows)
    else:
        logs_view.print_histogram(found, utc=utc)
        logs_view.print_where(logs, found["total"], utc=utc)
        logs_view.print_notes(logs.notes)
    attempt.finish()
