"""Keeps the scans of this process, so that the tools of a run, and of the next, read a file once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.sources.files import LogFile

_Key = tuple[tuple[str, int, int, int], ...]

#: Scans kept: each takes some 30 MB at most for its table, and its files' space on disk.
_KEPT = 6


class Library:
    """Scans by path, inode, change and size of their files; parallel calls for one set wait for one scan."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._kept = kept
        self._scans: OrderedDict[_Key, Scan] = OrderedDict()
        self._locks: dict[_Key, threading.Lock] = {}
        self._guard = threading.Lock()

    def scan(self, files: Sequence[LogFile], scratch: Path, max_bytes: int, max_lines: int = 0) -> Scan:
        """Return the scan of a set of files, from memory where nothing has changed."""
        key = (*(f.key for f in files), *(("name:" + f.name, 0, 0, 0) for f in files))
        with self._guard:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            with self._guard:
                if key in self._scans:
                    self._scans.move_to_end(key)
                    return self._scans[key]
            scan = Scan(scratch, max_bytes, max_lines)
            scan.read(files)
            with self._guard:
                self._scans[key] = scan
                while len(self._scans) > self._kept:
                    old, _ = self._scans.popitem(last=False)
                    self._locks.pop(old, None)
            return scan

    def clear(self) -> None:
        """Forget all scans and give their files back."""
        with self._guard:
            self._scans.clear()
            self._locks.clear()


LIBRARY = Library()
