"""The options that the commands `nightdesk logs` share."""

from __future__ import annotations

from typing import Annotated

import typer

Files = Annotated[
    list[str], typer.Argument(metavar="FILES…", help="Files, folders, globs, or - (standard input).")
]
Form = Annotated[str, typer.Option("--format", help="The format, where the reader finds another.")]
Zone = Annotated[str, typer.Option(help="Zone of time stamps that name none, such as Asia/Shanghai.")]
Utc = Annotated[bool, typer.Option("--utc", help="Show times in UTC, not in your own zone.")]
Level = Annotated[str, typer.Option(help="Lowest level: trace, debug, info, warning, error, fatal.")]
Pattern = Annotated[str, typer.Option("--pattern", "-e", metavar="RE2", help="Expression, case ignored.")]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print a table as CSV and nothing else.")]
Since = Annotated[str, typer.Option(metavar="TIME", help="From this time on.")]
Until = Annotated[str, typer.Option(metavar="TIME", help="Up to this time.")]
