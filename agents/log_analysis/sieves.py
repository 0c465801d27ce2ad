"""Tells in one linear pass over a text which of many patterns may fit it, so that few of them are tried; pure."""

from __future__ import annotations

from collections.abc import Iterable

import re2

#: What looks round a pattern: the library of linear patterns has no such thing.
_LOOKS = ("(?<!", "(?!", "(?=", "(?<=")
#: Classes that here mean ASCII alone, and `\b`, which goes by them.
_WIDER = {"d": r"\p{Nd}", "w": r"[\w\x{80}-\x{10ffff}]", "s": r"[\s\v\x{80}-\x{10ffff}]", "b": ""}
_WIDER_INSIDE = {"d": r"\p{Nd}", "w": r"\w\x{80}-\x{10ffff}", "s": r"\s\v\x{80}-\x{10ffff}"}
#: What its automaton may take at most; with too little it would find nothing.
_MEMORY = 64 << 20


class Sieve:
    """Patterns by number. It lets pass whatever fits, and little else."""

    def __init__(self, patterns: Iterable[str]) -> None:
        options = re2.Options()
        options.max_mem = _MEMORY
        self._set = re2.Set.SearchSet(options)
        for pattern in patterns:
            self._set.Add(_loose(pattern))
        self._set.Compile()

    def passing(self, text: str) -> list[int]:
        """Return the numbers of the patterns that may fit somewhere in a text, in order."""
        numbers: list[int] | None = self._set.Match(text.encode("utf-8", "replace"))
        return sorted(numbers) if numbers else []


def _loose(pattern: str) -> str:
    """Return a pattern for re2 that fits wherever the given one does."""
    out, place, inside = "", 0, False
    while place < len(pattern):
        sign = pattern[place]
        if not inside and pattern.startswith(_LOOKS, place):
            place = _closing(pattern, place)
            continue
        if sign == "\\":
            sign = pattern[place : place + 2]
            sign = (_WIDER_INSIDE if inside else _WIDER).get(sign[1], sign)
            place += 1
        else:
            inside = sign != "]" if inside else sign == "["
        out += sign
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
