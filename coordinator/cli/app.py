"""The tree of commands; each imports what it needs when it runs, so that --help answers at once."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from coordinator.cli import (
    artifacts,
    budget,
    dead_letters,
    decisions,
    desk,
    logs,
    memory,
    memory_audit,
    memory_calibrate,
    memory_estate,
    memory_forgetting,
    memory_notes,
    memory_review,
    memory_spaces,
    memory_working,
    questions,
    runs,
    screen,
    submission,
    usage,
)

app = typer.Typer(
    name="nightdesk",
    help="A crew of agents that works an operations team's queue.\n\n"
    "Exit codes: 0 succeeded, 1 failed, 2 usage, 3 cancelled or expired, 4 waiting for approval.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        screen.out().print(f"nightdesk {version('nightdesk')}", markup=False)
        raise typer.Exit


@app.callback()
def nightdesk(
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Take the options that belong to no command."""


for _panel, _commands in (
    ("The desk", (desk.up, desk.down, desk.status, desk.worker, desk.migrate, artifacts.artifacts)),
    ("Runs", (submission.submit, runs.watch, runs.runs, runs.show, budget.budget)),
    (
        "Decisions",
        (decisions.approve, decisions.deny, decisions.cancel, questions.questions, questions.resolve),
    ),
):
    for _command in _commands:
        app.command(rich_help_panel=_panel)(_command)
app.add_typer(dead_letters.app, name="dead-letters", rich_help_panel="Decisions")
for _note in (
    memory_notes.remember,
    memory_notes.history,
    memory_notes.show,
    memory_working.working,
    memory_working.promote,
    memory_spaces.migrate,
    memory_spaces.rebuild,
    memory_spaces.spaces,
    memory_spaces.doctor,
    memory_calibrate.calibrate,
    memory_forgetting.decay,
    memory_forgetting.restore,
    memory_estate.export,
    memory_estate.erase,
):
    memory.app.command()(_note)
memory.app.command("import")(memory_estate.import_)
memory.app.add_typer(memory_review.app, name="quarantine")
memory.app.add_typer(memory_audit.app, name="audit")
app.add_typer(memory.app, name="memory", rich_help_panel="Memory")
app.add_typer(logs.app, name="logs", rich_help_panel="Logs")


def run() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a character is shown its escape
            stream.reconfigure(errors="backslashreplace")
    arguments = sys.argv[1:]
    if usage.wants_json(arguments):
        sys.exit(usage.run_as_json(app, arguments))
    app()
