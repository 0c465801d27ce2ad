"""One log file: what is known of it, and its opening under the allowed roots only."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from agents.log_analysis.sources.patterns import under
from agents.log_analysis.sources.refusals import empty, outside, unreadable
from kernel.errors import NightdeskError, Refused


@dataclass(frozen=True, kw_only=True)
class LogFile:
    """One file to read. `name` is what evidence cites; `roots` is empty for attached and fetched files.

    `format`, `zone` and `service` are what its source says of it, empty where it says nothing. A run that has opened
    it before reads the same content again: `size` bytes of it, last changed at `changed`, known by `mark`.
    """

    name: str
    path: Path
    roots: tuple[Path, ...] = ()
    aliases: tuple[str, ...] = ()
    format: str = ""
    zone: str = ""
    service: str = ""
    notes: tuple[str, ...] = ()
    size: int | None = None
    changed: datetime | None = None
    mark: str = ""
    #: Where it stood when its run began: what its order comes from.
    place: str = ""

    @property
    def key(self) -> tuple[str, int, int, int]:
        """Return what changes when the content does, or what is asked of it: path, inode, time and size."""
        try:
            status = self.path.stat()
        except OSError as error:
            raise unreadable(self.name, error) from error
        told = f"{self.format}|{self.zone}"
        if self.mark and self.size is not None:
            # the bytes of a run stay the same while its file grows, and while it is only renamed
            return (f"{self.mark}|{told}", status.st_ino, status.st_dev, self.size)
        return (f"{self.path}|{told}", status.st_ino, status.st_mtime_ns, status.st_size)

    def open(self) -> tuple[BinaryIO, datetime]:
        """Open it and return its last change; what lies outside the roots is refused again here."""
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            descriptor = os.open(self.path, flags)
        except OSError as error:
            raise unreadable(self.name, error) from error
        file = os.fdopen(descriptor, "rb")
        status = os.fstat(descriptor)
        try:
            self._check(descriptor, status)
        except NightdeskError:
            file.close()
            raise
        return file, self.changed or datetime.fromtimestamp(status.st_mtime, UTC)

    def _check(self, descriptor: int, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise Refused(
                f"{self.name!r} is not a regular file",
                why="pipes and devices are not read",
                next_step="Name a log file.",
            )
        if status.st_size == 0:
            raise empty(self.name)
        # a folder on the way may have been swapped for a link since the path was resolved
        link = f"/proc/self/fd/{descriptor}"
        opened = Path(os.path.realpath(link if os.path.exists(link) else self.path))  # noqa: PTH110 - a link of the kernel's
        if self.roots and not under(opened, self.roots):
            raise outside(self.name, self.roots)
