"""The readable body of one log: seekable bytes, physical lines by number, what was cut or skipped."""

from __future__ import annotations

import io
import os
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import BinaryIO

from agents.log_analysis.formats.text import clean, decode, hide_key_line

#: Bytes kept of one line: its head, and a little of its end. The rest is counted and said.
LINE_HEAD = 48 * 1024
LINE_TAIL = 4 * 1024

#: Each so many lines the index notes where a line begins: a look-up reads at most that many.
_STEP = 64
_CHUNK = 256 * 1024


@dataclass
class Body:
    """One log as bytes. Lines end at LF only and count from 1; a line number always names the same bytes.

    `max_lines` of 0 is no limit.
    """

    file: BinaryIO
    size: int
    max_lines: int = 0
    notes: list[str] = field(default_factory=list)
    cut_lines: int = 0
    nul_bytes: int = 0
    lines: int = 0
    _offsets: array[int] = field(default_factory=lambda: array("Q"))
    _parts: list[tuple[int, array[int]]] = field(default_factory=list)

    def index(self) -> Iterator[tuple[int, str]]:
        """Yield each line's number and text, once, and build the index on the way."""
        for number, raw in enumerate(self.raws(), 1):
            yield number, clean(decode(raw))

    def raws(self, start: int = 0) -> Iterator[bytes]:
        """Yield the kept bytes of each line from an offset on, once, and build the index on the way."""
        self._offsets, self.cut_lines, self.nul_bytes = array("Q"), 0, 0
        number = 0
        try:
            for offset, raw in self._raw(start, count=True):
                if number >= self.max_lines > 0:
                    self._stop(offset)
                    break
                if number % _STEP == 0:
                    self._offsets.append(offset)
                number += 1
                yield raw
        finally:
            self.lines = number

    @property
    def place(self) -> int:
        """Return up to where the lines were read."""
        return self._offsets[-1] if self._offsets else 0

    @property
    def offsets(self) -> array[int]:
        """Return where every 64th line begins."""
        return self._offsets

    def adopt(self, parts: Sequence[tuple[int, array[int]]], lines: int) -> None:
        """Take the index from readers of its parts: how many lines lie before each part, and its offsets."""
        self._parts, self.lines = list(parts), lines

    def _part(self, line: int) -> tuple[int, array[int]]:
        """Return the part of the index that a line lies in."""
        if not self._parts:
            return 0, self._offsets
        return self._parts[bisect_left(self._parts, line, key=lambda part: part[0]) - 1]

    def _stop(self, offset: int) -> None:
        left = self.size - offset
        self.notes.append(
            f"reading stopped at the limit of {self.max_lines:,} lines; {left:,} bytes were not read"
        )

    def read(self, first: int, last: int) -> list[str]:
        """Return the texts of lines `first` to `last`, as far as they exist."""
        if first < 1 or first > self.lines:
            return []
        last = min(last, self.lines)
        before, offsets = self._part(first)
        start = offsets[(first - before - 1) // _STEP]
        skip = (first - before - 1) % _STEP
        raws = islice(self._raw(start), skip, skip + last - first + 1)
        return [hide_key_line(clean(decode(raw))) for _, raw in raws]

    def texts(self, may: Callable[[bytes], bool] | None = None) -> Iterator[tuple[int, str]]:
        """Yield each line's number and text again; other readers may run in between.

        Lines are left out where `may` says of the bytes of some of them that none of them is wanted.
        """
        if may is None:
            for number, (_, raw) in enumerate(islice(self._raw(0), self.lines), 1):
                yield number, hide_key_line(clean(decode(raw)))
            return
        for first, last, raw_lines in self._blocks():
            if raw_lines and not may(raw_lines):
                continue
            if 0 < len(raw_lines) <= LINE_HEAD and b"\0" not in raw_lines:  # no line of it is cut or repaired
                rows = raw_lines.removesuffix(b"\n").split(b"\n")
                texts = [hide_key_line(clean(decode(raw.removesuffix(b"\r")))) for raw in rows]
            else:
                texts = self.read(first, last)
            yield from enumerate(texts, first)

    def _blocks(self) -> Iterator[tuple[int, int, bytes]]:
        """Yield the bytes of the lines between two steps of the index with their numbers; none where they are many."""
        steps = [
            (before + place * _STEP + 1, offset)
            for before, offsets in self._parts or [(0, self._offsets)]
            for place, offset in enumerate(offsets)
        ]
        held, start = b"", 0
        for (first, offset), (after, end) in pairwise([*steps, (self.lines + 1, self.size)]):
            if not start <= offset <= end <= start + len(held):
                start, held = offset, b"" if end - offset > _CHUNK else self._at(offset)
            yield first, after - 1, held[offset - start : end - start]

    def _raw(self, offset: int, *, count: bool = False) -> Iterator[tuple[int, bytes]]:
        """Yield offset and kept bytes of each line from an offset that begins a line."""
        kept, start, place = _Kept(), offset, offset
        while place < self.size and (chunk := self._at(place)):
            place += len(chunk)
            pieces = chunk.split(b"\n")
            for piece in pieces[:-1]:
                if not kept.length and len(piece) <= LINE_HEAD and b"\0" not in piece:
                    yield start, piece.removesuffix(b"\r")
                    start += len(piece) + 1
                    continue
                kept.add(piece)
                yield start, kept.take()
                start += kept.length + 1
                if count:
                    self._count(kept)
                kept = _Kept()
            kept.add(pieces[-1])
        if kept.length:
            yield start, kept.take()
            if count:
                self._count(kept)

    def _at(self, place: int) -> bytes:
        """Return bytes from a place on; several threads may read, each at its own."""
        size = min(_CHUNK, self.size - place)
        if isinstance(self.file, io.BytesIO):
            return self.file.getvalue()[place : place + size]
        return os.pread(self.file.fileno(), size, place)

    def _count(self, kept: _Kept) -> None:
        self.cut_lines += kept.cut
        self.nul_bytes += kept.nul_bytes

    def close(self) -> None:
        """Give the file back."""
        self.file.close()


class _Kept:
    """What is kept of one line while its bytes stream by; NULs (a truncated file's hole) are dropped."""

    __slots__ = ("_head", "_size", "_tail", "length", "nul_bytes")

    def __init__(self) -> None:
        self.length = self.nul_bytes = self._size = 0
        self._head = self._tail = b""

    @property
    def cut(self) -> bool:
        return self._size > LINE_HEAD + LINE_TAIL

    def add(self, piece: bytes) -> None:
        self.length += len(piece)
        if b"\0" in piece:
            bare = piece.replace(b"\0", b"")
            self.nul_bytes += len(piece) - len(bare)
            piece = bare
        self._size += len(piece)
        room = LINE_HEAD + LINE_TAIL - len(self._head)
        self._head += piece[:room]
        if len(piece) > room:
            self._tail = (self._tail + piece[max(room, len(piece) - LINE_TAIL) :])[-LINE_TAIL:]

    def take(self) -> bytes:
        if self.cut:
            gone = self._size - LINE_HEAD - len(self._tail)
            return (
                self._head[:LINE_HEAD] + f" …[{gone:,} bytes cut]… ".encode() + self._tail.removesuffix(b"\r")
            )
        return (self._head + self._tail).removesuffix(b"\r")
