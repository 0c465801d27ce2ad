"""Reads the systemd journal through `journalctl -o json`: an argument list, a deadline, a bounded pipe."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import BinaryIO

from agents.log_analysis.formats.text import clean
from agents.log_analysis.sources.named import SAFE_PATH, JournalQuery
from agents.log_analysis.sources.refusals import LOOK_SECONDS, stopped
from agents.runtime.processes import GRACE_SECONDS, signal_group
from kernel.clock import monotonic
from kernel.errors import Correctable, Refused, Retryable

_CHUNK = 256 * 1024
_WORDS = 2000
_COPY = 1 << 20


def read_journal(
    query: JournalQuery,
    out: BinaryIO,
    since: datetime,
    until: datetime,
    *,
    limit: int,
    seconds: float,
    stop: threading.Event | None = None,
) -> list[str]:
    """Write the entries of a window as JSON lines, oldest first; return what is to be said of them.

    Once `stop` is set it ends within a second, with an error.
    """
    program = query.found
    if program is None:
        raise Correctable(
            f"the journal cannot be read: there is no {query.program} on this machine",
            why="it comes with systemd, and a container seldom has it",
            next_step="Install it, or run `journalctl -o json > FILE` where it is and attach the file.",
        )
    run = _Run(out, limit, monotonic() + seconds, stop or threading.Event())
    with _started(argv_of(query, program, since, until)) as child:
        ended = run.pump(child)
        with suppress(subprocess.TimeoutExpired):
            child.wait(GRACE_SECONDS if ended is None else 0)
    words = clean(" ".join(run.words.decode(errors="replace").split()))
    if ended is None and child.returncode and not run.written:
        raise Refused(
            "the journal cannot be read",
            why=words[:300] or f"journalctl ended with {child.returncode}",
            next_step="Let the worker's user read it: add it to the group systemd-journal.",
        )
    if ended == "time" and not run.written:
        raise Retryable("the journal gave no answer", why=f"{seconds:g} seconds are over", untouched=True)
    return [*run.notes(ended), *([f"journalctl says: {words[:200]}"] if words else [])]


def argv_of(query: JournalQuery, program: str, since: datetime, until: datetime) -> list[str]:
    """Return the argument list; nothing in it comes from a request."""
    return [
        program,
        "--output=json",
        "--no-pager",
        "--quiet",
        f"--since=@{int(since.timestamp())}",
        f"--until=@{int(until.timestamp())}",
        *(f"--directory={folder}" for folder in [query.folder] if folder),
        *(f"--unit={unit}" for unit in query.units),
        *(f"--identifier={word}" for word in query.identifiers),
    ]


@contextmanager
def _started(argv: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program in a session of its own; whatever is left of it at the end is killed."""
    child = subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        env={"PATH": SAFE_PATH, "LC_ALL": "C.UTF-8"},
        start_new_session=True,
    )
    try:
        yield child
    finally:
        for number in (signal.SIGTERM, signal.SIGKILL):
            if child.poll() is None:  # its number is its own as long as nobody has waited for it
                signal_group(child.pid, number)
                with suppress(subprocess.TimeoutExpired):
                    child.wait(GRACE_SECONDS)
        for pipe in (child.stdout, child.stderr):
            if pipe is not None:
                pipe.close()


class _Run:
    """What has come of one call so far."""

    def __init__(self, out: BinaryIO, limit: int, deadline: float, stop: threading.Event) -> None:
        self.out, self.limit, self.deadline, self.stop = out, limit, deadline, stop
        self.written = 0
        self.words = b""

    def pump(self, child: subprocess.Popen[bytes]) -> str | None:
        """Copy until both pipes end; return None then, else which limit ended it: `time` or `bytes`."""
        assert child.stdout is not None
        assert child.stderr is not None
        with selectors.DefaultSelector() as pipes:
            pipes.register(child.stdout, selectors.EVENT_READ, "out")
            pipes.register(child.stderr, selectors.EVENT_READ, "words")
            while pipes.get_map():
                left = self.deadline - monotonic()
                if left <= 0:
                    return "time"
                if self.stop.is_set():
                    raise stopped()
                for key, _ in pipes.select(min(left, LOOK_SECONDS)):
                    chunk = os.read(key.fd, _CHUNK)
                    if not chunk:
                        pipes.unregister(key.fileobj)
                    elif key.data == "words":
                        self.words = (self.words + chunk)[:_WORDS]
                    elif not self._take(chunk):
                        return "bytes"
        return None

    def _take(self, chunk: bytes) -> bool:
        kept = chunk[: self.limit - self.written]
        self.out.write(kept)
        self.written += len(kept)
        return len(kept) == len(chunk)

    def notes(self, ended: str | None) -> list[str]:
        """Return what is to be said of an end before the end; the line that was cut is taken back."""
        if ended is None:
            return []
        self.out.seek(max(0, self.written - _COPY))
        self.out.truncate(max(0, self.written - _COPY) + self.out.read().rfind(b"\n") + 1)
        self.out.seek(0, os.SEEK_END)
        why = (
            "the time for it was over"
            if ended == "time"
            else f"the limit of {self.limit:,} bytes was reached"
        )
        return [f"the newest entries of the window are missing: {why} (shorten hours in sources.yaml)"]
