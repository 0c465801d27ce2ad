"""Children: programs run without a shell, in a process group, with limits, a clock and bounded output."""

from __future__ import annotations

import asyncio
import codecs
import hashlib
import json
import os
import re
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

from agents.action_execution.action import Limits
from agents.action_execution.argv import is_control
from agents.action_execution.catalogue import SAFE_PATH
from kernel.clock import monotonic
from kernel.contracts import Value
from kernel.errors import Retryable

#: Bytes of output kept from the start and from the end; the hash is over all of it.
KEPT_BYTES = 3 * 1024

#: Seconds between TERM and KILL.
GRACE_SECONDS = 2.0

#: Seconds to read what an ended child left in the pipe; something it started may hold the pipe for ever.
DRAIN_SECONDS = 0.3

_CHUNK = 64 * 1024
_BROKEN = re.compile("\ufffd+")  # three bytes each: a run of them would triple what we keep
_CONTINUES = 0x80  # the top bits of a byte that continues a UTF-8 code point
_LAUNCHER = Path(__file__).with_name("launcher.py")
_ENVIRONMENT = {"PATH": SAFE_PATH, "LANG": "C.UTF-8", "TZ": "UTC", "HOME": "/"}


class ChildResult(Value):
    """How a child ended; `exit_code` is negative for a signal. Output is cleaned of control characters."""

    exit_code: int
    timed_out: bool = False
    seconds: float
    output_head: str = ""
    output_tail: str = ""
    truncated: bool = False
    sha256: str = ""

    @property
    def output(self) -> str:
        """Return head and tail as one text."""
        return f"{self.output_head}\n…\n{self.output_tail}" if self.truncated else self.output_head


class _Capture:
    """Head, tail and hash of a stream of bytes, in bounded memory."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.size = 0
        self._head = bytearray()
        self._tail = bytearray()

    def add(self, chunk: bytes) -> None:
        self.hash.update(chunk)
        self.size += len(chunk)
        room = KEPT_BYTES - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:] if room else chunk
        del self._tail[:-KEPT_BYTES]

    def texts(self) -> tuple[str, str, bool]:
        truncated = self.size > len(self._head) + len(self._tail)
        if not truncated:
            return _text(self._head + self._tail), "", False
        # cut on the borders of code points: drop a begun one at the end, the rest of one at the start
        begun = codecs.getincrementaldecoder("utf-8")("replace").decode(bytes(self._head))
        whole = next((i for i in range(4) if self._tail[i] & 0xC0 != _CONTINUES), 0)
        return _clean(begun), _text(self._tail[whole:]), True


def _text(content: bytearray) -> str:
    return _clean(content.decode("utf-8", errors="replace"))


def _clean(text: str) -> str:
    shown = ("\ufffd" if is_control(c) and c not in "\n\t" else c for c in text.replace("\r\n", "\n"))
    return _BROKEN.sub("\ufffd", "".join(shown))


async def run_child(
    argv: list[str], *, seconds: float, limits: Limits, env: Mapping[str, str] | None = None
) -> ChildResult:
    """Run a program to its end; its whole group is killed after `seconds`, or when this is cancelled."""
    started = monotonic()
    capture = _Capture()
    process, reading = await _start(argv, limits, env or {}, capture)
    timed_out = False
    try:
        async with asyncio.timeout(seconds):
            await process.wait()
    except TimeoutError:
        timed_out = True
    finally:
        await _stop(process)
        await asyncio.wait({reading}, timeout=DRAIN_SECONDS)
        reading.cancel()
        await asyncio.wait({reading})
    head, tail, truncated = capture.texts()
    return ChildResult(
        exit_code=-signal.SIGKILL if process.returncode is None else process.returncode,
        timed_out=timed_out,
        seconds=round(monotonic() - started, 3),
        output_head=head,
        output_tail=tail,
        truncated=truncated,
        sha256=capture.hash.hexdigest(),
    )


async def _start(
    argv: list[str], limits: Limits, env: Mapping[str, str], capture: _Capture
) -> tuple[asyncio.subprocess.Process, asyncio.Task[None]]:
    """Start a child. The pipe is ours: asyncio's would make `wait` wait for all who inherited it."""
    read_end, write_end = os.pipe()
    limited = json.dumps(limits.model_dump())
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", str(_LAUNCHER), limited, str(os.getpid()), "--", *argv),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=write_end,
            stderr=write_end,
            cwd="/",
            env=_ENVIRONMENT | dict(env),
            start_new_session=True,
        )
    except OSError as error:
        os.close(read_end)
        raise Retryable(f"{argv[0]} could not be started", why=error.strerror or "") from error
    finally:
        os.close(write_end)
    return process, asyncio.create_task(_read(read_end, capture))


async def _read(descriptor: int, capture: _Capture) -> None:
    reader = asyncio.StreamReader()
    with os.fdopen(descriptor, "rb", buffering=0) as pipe:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        try:
            while chunk := await reader.read(_CHUNK):
                capture.add(chunk)
        finally:
            transport.close()


async def _stop(process: asyncio.subprocess.Process) -> None:
    """End a child that still runs: TERM to the group, a grace, then KILL to whatever is left of it."""
    if process.returncode is not None:
        return  # it ended by itself; what it left running (a service, say) is meant to stay
    _signal_group(process.pid, signal.SIGTERM)
    try:
        async with asyncio.timeout(GRACE_SECONDS):
            await process.wait()
    except TimeoutError:
        pass
    finally:
        _signal_group(process.pid, signal.SIGKILL)
    await process.wait()


def _signal_group(group: int, number: signal.Signals) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return  # gone already; PermissionError is what some systems answer for a group of zombies
