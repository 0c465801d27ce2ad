"""Opens one log: plain bytes as they are, compressed and UTF-16 logs unrolled, within the limits of a run."""

from __future__ import annotations

import codecs
import io
import tempfile
import threading
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from agents.log_analysis.sources.bodies import Body
from agents.log_analysis.sources.files import LogFile
from agents.log_analysis.sources.inflating import Inflation, compression, foreign
from kernel.errors import Correctable, NightdeskError

_CHUNK = 256 * 1024

#: Bytes at the start of a file that tell what it is.
_HEAD = 512
#: Without a mark UTF-16 is known by its ASCII letters, half of which is empty: so many at least, and so large a share.
_LEAST, _EMPTY = 16, 0.5

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def open_log(
    file: LogFile, scratch: Path, max_bytes: int, max_lines: int = 0, stop: threading.Event | None = None
) -> tuple[Body, datetime]:
    """Return the body of a log and its last change; the body's notes begin with what its source had to say."""
    handle, changed = file.open()
    try:
        body = open_body(
            handle, file.name, scratch, max_bytes, max_lines=max_lines, size=file.size, stop=stop
        )
    except NightdeskError:
        handle.close()
        raise
    if body.file is not handle:
        handle.close()
    body.notes[:0] = file.notes
    return body, changed


def open_body(
    file: BinaryIO,
    name: str,
    scratch: Path,
    max_bytes: int,
    *,
    max_lines: int = 0,
    size: int | None = None,
    stop: threading.Event | None = None,
) -> Body:
    """Return the body of an open log; compressed and UTF-16 logs are unrolled into a file without a name.

    Of a log whose first `size` bytes of content are wanted, the rest is left alone without a word. Once `stop` is
    set, unrolling ends with what there is.
    """
    head = file.read(_HEAD)
    file.seek(0)
    _refuse(foreign(head), name)
    kind = compression(head)
    if kind:
        body = _inflate(file, name, kind, scratch, max_bytes, size, stop)
    else:
        body = _plain(file, head, scratch, max_bytes, size, stop)
    body.max_lines = max_lines
    return body


def _encoding(head: bytes) -> str:
    """Return the encoding of a log that is to be transcoded: by its mark, or where every second byte is empty."""
    if marked := next((e for bom, e in _BOMS if head.startswith(bom)), ""):
        return marked
    size = len(head) // 2
    empty = head[: 2 * size : 2].count(0), head[1 : 2 * size : 2].count(0)
    # a hole of NULs is empty in both places; of UTF-16 the half that carries the letters never is
    if size < _LEAST or min(empty) or max(empty) < size * _EMPTY:
        return ""
    return "utf-16-le" if empty[1] else "utf-16-be"


def _plain(
    file: BinaryIO,
    head: bytes,
    scratch: Path,
    max_bytes: int,
    size: int | None,
    stop: threading.Event | None,
) -> Body:
    there = file.seek(0, io.SEEK_END)
    file.seek(0)
    wanted = there if size is None else min(there, size)
    kept = min(wanted, max_bytes)
    notes = [f"only the first {kept:,} of {wanted:,} bytes were read"] if kept < wanted else []
    encoding = _encoding(head)
    if not encoding:
        return Body(file, kept, notes=notes)
    body = _spool(_transcode(_first(file, kept), encoding), scratch, stop)
    body.notes += notes
    return body


def _first(file: BinaryIO, left: int) -> Iterator[bytes]:
    """Yield the first bytes of a file."""
    while left > 0 and (chunk := file.read(min(_CHUNK, left))):
        left -= len(chunk)
        yield chunk


def _inflate(
    file: BinaryIO,
    name: str,
    kind: str,
    scratch: Path,
    max_bytes: int,
    size: int | None,
    stop: threading.Event | None,
) -> Body:
    limit = max_bytes if size is None else min(max_bytes, size)
    inflation = Inflation(kind, limit)
    chunks = inflation.chunks(file)
    first = next(chunks, b"")
    if not first:
        raise Correctable(
            f"{name!r} cannot be decompressed as {kind}",
            why="; ".join(inflation.notes) or f"the {kind} archive holds nothing",
            next_step="Check the file; nothing in it can be read.",
        )
    _refuse(foreign(first), name)
    encoding = _encoding(first[:_HEAD])
    stream = _chain(first, chunks)
    body = _spool(_transcode(stream, encoding) if encoding else stream, scratch, stop)
    if inflation.written != size:  # what was wanted is there: nothing to tell
        body.notes += inflation.notes
    return body


def _refuse(kind: str, name: str) -> None:
    if kind:
        raise Correctable(
            f"{name!r} is {kind} and cannot be read",
            why="logs are read plain or compressed by gzip, bzip2, xz or zstd, one log in each file",
            next_step="Unpack it, and name the files or their folder.",
        )


def _chain(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from rest


def _transcode(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    for chunk in chunks:
        yield decoder.decode(chunk).encode("utf-8", errors="replace")
    yield decoder.decode(b"", final=True).encode("utf-8", errors="replace")


def _spool(chunks: Iterable[bytes], scratch: Path, stop: threading.Event | None) -> Body:
    scratch.mkdir(parents=True, exist_ok=True)
    file = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115 - lives as long as the scan that reads it
    size, notes = 0, []
    for chunk in chunks:
        size += file.write(chunk)
        if stop is not None and stop.is_set():
            notes.append(f"unrolling was stopped after {size:,} bytes of content")
            break
    file.flush()  # it is read by its descriptor
    return Body(file, size, notes=notes)
