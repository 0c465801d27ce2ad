"""Processes of this desk that outlived their supervisor (it was killed); only ours are ever touched."""

from __future__ import annotations

import os
import select
import signal
from contextlib import suppress
from pathlib import Path

from coordinator.cli.layout import Layout
from kernel.clock import monotonic

_OURS = ("coordinator.app", "agents.app", "memory_service.app", "coordinator.cli.bystander")


def find(layout: Layout) -> tuple[list[int], list[int]]:
    """Return the ids of the desk's workers and of its Redis, by data folder and command; needs /proc, else none."""
    workers, servers = [], []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            argv = (entry / "cmdline").read_bytes().split(b"\0")
            if _is_our_worker(entry, argv, layout):
                workers.append(int(entry.name))
            elif _is_our_redis(entry, argv, layout):
                servers.append(int(entry.name))
    return workers, servers


def end(layout: Layout, *, seconds: float) -> int:
    """End the desk's processes that no supervisor looks after, Redis last; return how many there were."""
    workers, servers = find(layout)
    for group in (workers, servers):
        _end(group, seconds)
    return len(workers) + len(servers)


def _end(pids: list[int], seconds: float) -> None:
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    give_up = monotonic() + seconds
    for pid in pids:
        if not _wait(pid, give_up - monotonic()):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            _wait(pid, seconds)


def _is_our_redis(entry: Path, argv: list[bytes], layout: Layout) -> bool:
    # Redis rewrites its command line; its working directory is the folder of its file
    named = b"redis-server" in argv[0]  # the path before it may hold blanks
    return named and (entry / "cwd").readlink() == Path(os.path.realpath(layout.redis))


def _is_our_worker(entry: Path, argv: list[bytes], layout: Layout) -> bool:
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
