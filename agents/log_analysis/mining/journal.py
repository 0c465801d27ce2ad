"""What changed a miner, in order: gone through again elsewhere it leads to the same templates; pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

#: Changes kept. All templates that a miner makes are some thousand, and each reads in ever fewer new ways.
LIMIT = 30_000


class Change(NamedTuple):
    """A line that made the template `number`, or that it had not read like before."""

    number: int
    group: str
    tokens: tuple[str, ...]
    shown: tuple[str, ...]


class Journal:
    """The changes of one miner."""

    def __init__(self, changes: Iterable[Change] = (), *, whole: bool = True) -> None:
        self._changes = list(changes)
        #: Whether nothing is missing.
        self.whole = whole

    def __iter__(self) -> Iterator[Change]:
        return iter(self._changes)

    def note(self, number: int, group: str, tokens: tuple[str, ...], shown: tuple[str, ...]) -> None:
        """Keep one change."""
        if len(self._changes) < LIMIT:
            self._changes.append(Change(number, group, tokens, shown))
        else:
            self.whole = False

    def state(self) -> list[Any]:
        """Return the journal as plain JSON."""
        rows = [
            [number, group, " ".join(tokens), None if shown == tokens else shown]
            for number, group, tokens, shown in self._changes
        ]
        return [self.whole, rows]

    @classmethod
    def from_state(cls, state: list[Any] | None) -> Journal:
        """Return the journal that `state` was taken of; states of early versions have none."""
        whole, rows = state or (False, [])
        changes = []
        for number, group, text, shown in rows:
            tokens = tuple(text.split())
            changes.append(Change(number, group, tokens, tuple(shown) if shown else tokens))
        return cls(changes, whole=whole)
