"""Copies what can be read only once (standard input, a pipe of the shell's) into a file without a name to keep."""

from __future__ import annotations

import os
import stat
import tempfile
from typing import BinaryIO

_CHUNK = 1 << 20


def is_stream(path: str) -> bool:
    """Tell whether a path is a pipe or a device, which cannot be read twice."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - follows the links of /dev/fd
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def copied(stream: BinaryIO) -> BinaryIO:
    """Return a temporary file with all that a stream yields; it is gone when it is closed."""
    file = tempfile.NamedTemporaryFile(prefix="nightdesk-")  # noqa: SIM115 - lives as long as the logs are open
    while chunk := stream.read(_CHUNK):
        file.write(chunk)
    file.flush()
    return file  # type: ignore[return-value] # a wrapper that is one in all but type
