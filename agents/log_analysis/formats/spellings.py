"""Which spellings of time stamps may stand in a line: one pass over its head, and the line alone decides; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import re2

Search = Callable[[str, int, int], re.Match[str] | None]
R = TypeVar("R")
#: What looks round a pattern: the library of linear patterns has no such thing.
_LOOKS = ("(?<!", "(?!", "(?=")


class Spellings(Generic[R]):
    """Patterns in their order, with what reads a match of each."""

    def __init__(self, patterns: Sequence[tuple[str, R]]) -> None:
        self._all = [(_search(pattern), reader) for pattern, reader in patterns]
        self._sieve = re2.Set.SearchSet()
        for pattern, _ in patterns:
            self._sieve.Add(_loose(pattern))
        self._sieve.Compile()

    def within(self, head: str) -> list[tuple[Search, R]]:
        """Return the spellings that may stand in the head of a line, in their order."""
        numbers = self._sieve.Match(head.encode("utf-8", "replace"))
        return [self._all[n] for n in sorted(numbers)] if numbers else []


def _search(pattern: str) -> Search:
    """Return the search for a pattern; one that only fits at the start is not tried elsewhere."""
    compiled = re.compile(pattern)
    return compiled.match if pattern[0] == "^" and "(?:^|" not in pattern else compiled.search


def _loose(pattern: str) -> str:
    """Return a pattern for re2 that fits wherever the given one does: without looks round it, digits of any script."""
    out, place = "", 0
    while place < len(pattern):
        if pattern.startswith(_LOOKS, place):
            place = _closing(pattern, place)
        elif pattern[place] == "\\":
            out += {"d": r"\p{Nd}", "b": ""}.get(pattern[place + 1], pattern[place : place + 2])
            place += 2
        else:
            out += pattern[place]
            place += 1
    return out


def _closing(pattern: str, place: int) -> int:
    """Return where the group ends that begins at a place."""
    depth, inside = 0, False
    while True:
        sign = pattern[place]
        if sign == "\\":
            place += 1
        elif inside:
            inside = sign != "]"
        elif sign == "[":
            inside = True
        else:
            depth += (sign == "(") - (sign == ")")
        place += 1
        if not depth:
            return place
