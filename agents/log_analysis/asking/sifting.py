"""Tells of raw bytes whether a pattern may match in them, so that lines that cannot match are never decoded; pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import re2

#: Printable ASCII, tab and line feed, and the bytes of characters beyond ASCII.
_PLAIN = bytes([9, 10, *range(32, 127), *range(128, 256)])
#: How characters begin that are hidden, or shown as escapes, once a line is cleaned.
_HIDDEN = (b"\xc2", b"\xd8\x9c", b"\xe1\xa0", b"\xe2\x80", b"\xe2\x81", b"\xef\xb8", b"\xef\xbb", b"\xf3\xa0")
#: What means the edge of a whole text, not of a line.
_EDGES = ("\\A", "\\z", "\\C")
#: What a line that may be the inside of a key is shown as.
_STAND_IN = "<KEY LINE>"


def sieve(pattern: str, compiled: Any, options: Any) -> Callable[[bytes], bool] | None:
    """Return what tells of whole raw lines whether the pattern may match in one; True where they need repair first.

    None where nothing can be told. `compiled` is the pattern for the text of single lines, and `options` are what
    it was compiled with.
    """
    if any(edge in pattern for edge in _EDGES) or compiled.search(_STAND_IN) or compiled.search(""):
        return None
    options.never_nl = True  # a match stays within its line
    try:
        lines = re2.compile(f"(?m:{pattern})".encode(), options=options)
    except re2.error:  # it fits the memory only as it was
        return None

    def may_match(raw: bytes) -> bool:
        if raw.translate(None, _PLAIN):
            return True
        if not raw.isascii() and (any(part in raw for part in _HIDDEN) or not _is_utf8(raw)):
            return True
        return lines.search(raw) is not None

    return may_match


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
