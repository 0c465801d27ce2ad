"""Streams compressed logs: constant memory, a limit against bombs, and whatever decodes of a broken file."""

from __future__ import annotations

import bz2
import lzma
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol

from agents.log_analysis.sources.zstandard import WINDOW_BYTES, ZstdError, decompressor

_CHUNK = 64 * 1024
_OUT = 256 * 1024

#: Real logs shrink 5 to 60 times. Past this size a larger factor is a bomb, whatever the byte limit.
BOMB_RATIO = 300
BOMB_BYTES = 32 * 1024 * 1024

#: What is understood.
_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
#: A zstd file may begin with a frame to skip, as pzstd writes: the first byte is free in its lower half.
_SKIPPABLE = re.compile(rb"[\x50-\x5f]\x2a\x4d\x18")

#: What is told apart, so that it is refused by its name.
_FOREIGN = {
    b"PK\x03\x04": "a zip archive",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"Rar!": "a rar archive",
    b"\x04\x22\x4d\x18": "lz4-compressed",
    b"\x1f\x9d": "compressed by compress",
    b"LZIP": "lzip-compressed",
}
_TAR_AT, _TAR = 257, b"ustar"


def compression(head: bytes) -> str:
    """Return the kind of compression that the first bytes name, or nothing."""
    if _SKIPPABLE.match(head):
        return "zstd"
    return next((kind for magic, kind in _MAGIC.items() if head.startswith(magic)), "")


def foreign(head: bytes) -> str:
    """Return what a file is that holds other files or that no decoder here reads, or nothing."""
    if head[_TAR_AT : _TAR_AT + len(_TAR)] == _TAR:
        return "a tar archive"
    return next((kind for magic, kind in _FOREIGN.items() if head.startswith(magic)), "")


class _Decoder(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


@dataclass
class Inflation:
    """One pass over a compressed file; `notes` says what went wrong once the pass has ended."""

    kind: str
    max_bytes: int
    read: int = 0
    written: int = 0
    notes: list[str] = field(default_factory=list)

    def chunks(self, file: BinaryIO) -> Iterator[bytes]:
        """Yield decompressed pieces until the end, a limit, or the first byte that cannot be decoded."""
        decoder, carry, between = _decoder(self.kind), b"", False
        while True:
            data = b""
            if decoder.needs_input:
                data, carry = carry or self._read(file), b""
                if not data:
                    self._ended(between)
                    return
            try:
                out = decoder.decompress(data, _OUT)
            except (zlib.error, OSError, lzma.LZMAError, EOFError, ZstdError) as error:
                self._broken(between, error)
                return
            between = False
            if out:
                out = out[: self.max_bytes - self.written]
                self.written += len(out)
                yield out
            if self._stopped():
                return
            if decoder.eof:
                carry, between = decoder.unused_data.lstrip(b"\0"), True
                decoder = _decoder(self.kind)

    def _read(self, file: BinaryIO) -> bytes:
        data = file.read(_CHUNK)
        self.read += len(data)
        return data

    def _ended(self, between: bool) -> None:
        if not between:
            self.notes.append("the archive is cut: what decodes was read, the rest is missing")

    def _broken(self, between: bool, error: Exception) -> None:
        if between:  # bytes after a complete member
            self.notes.append("bytes after the end of the archive were ignored")
            return
        why = f"{error}"
        if "memory" in why.lower():  # what zstd and xz say of a window beyond the limit
            why = f"decoding it takes a window of more than {WINDOW_BYTES >> 20} MiB of memory"
        self.notes.append(f"the archive is broken after {self.written:,} decompressed bytes ({why})")

    def _stopped(self) -> bool:
        if self.written >= self.max_bytes:
            self.notes.append(f"reading stopped at the limit of {self.max_bytes:,} decompressed bytes")
            return True
        if self.written > BOMB_BYTES and self.written > self.read * BOMB_RATIO:
            self.notes.append(
                f"reading stopped after {self.written:,} decompressed bytes: "
                f"the file inflates more than {BOMB_RATIO} times, as a decompression bomb does"
            )
            return True
        return False


class _Gzip:
    """zlib's decoder with the interface of bz2 and lzma."""

    def __init__(self) -> None:
        self._inner = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._inner.decompress(self._inner.unconsumed_tail + data, max(0, max_length))


def _decoder(kind: str) -> _Decoder:
    if kind == "gzip":
        return _Gzip()
    if kind == "zstd":
        return decompressor()
    return bz2.BZ2Decompressor() if kind == "bzip2" else lzma.LZMADecompressor(memlimit=WINDOW_BYTES)
