"""Finds the files behind a run's sources, under the allowed roots only, rotated sets oldest first."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from kernel.contracts import Source
from kernel.errors import Correctable, NightdeskError, Refused

#: More files than this in one run are not a log but a tree; the newest are read, and the result says so.
FILE_LIMIT = 200

_GLOB = re.compile(r"[*?\[]")
#: What rotation adds to a name: `.1`, `-20240131`, `.2024-01-31`, and the compression after it.
_ROTATED = re.compile(
    r"(?:[.-](?P<number>\d{1,3})|[.-](?P<date>\d{4}-?\d{2}-?\d{2}(?:[-_.]?\d{2,6})?))?(?:\.(?:gz|bz2|xz|zst))?$"
)
_PACKED = re.compile(r"\.(?:gz|bz2|xz|zst)$")


@dataclass(frozen=True, kw_only=True)
class LogFile:
    """One file to read. `name` is what evidence cites; `roots` is empty for attached files."""

    name: str
    path: Path
    roots: tuple[Path, ...] = ()
    aliases: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, int, int, int]:
        """Return what changes when the content does: path, inode, time and size."""
        try:
            status = self.path.stat()
        except OSError as error:
            raise _unreadable(self.name, error) from error
        return (str(self.path), status.st_ino, status.st_mtime_ns, status.st_size)

    def open(self) -> tuple[BinaryIO, datetime]:
        """Open it and return its last change; what lies outside the roots is refused again here."""
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            descriptor = os.open(self.path, flags)
        except OSError as error:
            raise _unreadable(self.name, error) from error
        file = os.fdopen(descriptor, "rb")
        status = os.fstat(descriptor)
        try:
            self._check(descriptor, status)
        except NightdeskError:
            file.close()
            raise
        return file, datetime.fromtimestamp(status.st_mtime, UTC)

    def _check(self, descriptor: int, status: os.stat_result) -> None:
        if not stat.S_ISREG(status.st_mode):
            raise Refused(
                f"{self.name!r} is not a regular file",
                why="pipes and devices are not read",
                next_step="Name a log file.",
            )
        if status.st_size == 0:
            raise _empty(self.name)
        # a folder on the way may have been swapped for a link since the path was resolved
        link = f"/proc/self/fd/{descriptor}"
        opened = Path(os.path.realpath(link if os.path.exists(link) else self.path))  # noqa: PTH110 - a link of the kernel's
        if self.roots and not _under(opened, self.roots):
            raise outside(self.name, self.roots)


def resolve(
    sources: Sequence[Source], roots: Sequence[Path], artifacts: dict[str, Path]
) -> tuple[list[LogFile], list[NightdeskError]]:
    """Return the files of all sources in reading order, and what could not be found, each with its reason.

    `artifacts` maps artifact ids to paths on this machine.
    """
    files: dict[Path, LogFile] = {}
    problems: list[NightdeskError] = []
    for source in sources:
        try:
            for file in _of(source, tuple(roots), artifacts):
                files.setdefault(file.path if not source.artifact else Path(source.name), file)
        except NightdeskError as error:
            problems.append(error)
    ordered = _ordered(list(files.values()))
    if len(ordered) > FILE_LIMIT:
        problems.append(
            Correctable(
                f"only {FILE_LIMIT} of {len(ordered)} files were read",
                next_step="Name fewer files, or a narrower glob.",
            )
        )
    return ordered[-FILE_LIMIT:], problems


def _of(source: Source, roots: tuple[Path, ...], artifacts: dict[str, Path]) -> list[LogFile]:
    if source.artifact:
        if source.artifact not in artifacts:
            raise Correctable(f"the attached file {source.name!r} is gone", next_step="Attach it again.")
        return [LogFile(name=source.name, path=artifacts[source.artifact])]
    given = source.path or source.name
    if "\0" in given:
        raise Correctable("a path holds a NUL character", next_step="Name the log file without it.")
    path = Path(given).expanduser()
    if path.is_dir():
        found = _in_folder(path)
    elif _GLOB.search(given) and not path.exists():
        found = sorted(Path(p) for p in glob.iglob(str(path), recursive=True))  # noqa: PTH207 - absolute patterns
        found = [p for p in found if p.is_file()]
    else:
        return [_file(path, source.name, roots, given)]
    if not found:
        raise Correctable(
            f"no file found for {source.name!r}",
            why="the folder or pattern is empty",
            next_step="Check the path.",
        )
    return _allowed(found, source.name, roots)


def _in_folder(folder: Path) -> list[Path]:
    found: list[Path] = []
    for place, folders, names in os.walk(folder):  # does not follow links
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        found += [Path(place) / n for n in sorted(names) if not n.startswith(".")]
        if len(found) > FILE_LIMIT * 10:
            break
    return [p for p in found if p.is_file()]


def _allowed(found: list[Path], name: str, roots: tuple[Path, ...]) -> list[LogFile]:
    """Keep what lies under the roots; a link in a folder that leads outside is left out, not an error."""
    files: list[LogFile] = []
    for path in found:
        try:
            files.append(_file(path, str(path.absolute()), roots, name))
        except Refused:
            continue
    if not files:
        raise outside(name, roots)
    return files


def _file(path: Path, name: str, roots: tuple[Path, ...], given: str) -> LogFile:
    real = Path(os.path.realpath(path))
    # asked before existence: a refusal must not tell what exists outside the roots
    if not _under(real, roots):
        raise outside(name, roots)
    if not real.exists():
        raise Correctable(
            f"there is no file {name!r}",
            why="nothing exists at that path",
            next_step="Check the path of the log.",
        )
    return LogFile(name=name, path=real, roots=roots, aliases=(str(path.absolute()), given, str(real)))


def _under(path: Path, roots: Sequence[Path]) -> bool:
    return any(path == root or root in path.parents for root in roots)


def outside(name: str, roots: Sequence[Path]) -> Refused:
    """Return the refusal of a path that lies outside the allowed roots."""
    return Refused(
        f"{name!r} lies outside the allowed log folders",
        why=f"only files under {', '.join(map(str, roots)) or 'no folder'} may be read in place",
        next_step="Attach the file, or add its folder to NIGHTDESK_LOG_ROOTS.",
    )


def _unreadable(name: str, error: OSError) -> NightdeskError:
    if isinstance(error, FileNotFoundError):
        return Correctable(
            f"there is no file {name!r}", why="it is gone", next_step="Check the path of the log."
        )
    return Refused(
        f"{name!r} cannot be read",
        why=error.strerror or str(error),
        next_step="Check owner and mode of the file.",
    )


def _empty(name: str) -> Correctable:
    return Correctable(
        f"{name!r} is empty", why="the file has no bytes", next_step="Name a log with content."
    )


def _ordered(files: list[LogFile]) -> list[LogFile]:
    """Put rotated sets in order, oldest first; sets keep the order in which they were given."""
    first_seen: dict[str, int] = {}

    def place(entry: tuple[int, LogFile]) -> tuple[int, int, int, str, int]:
        position, file = entry
        name = file.aliases[0] if file.aliases else file.name
        found = _ROTATED.search(name)
        assert found is not None  # every part is optional
        number, day = found["number"], found["date"]
        stem = name[: found.start()] if number or day else _PACKED.sub("", name)
        group = first_seen.setdefault(stem, len(first_seen))
        age = 0 if number or day else 1  # the live file is the newest
        return (group, age, -int(number or 0), re.sub(r"\D", "", day or ""), position)

    return [file for _, file in sorted(enumerate(files), key=place)]
