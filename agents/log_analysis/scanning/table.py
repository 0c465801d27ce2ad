"""A table of events in columns: 25 bytes a row, in memory for a while, then in a file without a name."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

_ROWS = 65_536
#: Chunks kept in memory (about 24 MB); older ones go to disk, so that a log of any size takes the same memory.
_KEPT = 16


class Row(NamedTuple):
    """One event: where it is, when, how bad, and which template, service and host (numbers of the scan's lists)."""

    file: int
    line: int
    time: float
    level: int
    template: int
    service: int
    host: int = 0


class Columns(NamedTuple):
    """Events of a chunk, an array per part of `Row`: what loops over millions of events reads."""

    file: array[int]
    line: array[int]
    time: array[float]
    level: array[int]
    template: array[int]
    service: array[int]
    host: array[int]


def empty() -> Columns:
    """Return columns without rows."""
    return Columns(array("H"), array("I"), array("d"), array("B"), array("I"), array("H"), array("H"))


class Table:
    """Rows in the order they were added; written once, then read as often as wanted."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._chunks: list[Columns] = [empty()]
        self._spilled: list[int] = []
        self._file: BinaryIO | None = None
        self.rows = 0

    def add(
        self, file: int, line: int, time: float, level: int, template: int, service: int, host: int = 0
    ) -> None:
        """Append one event."""
        files, lines, times, levels, templates, services, hosts = self._chunks[-1]
        files.append(file)
        lines.append(line)
        times.append(time)
        levels.append(level)
        templates.append(template)
        services.append(service)
        hosts.append(host)
        self.rows += 1
        if len(files) >= _ROWS:
            if len(self._chunks) >= _KEPT:
                self._spill(self._chunks.pop(0))
            self._chunks.append(empty())

    def __iter__(self) -> Iterator[Row]:
        """Yield all rows."""
        for columns in self.columns():
            yield from map(Row._make, zip(*columns, strict=True))

    def columns(self) -> Iterator[Columns]:
        """Yield all rows as arrays, a chunk at a time, in order: several times quicker than row by row."""
        for place in self._spilled:
            yield self._load(place)
        yield from self._chunks

    def _spill(self, columns: Columns) -> None:
        if self._file is None:
            self._scratch.mkdir(parents=True, exist_ok=True)
            self._file = tempfile.TemporaryFile(dir=self._scratch)  # noqa: SIM115 - lives as long as the table
        assert self._file is not None
        self._file.seek(0, 2)
        self._spilled.append(self._file.tell())
        self._file.write(b"".join(column.tobytes() for column in columns))

    def _load(self, place: int) -> Columns:
        assert self._file is not None
        self._file.seek(place)
        columns = empty()
        for column in columns:
            column.frombytes(self._file.read(_ROWS * column.itemsize))
        return columns

    def close(self) -> None:
        """Give the file back."""
        if self._file is not None:
            self._file.close()
