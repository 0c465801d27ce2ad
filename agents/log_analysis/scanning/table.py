"""A table of events in columns: 25 bytes a row, in memory for a while, then in a file without a name."""

from __future__ import annotations

import os
import tempfile
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

_ROWS = 65_536
#: Rows that wait to be put into their columns; a divisor of `_ROWS`.
_BATCH = 4_096
#: Chunks kept in memory (about 13 MB); older ones go to disk, so that a log of any size takes the same memory.
_KEPT = 8

#: One event in the order of `Row`: file, line, time (NaN: none), level, template, service, host.
Cells = tuple[int, int, float, int, int, int, int]


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
    """Rows in the order they were added; written by one thread, then read as often and by as many as wanted."""

    def __init__(self, scratch: Path, kept: int = _KEPT, file: BinaryIO | None = None) -> None:
        """Put what memory does not keep into `file`, else into a new one without a name."""
        self._scratch, self._kept = scratch, kept
        self._chunks: list[Columns] = [empty()]
        self._spilled: list[tuple[int, int]] = []
        self._file = file
        self._end = 0
        self._new: list[Cells] = []
        self._rows = 0

    @property
    def rows(self) -> int:
        """Return how many rows there are."""
        return self._rows + len(self._new)

    @property
    def memory(self) -> int:
        """Return the bytes that its columns take in memory."""
        return sum(len(column) * column.itemsize for chunk in self._chunks for column in chunk)

    def add(self, cells: Cells) -> None:
        """Append one event."""
        self._new.append(cells)
        if len(self._new) >= _BATCH:
            self.flush()

    def extend(self, columns: Columns) -> None:
        """Append the events of a chunk as they are."""
        self.flush()
        self._chunks[-1:] = [columns] if not self._chunks[-1].file else [self._chunks[-1], columns]
        self._rows += len(columns.file)
        self._turn()

    def flush(self) -> None:
        """Put new rows into their columns, many at once: that is several times quicker."""
        if not self._new:
            return
        columns: tuple[array[Any], ...] = self._chunks[-1]
        for column, values in zip(columns, zip(*self._new, strict=True), strict=True):
            column.extend(values)
        self._rows += len(self._new)
        self._new = []
        if len(self._chunks[-1].file) >= _ROWS:
            self._turn()

    def _turn(self) -> None:
        while len(self._chunks) > self._kept:
            self._spill(self._chunks.pop(0))
        self._chunks.append(empty())

    def __iter__(self) -> Iterator[Row]:
        """Yield all rows."""
        for columns in self.columns():
            yield from map(Row._make, zip(*columns, strict=True))

    def columns(self) -> Iterator[Columns]:
        """Yield all rows as arrays, a chunk at a time, in order: several times quicker than row by row."""
        self.flush()
        for place, rows in self._spilled:
            yield self._load(place, rows)
        yield from (chunk for chunk in self._chunks if chunk.file)

    def spill(self) -> None:
        """Put everything into the file, so that it takes no memory."""
        self.flush()
        for columns in self._chunks:
            if columns.file:
                self._spill(columns)
        self._chunks = [empty()]

    def _spill(self, columns: Columns) -> None:
        place = self.store(b"".join(column.tobytes() for column in columns))
        self._spilled.append((place, len(columns.file)))

    def store(self, content: bytes) -> int:
        """Put bytes into the table's file and return their place."""
        if self._file is None:
            self._scratch.mkdir(parents=True, exist_ok=True)
            self._file = tempfile.TemporaryFile(dir=self._scratch)  # noqa: SIM115 - lives as long as the table
        place = self._end
        self._end += self._file.write(content)
        self._file.flush()
        return place

    def fetch(self, place: int, size: int) -> bytes:
        """Return bytes that were stored."""
        assert self._file is not None
        return os.pread(self._file.fileno(), size, place)

    @property
    def chunks(self) -> list[tuple[int, int]]:
        """Return place and rows of each chunk in the file."""
        return list(self._spilled)

    def adopt(self, chunks: Iterable[tuple[int, int]]) -> None:
        """Take the chunks that another process has written into this table's file."""
        self._spilled = list(chunks)
        self._rows = sum(rows for _, rows in self._spilled)

    def _load(self, place: int, rows: int) -> Columns:
        columns = empty()
        for column in columns:  # read at a place: several threads may ask at once
            column.frombytes(self.fetch(place, rows * column.itemsize))
            place += rows * column.itemsize
        return columns

    def close(self) -> None:
        """Give the file back."""
        if self._file is not None:
            self._file.close()
