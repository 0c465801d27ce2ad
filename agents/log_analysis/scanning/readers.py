"""Starts reading processes, listens to them, and ends them: when they are done, when one breaks, on a wish to stop."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from agents.log_analysis.scanning.opened import Part
from agents.log_analysis.scanning.progress import Pace

_MODULE = "agents.log_analysis.scanning.segment_child"
#: Seconds between two looks at whether somebody wants it to stop.
_LOOK = 0.2
_CHUNK = 1 << 20
#: What a process is told that should end with what it has.
STOP = b"s"
#: Where a process finds the descriptors that were handed to it; without it there is one reader.
LINKS = Path("/proc/self/fd")


class BrokenReaderError(Exception):
    """A reading process ended without a result; what it was to read is read by this process instead."""


class _Child:
    """One reading process with the file that takes its columns."""

    def __init__(self, parts: Sequence[Part], scratch: Path) -> None:
        scratch.mkdir(parents=True, exist_ok=True)
        self.out: BinaryIO = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115 - the merger reads it
        self.result: dict[str, Any] | None = None
        self.done = self.lines = self._before = 0
        self.file = parts[0].file
        self._text = bytearray()
        descriptors = {self.out.fileno(), *(part.fd for part in parts)}
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", _MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            pass_fds=sorted(descriptors),
        )
        order = {"out": self.out.fileno(), "parts": [part.plain() for part in parts]}
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(order).encode() + b"\n")
            self.process.stdin.flush()  # and it stays open: its end tells the child that nobody waits any more
        except BrokenPipeError as error:
            self.end()
            raise BrokenReaderError("a reading process ended at once") from error

    def fileno(self) -> int:
        """Return what to listen to."""
        assert self.process.stdout is not None
        return self.process.stdout.fileno()

    def hear(self) -> bool:
        """Take what it says; return whether it may say more."""
        chunk = os.read(self.fileno(), _CHUNK)
        self._text += chunk
        *lines, rest = self._text.split(b"\n")
        self._text = bytearray(rest)
        for line in lines:
            self._take(json.loads(line))
        return bool(chunk)

    def _take(self, told: Mapping[str, Any]) -> None:
        if "result" in told:
            self.result = told["result"]
            return
        if told["file"] != self.file:
            self._before, self.file = self.done, told["file"]
        self.done, self.lines = self._before + told["done"], told["lines"]

    def stop(self) -> None:
        """Let it end with what it has."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(STOP)
            self.process.stdin.flush()
        except BrokenPipeError:
            return  # it has ended

    def end(self) -> None:
        """End it, if it still runs, and collect it."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        if self.process.poll() is None and self.result is None:
            self.process.kill()
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


def read_shares(
    shares: Sequence[Sequence[Part]], scratch: Path, pace: Pace, names: Mapping[int, str]
) -> list[tuple[dict[str, Any], BinaryIO]]:
    """Return the result of each share with the file of its columns, in order; no process outlives the call."""
    children: list[_Child] = []
    whole = False
    try:
        for parts in shares:
            children.append(_Child(parts, scratch))  # noqa: PERF401 - those that were started are ended if one cannot be
        _listen(children, pace, names)
        whole = True
        return [(child.result, child.out) for child in children if child.result is not None]
    except (OSError, ValueError) as error:  # no process could be started, or what one says is no JSON
        raise BrokenReaderError(str(error)) from error
    finally:
        for child in children:
            child.end()
            if not whole:
                child.out.close()


def _listen(children: Sequence[_Child], pace: Pace, names: Mapping[int, str]) -> None:
    going_on = True
    with selectors.DefaultSelector() as selector:
        for child in children:
            selector.register(child, selectors.EVENT_READ, child)
        while selector.get_map():
            for key, _ in selector.select(_LOOK):
                child = key.data
                if child.hear():
                    continue
                selector.unregister(child)
                if child.result is None:
                    raise BrokenReaderError(f"a reading process ended with {child.process.wait()}")
            behind = min(
                (c for c in children if c.result is None), key=lambda c: c.file, default=children[-1]
            )
            done, lines = sum(child.done for child in children), sum(child.lines for child in children)
            if not pace.tell(done, lines, 0, names[behind.file]) and going_on:
                going_on = False
                for child in children:
                    child.stop()
