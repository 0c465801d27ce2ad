"""What the command line prints: one JSON document, text for people, and errors in three parts."""

from __future__ import annotations

import functools
import json
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from kernel.errors import Cancelled, Correctable, Exhausted, NightdeskError

if TYPE_CHECKING:
    from rich.console import Console

SUCCEEDED, FAILED, USAGE, STOPPED, WAITING = 0, 1, 2, 3, 4
#: What a shell reports for a command that Ctrl-C ended.
INTERRUPTED = 130
#: What a script learns from the state of a run.
EXIT_CODES = {
    "succeeded": SUCCEEDED,
    "failed": FAILED,
    "cancelled": STOPPED,
    "expired": STOPPED,
    "waiting": WAITING,
}

Command = TypeVar("Command", bound=Callable[..., Any])


#: Columns of a table in a pipe or a file, where COLUMNS does not say how wide it may be.
_PIPE_WIDTH = 200


def out() -> Console:
    """Return a console for standard output; colours only on a terminal."""
    from rich.console import Console

    class Output(Console):
        def on_broken_pipe(self) -> None:
            """Leave it to `answering`: the console would end the command as failed."""
            raise BrokenPipeError

    terminal = sys.stdout.isatty()
    # COLUMNS says how wide a pipe may be
    width = None if terminal else shutil.get_terminal_size((_PIPE_WIDTH, 0)).columns
    return Output(highlight=False, soft_wrap=not terminal, width=width)


def err() -> Console:
    """Return a console for remarks, which never mix with output."""
    from rich.console import Console

    return Console(stderr=True, highlight=False, soft_wrap=not sys.stderr.isatty())


def remark(text: str) -> None:
    """Print a line for the person at the terminal, aside from the output."""
    # the terminal wraps: a command that is cut by a line break cannot be copied
    err().print(text, markup=False, soft_wrap=True)


def say(*, as_json: bool) -> Callable[[str], None]:
    """Return what tells of progress: a remark, or nothing where a program reads."""
    return _say_nothing if as_json else remark


def _say_nothing(_text: str) -> None:
    pass


def print_json(document: Any) -> None:
    """Print the one JSON document of a command."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2, default=str) + "\n")


def show_error(error: NightdeskError, *, as_json: bool) -> None:
    """Print an error: what happened, why, and what to do next."""
    if as_json:
        told = {"code": error.code, "message": error.what, "why": error.why, "next_step": error.next_step}
        print_json({"error": told})
        return
    console = err()
    console.print("[bold red]error:[/] ", end="")
    console.print(error.what, markup=False)
    for title, text in (("why", error.why), ("next", error.next_step)):
        if text:
            console.print(f"[bold]{title:>5}:[/] ", end="")
            console.print(text.replace("\n", "\n       "), markup=False)


def exit_code(error: NightdeskError) -> int:
    """Return the exit code for an error: 2 where the caller can mend it."""
    if isinstance(error, Correctable | Exhausted):
        return USAGE
    return STOPPED if isinstance(error, Cancelled) else FAILED


def _write_nowhere() -> None:
    """Let what is still held for standard output go: it is written when the process ends, and must not fail there."""
    with suppress(OSError, ValueError):  # a stand-in of a test has no descriptor
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def answering(command: Command) -> Command:
    """Wrap a command so that our errors end it with three parts and a code, never with a traceback."""

    @functools.wraps(command)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        try:
            try:
                return command(*args, **kwargs)
            finally:
                sys.stdout.flush()  # a reader that has gone is noticed here, not when the process ends
        except NightdeskError as error:
            show_error(error, as_json=bool(kwargs.get("as_json")))
            raise typer.Exit(exit_code(error)) from error
        except BrokenPipeError as error:
            # the reader of a pipe (head, less) has gone: not our failure
            _write_nowhere()
            raise typer.Exit(SUCCEEDED) from error

    return wrapped  # type: ignore[return-value] # functools.wraps keeps the signature that typer reads
