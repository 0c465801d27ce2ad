"""What a person names at the command line as a source; what can be read only once (a pipe) is copied into a file."""

from __future__ import annotations

import os
import select
import stat
import sys
import tempfile
import threading
from collections.abc import Callable, Collection
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO

from kernel.contracts import Source

STDIN = "-"

_CHUNK = 1 << 20
_WAIT_SECONDS = 0.25


def place(
    path: str, copy: Callable[[BinaryIO], BinaryIO], held: dict[str, BinaryIO], named: Collection[str]
) -> Source:
    """Return the source that a person's argument names; what can be read only once is copied first, into `held`."""
    key = f"stream-{len(held)}"
    if path == STDIN:
        held[key] = copy(sys.stdin.buffer)
        return Source(name="stdin", artifact=key)
    if is_stream(path):
        with open(path, "rb") as pipe:  # noqa: PTH123 - a pipe of the shell's: /dev/fd/63
            held[key] = copy(pipe)
        return Source(name=path, artifact=key)
    if path in named:
        return Source(name=path)
    return Source(name=path, path=os.path.abspath(Path(path).expanduser()))  # noqa: PTH100 - links stay as they were named


def is_stream(path: str) -> bool:
    """Tell whether a path is a pipe or a device, which cannot be read twice."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - follows the links of /dev/fd
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def copied(
    stream: BinaryIO, stop: threading.Event | None = None, tell: Callable[[int], None] | None = None
) -> BinaryIO:
    """Return a temporary file with all that a stream yields, or had yielded at a stop; it is gone when it is closed."""
    file = tempfile.NamedTemporaryFile(prefix="nightdesk-")  # noqa: SIM115 - lives as long as the logs are open
    while not (stop and stop.is_set()):
        if not _ready(stream):
            continue
        chunk = stream.read1(_CHUNK) if isinstance(stream, BufferedReader) else stream.read(_CHUNK)
        if not chunk:
            break
        file.write(chunk)
        if tell is not None:
            tell(file.tell())
    file.flush()
    return file  # type: ignore[return-value] # a wrapper that is one in all but type


def _ready(stream: BinaryIO) -> bool:
    """Wait a little for bytes: a stream that says nothing for hours must not keep a stop waiting."""
    try:
        return bool(select.select([stream], [], [], _WAIT_SECONDS)[0])
    except (OSError, ValueError):
        return True  # no descriptor to ask: reading it will not block
