"""The options that all commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="The desk's data folder (or NIGHTDESK_DATA_DIR; else .nightdesk)."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
RunId = Annotated[str, typer.Argument(metavar="RUN", help="The id of a run, or the beginning of one.")]
CallId = Annotated[str, typer.Argument(metavar="CALL", help="The id of a call, as `show` prints it.")]
