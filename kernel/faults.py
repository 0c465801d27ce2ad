"""Fault points: named places around each commit, send, ring and effect where a test may strike; unarmed, nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Told each label that is reached; it may raise, or end the process.
Strike = Callable[[str], None]

_strike: Strike | None = None


class InjectedFault(Exception):
    """What a test raises at a fault point: nothing of ours, like a bug."""


def arm(strike: Strike | None) -> None:
    """Have `strike` told of every fault point from now on; None disarms. No setting does this, only code."""
    global _strike  # noqa: PLW0603 one process, one weapon: passing it through every write would hide the product
    _strike = strike


def reach(label: str) -> None:
    """Tell a test, if one is armed, that this place was reached."""
    if _strike is not None:
        _strike(label)


@contextmanager
def around(name: str) -> Iterator[None]:
    """Put the fault points `<name>:before` and `<name>:after` around a block."""
    reach(f"{name}:before")
    yield
    reach(f"{name}:after")
