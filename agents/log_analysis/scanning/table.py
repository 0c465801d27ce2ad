"""A table of events in columns: 23 bytes a row, in memory for a while, then in a file without a name."""

from __future__ import annotations

import tempfile
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

#: file, line, time (NaN: none), level, template, service.
_TYPES = ("H", "I", "d", "B", "I", "H")
_ROWS = 65_536
#: Chunks kept in memory (about 24 MB); older ones go to disk, so that a log of any size takes the same memory.
_KEPT = 16

_Chunk = tuple["array[int]", "array[int]", "array[float]", "array[int]", "array[int]", "array[int]"]


class Row(NamedTuple):
    """One event: where it is, when, how bad, and which template and service."""

    file: int
    line: int
    time: float
    level: int
    template: int
    service: int


def _empty() -> _Chunk:
    return tuple(array(t) for t in _TYPES)  # type: ignore[return-value]  # one array per type of _TYPES


class Table:
    """Rows in the order they were added; written once, then read as often as wanted."""

    def __init__(self, scratch: Path) -> None:
        self._scratch = scratch
        self._chunks: list[_Chunk] = [_empty()]
        self._spilled: list[int] = []
        self._file: BinaryIO | None = None
        self.rows = 0

    def add(self, file: int, line: int, time: float, level: int, template: int, service: int) -> None:
        """Append one event."""
        files, lines, times, levels, templates, services = self._chunks[-1]
        files.append(file)
        lines.append(line)
        times.append(time)
        levels.append(level)
        templates.append(template)
        services.append(service)
        self.rows += 1
        if len(files) >= _ROWS:
            if len(self._chunks) >= _KEPT:
                self._spill(self._chunks.pop(0))
            self._chunks.append(_empty())

    def __iter__(self) -> Iterator[Row]:
        """Yield all rows."""
        for place in self._spilled:
            yield from map(Row._make, zip(*self._load(place), strict=True))
        for columns in self._chunks:
            yield from map(Row._make, zip(*columns, strict=True))

    def _spill(self, columns: _Chunk) -> None:
        if self._file is None:
            self._scratch.mkdir(parents=True, exist_ok=True)
            self._file = tempfile.TemporaryFile(dir=self._scratch)  # noqa: SIM115 - lives as long as the table
        assert self._file is not None
        self._file.seek(0, 2)
        self._spilled.append(self._file.tell())
        self._file.write(b"".join(column.tobytes() for column in columns))

    def _load(self, place: int) -> _Chunk:
        assert self._file is not None
        self._file.seek(place)
        columns = _empty()
        for column in columns:
            column.frombytes(self._file.read(_ROWS * column.itemsize))
        return columns

    def close(self) -> None:
        """Give the file back."""
        if self._file is not None:
            self._file.close()
