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
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from agents.action_execution.action import Limits
from agents.action_execution.argv import is_control
from agents.action_execution.catalogue import SAFE_PATH
from agents.runtime.processes import GRACE_SECONDS, signal_group
from agents.runtime.tools import ChildLog
from kernel.clock import monotonic
from kernel.contracts import Value
from kernel.errors import Retryable
from kernel.faults import around

#: Bytes of output kept from the start and from the end; the hash is over all of it.
KEPT_BYTES = 3 * 1024

#: Seconds to read what an ended child left in the pipe; something it started may hold the pipe for ever.
DRAIN_SECONDS = 0.3

#: What the launcher waits for.
GO = b"g"

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
    argv: list[str],
    *,
    seconds: float,
    limits: Limits,
    env: Mapping[str, str] | None = None,
    log: ChildLog | None = None,
) -> ChildResult:
    """Run a program to its end; its whole group is killed after `seconds`, or when this is cancelled.

    With a `log` the program starts only once it is recorded; Retryable or LostLease then says that it never did.
    """
    started = monotonic()
    capture = _Capture()
    child = await _start(argv, limits, {**(env or {}), **(log.mark if log else {})}, capture)
    timed_out = False
    try:
        await _let_go(child, log)
        async with asyncio.timeout(seconds):
            await child.process.wait()
    except TimeoutError:
        timed_out = True
    finally:
        await _leave(child, log)
    code = child.process.returncode
    head, tail, truncated = capture.texts()
    return ChildResult(
        exit_code=-signal.SIGKILL if code is None else code,
        timed_out=timed_out,
        seconds=round(monotonic() - started, 3),
        output_head=head,
        output_tail=tail,
        truncated=truncated,
        sha256=capture.hash.hexdigest(),
    )


@dataclass(kw_only=True)
class _Child:
    """A launcher that waits, then the program that it became."""

    process: asyncio.subprocess.Process
    reading: asyncio.Task[None]
    #: The launcher waits for a byte from here; closed without one, it ends.
    go: int
    recorded: bool = False


async def _start(argv: list[str], limits: Limits, env: Mapping[str, str], capture: _Capture) -> _Child:
    """Start a launcher. The pipes are ours: asyncio's would make `wait` wait for all who inherited them."""
    read_end, write_end = os.pipe()
    gate, go = os.pipe()
    launcher = (sys.executable, "-I", "-S", str(_LAUNCHER))
    with ExitStack() as ours:
        ours.callback(os.close, read_end)
        ours.callback(os.close, go)
        try:
            process = await asyncio.create_subprocess_exec(
                *(*launcher, json.dumps(limits.model_dump()), str(os.getpid()), str(gate), "--", *argv),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=write_end,
                stderr=write_end,
                cwd="/",
                env=_ENVIRONMENT | dict(env),
                start_new_session=True,
                pass_fds=(gate,),
            )
        except OSError as error:
            why = error.strerror or ""
            raise Retryable(f"{argv[0]} could not be started", why=why, untouched=True) from error
        finally:
            os.close(write_end)
            os.close(gate)
        ours.pop_all()  # the child has them from here on
    return _Child(process=process, reading=asyncio.create_task(_read(read_end, capture)), go=go)


async def _let_go(child: _Child, log: ChildLog | None) -> None:
    """Have the child recorded, then let its program start."""
    if log is not None:
        try:
            await log.started(child.process.pid)
        except Retryable as error:
            raise Retryable(
                "the program was not started", why=f"it could not be recorded: {error}", untouched=True
            ) from error
        child.recorded = True
    with around("child.go"), suppress(BrokenPipeError):  # the launcher ended by itself and says why
        os.write(child.go, GO)


async def _leave(child: _Child, log: ChildLog | None) -> None:
    """Stop what still runs, read what it said, and note its end."""
    os.close(child.go)
    try:
        await _stop(child.process)
    finally:
        await asyncio.wait({child.reading}, timeout=DRAIN_SECONDS)
        child.reading.cancel()
        await asyncio.wait({child.reading})
    if log is not None and child.recorded and child.process.returncode is not None:
        await log.ended(child.process.returncode)


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
    signal_group(process.pid, signal.SIGTERM)
    try:
        async with asyncio.timeout(GRACE_SECONDS):
            await process.wait()
    except TimeoutError:
        pass
    finally:
        signal_group(process.pid, signal.SIGKILL)
    await process.wait()
