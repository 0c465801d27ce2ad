"""The readable body of one log: seekable bytes, physical lines by number, what was cut or skipped."""

from __future__ import annotations

import codecs
import io
import tempfile
import threading
from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from agents.log_analysis.formats.text import clean, decode, hide_key_line
from agents.log_analysis.sources.inflating import Inflation, compression
from kernel.errors import Correctable

#: Bytes kept of one line: its head, and a little of its end. The rest is counted and said.
LINE_HEAD = 48 * 1024
LINE_TAIL = 4 * 1024

#: Each so many lines the index notes where a line begins: a look-up reads at most that many.
_STEP = 64
_CHUNK = 256 * 1024

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


@dataclass
class Body:
    """One log as bytes. Lines end at LF only and count from 1; a line number always names the same bytes."""

    file: BinaryIO
    size: int
    notes: list[str] = field(default_factory=list)
    cut_lines: int = 0
    nul_bytes: int = 0
    lines: int = 0
    _offsets: array[int] = field(default_factory=lambda: array("Q"))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def index(self) -> Iterator[tuple[int, str]]:
        """Yield each line's number and text, once, and build the index on the way."""
        self._offsets, self.cut_lines, self.nul_bytes = array("Q"), 0, 0
        number = 0
        for number, (offset, raw) in enumerate(self._raw(0, count=True), 1):
            if number % _STEP == 1:
                self._offsets.append(offset)
            yield number, clean(decode(raw))
        self.lines = number

    def read(self, first: int, last: int) -> list[str]:
        """Return the texts of lines `first` to `last`, as far as they exist."""
        if first < 1 or first > self.lines:
            return []
        with self._lock:
            start = self._offsets[(first - 1) // _STEP]
            skip = (first - 1) % _STEP
            texts = []
            for position, (_, raw) in enumerate(self._raw(start)):
                if position >= skip:
                    texts.append(hide_key_line(clean(decode(raw))))
                if position - skip >= last - first:
                    break
            return texts

    def texts(self) -> Iterator[tuple[int, str]]:
        """Yield each line's number and text again; other readers may run in between."""
        for first in range(1, self.lines + 1, _STEP * 16):
            yield from enumerate(self.read(first, min(first + _STEP * 16 - 1, self.lines)), first)

    def _raw(self, offset: int, *, count: bool = False) -> Iterator[tuple[int, bytes]]:
        """Yield offset and kept bytes of each line from an offset that begins a line."""
        self.file.seek(offset)
        kept, start, left = _Kept(), offset, self.size - offset
        while left > 0 and (chunk := self.file.read(min(_CHUNK, left))):
            left -= len(chunk)
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


def open_body(file: BinaryIO, name: str, scratch: Path, max_bytes: int) -> Body:
    """Return the body of an open log; compressed and UTF-16 logs are unrolled into a file without a name."""
    head = file.read(512)
    file.seek(0)
    kind = compression(head)
    if kind in ("zstd", "zip"):
        raise Correctable(
            f"{name!r} is {kind}-compressed and cannot be read",
            why="only gzip, bzip2 and xz are understood",
            next_step="Decompress it, or compress it with gzip.",
        )
    if kind:
        return _inflate(file, name, kind, scratch, max_bytes)
    encoding = next((e for bom, e in _BOMS if head.startswith(bom)), "")
    if encoding:
        return _spool(_transcode(iter(lambda: file.read(_CHUNK), b""), encoding), scratch)
    size = file.seek(0, io.SEEK_END)
    if size <= max_bytes:
        return Body(file, size)
    return Body(file, max_bytes, [f"only the first {max_bytes:,} of {size:,} bytes were read"])


def _inflate(file: BinaryIO, name: str, kind: str, scratch: Path, max_bytes: int) -> Body:
    inflation = Inflation(kind, max_bytes)
    chunks = inflation.chunks(file)
    first = next(chunks, b"")
    if not first:
        raise Correctable(
            f"{name!r} cannot be decompressed",
            why="; ".join(inflation.notes) or f"the {kind} archive holds nothing",
            next_step="Check the file; nothing in it can be read.",
        )
    encoding = next((e for bom, e in _BOMS if first.startswith(bom)), "")
    stream = _chain(first, chunks)
    body = _spool(_transcode(stream, encoding) if encoding else stream, scratch)
    body.notes += inflation.notes
    return body


def _chain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _transcode(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    for chunk in chunks:
        yield decoder.decode(chunk).encode("utf-8", errors="replace")
    yield decoder.decode(b"", final=True).encode("utf-8", errors="replace")


def _spool(chunks: Iterable[bytes], scratch: Path) -> Body:
    scratch.mkdir(parents=True, exist_ok=True)
    file = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115 - lives as long as the scan that reads it
    size = 0
    for chunk in chunks:
        size += file.write(chunk)
    return Body(file, size)
