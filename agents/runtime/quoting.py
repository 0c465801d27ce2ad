"""Quoting, pure: whether a text was copied from what others wrote, word by word or for the most part."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from typing import Any

#: Characters of a piece: long enough that two texts share few by chance, short enough for a clause in Chinese.
PIECE = 10
#: A text of which more than this share of pieces stands in another was copied from it.
SHARE = 0.5


def copied(text: str, others: Iterable[Any]) -> bool:
    """Return whether a text, or most of it, stands in one of the values (texts, or JSON that holds texts).

    Case, width and spacing make no difference. A text shorter than a piece counts only where it stands there whole.
    """
    wanted = _normal(text)
    if not wanted:
        return False
    pieces = {wanted[at : at + PIECE] for at in range(max(1, len(wanted) - PIECE + 1))}
    found: set[str] = set()
    for written in map(_normal, _texts(list(others))):
        if wanted in written:
            return True
        found |= {p for at in range(len(written) - PIECE + 1) if (p := written[at : at + PIECE]) in pieces}
    return len(found) > SHARE * len(pieces)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
