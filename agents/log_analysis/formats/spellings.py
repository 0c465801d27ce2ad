"""Which spellings of time stamps may stand in a line: one pass over its head, and the line alone decides; pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from agents.log_analysis.sieves import Sieve

Search = Callable[[str, int, int], re.Match[str] | None]
R = TypeVar("R")


class Spellings(Generic[R]):
    """Patterns in their order, with what reads a match of each."""

    def __init__(self, patterns: Sequence[tuple[str, R]]) -> None:
        self._all = [(_search(pattern), reader, _anchored(pattern)) for pattern, reader in patterns]
        self._sieve = Sieve(pattern for pattern, _ in patterns)

    def within(self, head: str) -> list[tuple[Search, R, bool]]:
        """Return the spellings that may stand in the head of a line, in their order, and whether only at its start."""
        return [self._all[number] for number in self._sieve.passing(head)]


def _search(pattern: str) -> Search:
    """Return the search for a pattern; one that only fits at the start is not tried elsewhere."""
    compiled = re.compile(pattern)
    return compiled.match if _anchored(pattern) else compiled.search


def _anchored(pattern: str) -> bool:
    return pattern[0] == "^" and "(?:^|" not in pattern
