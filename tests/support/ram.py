"""Folders in memory for tests that kill processes, never the machine: nothing in them waits for the disk."""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SHARED = Path("/dev/shm")
_PREFIX = "nightdesk-test-"
#: What the folders in use together take at most is a tenth of this.
_ROOM = 512 * 2**20


@contextmanager
def ram_folder() -> Iterator[Path]:
    """Yield a folder in memory, or on the disk where there is no room in memory."""
    with tempfile.TemporaryDirectory(
        prefix=f"{_PREFIX}{os.getpid()}-", dir=_root(), ignore_cleanup_errors=True
    ) as folder:
        yield Path(folder)


@functools.cache
def _root() -> str | None:
    if not os.access(_SHARED, os.W_OK):
        return None
    for left in _SHARED.glob(f"{_PREFIX}*-*"):  # of tests that were killed
        owner = left.name.removeprefix(_PREFIX).split("-")[0]
        if not Path(f"/proc/{owner}").exists():
            shutil.rmtree(left, ignore_errors=True)
    return str(_SHARED) if shutil.disk_usage(_SHARED).free > _ROOM else None
