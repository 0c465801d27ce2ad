"""Processes of this desk that outlived their supervisor (it was killed); only ours are ever touched."""

from __future__ import annotations

import os
import select
import signal
from contextlib import suppress
from pathlib import Path

from coordinator.cli.layout import Layout
from kernel.clock import monotonic

_OURS = ("coordinator.app", "agents.app", "memory_service.app")


def find(layout: Layout) -> list[int]:
    """Return the ids of the desk's processes, found by data folder and command; needs /proc, else none."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if _is_ours(entry, layout):
                found.append(int(entry.name))
    return sorted(found)


def end(layout: Layout, *, seconds: float) -> int:
    """End the desk's processes that no supervisor looks after; return how many there were."""
    found = find(layout)
    for pid in found:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    give_up = monotonic() + seconds
    for pid in found:
        if not _wait(pid, give_up - monotonic()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            _wait(pid, seconds)
    return len(found)


def _is_ours(entry: Path, layout: Layout) -> bool:
    argv = (entry / "cmdline").read_bytes().split(b"\0")
    if argv[0].split(b" ")[0].endswith(b"redis-server"):
        # Redis rewrites its command line; its working directory is the folder of its data
        return (entry / "cwd").readlink() == layout.redis
    if not any(name.encode() in argv for name in _OURS):
        return False
    told = (entry / "environ").read_bytes().split(b"\0")
    return b"NIGHTDESK_DATA_DIR=" + os.fsencode(layout.data) in told


def _wait(pid: int, seconds: float) -> bool:
    """Wait until a process has ended, at most some seconds; return whether it has."""
    try:
        watched = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([watched], [], [], max(seconds, 0))[0])
    finally:
        os.close(watched)
