"""Opens a person's logs for the commands of `nightdesk logs`: the reader is an entry point, progress goes to stderr."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import typer

from coordinator.cli import screen
from coordinator.cli.logs_reader import Logs, Open, Progress
from kernel.clock import monotonic
from kernel.errors import Fatal

_GROUP, _NAME = "nightdesk.logs", "reader"
#: Seconds between two lines of progress in a pipe or a file, and before the first.
_LINE_SECONDS = 5.0
#: A log that is read at once needs no bar.
_BAR_AFTER_SECONDS = 0.7


def reader() -> Open:
    """Return what reads logs: another service's, found by its entry point and never imported."""
    from importlib.metadata import entry_points

    found = entry_points(group=_GROUP, name=_NAME)
    if not found:
        raise Fatal(
            "nothing here reads logs",
            why=f"no installed package offers {_NAME!r} of {_GROUP!r}",
            next_step="Install Nightdesk anew: `pip install nightdesk`, or `pip install -e .` in a checkout.",
        )
    loaded: Open = next(iter(found)).load()
    return loaded


@dataclass
class Attempt:
    """One reading that Ctrl-C may end early, and how far it came."""

    wish: threading.Event = field(default_factory=threading.Event)
    done: int = 0
    total: int = 0

    @property
    def stopped(self) -> bool:
        """Return whether the person wanted what there is."""
        return self.wish.is_set()

    def told(self) -> dict[str, Any]:
        """Return what a program reads of it: nothing where all was read."""
        return {"stopped": {"bytes": self.done, "of": self.total}} if self.stopped else {}

    def finish(self) -> None:
        """Say that the reading was cut and end with a shell's code for it; do nothing where it was not."""
        sys.stdout.flush()
        if self.stopped:
            whole = f" of {self.total:,}" if self.total else ""
            screen.remark(f"stopped after {self.done:,}{whole} bytes: what stands above is of those")
            raise typer.Exit(screen.INTERRUPTED)


def open_logs(
    paths: Sequence[str], *, form: str, zone: str, quiet: bool, **asked: str
) -> tuple[Logs, Attempt]:
    """Read logs with progress on stderr; `quiet` where a program reads the output.

    `asked` are arguments of the question to come, by name: a slip in one is told before the reading.
    """
    from coordinator.cli.connection import read_settings

    read, settings, attempt = reader(), read_settings(None), Attempt()
    with _interruptible(attempt), _progress(attempt, quiet=quiet) as progress:
        logs = read(
            paths,
            settings=settings,
            format=form,
            zone=zone,
            progress=progress,
            stop=attempt.wish,
            asked=asked,
        )
    return logs, attempt


@contextmanager
def _interruptible(attempt: Attempt) -> Iterator[None]:
    """Take the first Ctrl-C as the wish for what there is, and the second as the end."""

    def asked(number: int, frame: FrameType | None) -> None:
        if attempt.stopped:
            signal.default_int_handler(number, frame)
        attempt.wish.set()

    before = signal.signal(signal.SIGINT, asked)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def _progress(attempt: Attempt, *, quiet: bool) -> Iterator[Progress]:
    """Yield what is told of progress: a bar on a terminal, else a line every few seconds, or nothing."""
    if quiet:
        yield _noted(attempt, lambda _name: None)
    elif sys.stderr.isatty():
        with _bar(attempt) as progress:
            yield progress
    else:
        yield _noted(attempt, _lines(attempt))


def _noted(attempt: Attempt, tell: Callable[[str], None]) -> Progress:
    def progress(done: int, total: int, name: str) -> None:
        attempt.done, attempt.total = done, total
        tell(name)

    return progress


def _lines(attempt: Attempt) -> Callable[[str], None]:
    last = monotonic()

    def tell(name: str) -> None:
        nonlocal last
        if monotonic() - last >= _LINE_SECONDS:
            last = monotonic()
            from coordinator.cli.logs_text import plain

            share = f"{attempt.done * 100 // attempt.total} % " if attempt.total else ""
            screen.remark(f"read {share}({attempt.done:,} of {attempt.total:,} bytes): {plain(name)}")

    return tell


@contextmanager
def _bar(attempt: Attempt) -> Iterator[Progress]:
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    from coordinator.cli.logs_text import plain

    columns = (
        TextColumn("reading {task.description}", markup=False),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    bar = Progress(*columns, console=screen.err(), transient=True)
    task, begun = bar.add_task("", total=None), monotonic()

    def tell(name: str) -> None:
        if monotonic() - begun < _BAR_AFTER_SECONDS:
            return
        bar.start()
        bar.update(task, completed=attempt.done, total=attempt.total or None, description=plain(name)[-40:])

    try:
        yield _noted(attempt, tell)
    finally:
        bar.stop()
