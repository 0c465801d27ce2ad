"""Keeps the scans of this process, so that the tools of a run, and of the next, read a file once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path

from agents.log_analysis.scanning.progress import Progress
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.sources.files import LogFile
from kernel.errors import Retryable

_Key = tuple[tuple[str, int, int, int], ...]

#: Bytes of memory that all kept scans take together, and files that they hold open; the latest is always kept.
_BYTES, _FILES = 96 * 1024 * 1024, 400
#: Seconds between two looks at whether a call that waits for another's scan is still wanted.
_LOOK = 0.2


class Library:
    """Scans by path, inode, change and size of their files; parallel calls for one set wait for one scan."""

    def __init__(self, most: int = _BYTES) -> None:
        self._most = most
        self._scans: OrderedDict[_Key, Scan] = OrderedDict()
        self._locks: dict[_Key, threading.Lock] = {}
        self._guard = threading.Lock()

    def scan(
        self,
        files: Sequence[LogFile],
        scratch: Path,
        max_bytes: int,
        max_lines: int = 0,
        *,
        readers: int = 1,
        zone: str = "",
        stop: threading.Event | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Scan:
        """Return the scan of a set of files, from memory where nothing has changed.

        Once `stop` is set, reading ends within a second; what was read by then is returned, and not kept.
        """
        stop = stop or threading.Event()
        key = (*(f.key for f in files), *(("name:" + f.name, 0, 0, 0) for f in files))
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
        while not lock.acquire(timeout=_LOOK):
            if stop.is_set():
                raise Retryable("the log was not read", why="the call was given up while another read it")
        try:
            with self._guard:
                if key in self._scans:
                    self._scans.move_to_end(key)
                    return self._scans[key]
            scan = Scan(scratch, max_bytes, max_lines, readers=readers, zone=zone, stop=stop)
            scan.read(files, progress)
            if not scan.stopped:
                self._keep(key, scan)
            return scan
        finally:
            lock.release()

    def _keep(self, key: _Key, scan: Scan) -> None:
        """Keep a scan, and let go of the oldest until all fit."""
        with self._guard:
            self._scans[key] = scan
            while len(self._scans) > 1 and (
                sum(kept.memory for kept in self._scans.values()) > self._most
                or sum(len(kept.files) for kept in self._scans.values()) > _FILES
            ):
                old, _ = self._scans.popitem(last=False)
                self._locks.pop(old, None)

    def clear(self) -> None:
        """Forget all scans and give their files back."""
        with self._guard:
            self._scans.clear()
            self._locks.clear()


LIBRARY = Library()
