"""Fingerprints of logs: they tell whether a file still begins with the bytes that a run has read."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from agents.log_analysis.sources.inflating import Inflation, compression
from kernel.contracts import Value

#: Bytes that are hashed: all of a small file, else its head, its end and spots between.
_HEAD = _TAIL = 64 * 1024
_SPOT, _SPOTS = 4096, 16
_CHUNK = 256 * 1024


class Fingerprint(Value):
    """What a run knows of a file's bytes.

    `size` and `sampled` speak of the bytes as they are stored, `head` of the first ones as they decompress.
    """

    packed: str = ""
    size: int
    sampled: str
    head: str
    head_size: int


def take(file: BinaryIO) -> Fingerprint:
    """Return the fingerprint of an open file as it is now."""
    size = file.seek(0, io.SEEK_END)
    head = _head(file)
    return Fingerprint(
        packed=_kind(file),
        size=size,
        sampled=_sampled(file, size),
        head=hashlib.sha256(head).hexdigest(),
        head_size=len(head),
    )


def holds(file: BinaryIO, known: Fingerprint) -> bool:
    """Tell whether an open file begins with the bytes of a fingerprint, stored like them or compressed since."""
    kind, size = _kind(file), file.seek(0, io.SEEK_END)
    if kind == known.packed:
        fits = size == known.size if kind else size >= known.size
        if fits and _sampled(file, known.size) == known.sampled:
            return True
    if known.packed:  # what was read compressed: only its beginning is known
        return not (kind == known.packed and size == known.size) and _head_is(file, known)
    if not kind or not _head_is(file, known):
        return False
    file.seek(0)
    return _sampled_of(Inflation(kind, known.size).chunks(file), known.size) == known.sampled


def _kind(file: BinaryIO) -> str:
    file.seek(0)
    return compression(file.read(64))


def _head(file: BinaryIO) -> bytes:
    kind = _kind(file)
    file.seek(0)
    if not kind:
        return file.read(_HEAD)
    head = b""
    for chunk in Inflation(kind, _HEAD).chunks(file):
        head += chunk
    return head


def _head_is(file: BinaryIO, known: Fingerprint) -> bool:
    head = _head(file)
    return len(head) >= known.head_size and hashlib.sha256(head[: known.head_size]).hexdigest() == known.head


def _ranges(size: int) -> list[tuple[int, int]]:
    """Return the ranges that are hashed, in order and without overlap."""
    if size <= _HEAD + _TAIL + _SPOT * _SPOTS:
        return [(0, size)]
    step = (size - _HEAD - _TAIL) // _SPOTS
    spots = [(_HEAD + step * n, _HEAD + step * n + _SPOT) for n in range(_SPOTS)]
    return [(0, _HEAD), *spots, (size - _TAIL, size)]


def _sampled(file: BinaryIO, size: int) -> str:
    digest = hashlib.sha256()
    for start, end in _ranges(size):
        file.seek(start)
        left = end - start
        while left > 0 and (chunk := file.read(min(_CHUNK, left))):
            digest.update(chunk)
            left -= len(chunk)
    return digest.hexdigest()


def _sampled_of(chunks: Iterable[bytes], size: int) -> str:
    """Return what `_sampled` returns of the same bytes, which pass by only once."""
    digest, at = hashlib.sha256(), 0
    waiting: Iterator[tuple[int, int]] = iter(_ranges(size))
    start, end = next(waiting)
    for chunk in chunks:
        until = at + len(chunk)
        while start < until:
            digest.update(chunk[max(0, start - at) : end - at])
            if end > until:
                break
            start, end = next(waiting, (size + 1, size + 1))
        at = until
    return digest.hexdigest() if at >= size else ""
