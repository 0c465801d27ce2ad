"""Bounds in seconds on a machine that others use as well: a busy one delays some attempts, a fault delays them all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

_ATTEMPTS = 4


def quickest(attempt: Callable[[], float], *, within: float) -> None:
    """Hold that one of a few attempts took less than `within` seconds; the first that does is the last."""
    took: list[float] = []
    while not took or took[-1] >= within:
        assert len(took) < _ATTEMPTS, took
        took.append(attempt())


async def quickest_of(attempt: Callable[[], Awaitable[float]], *, within: float) -> None:
    """Hold the same of what is awaited."""
    took: list[float] = []
    while not took or took[-1] >= within:
        assert len(took) < _ATTEMPTS, took
        took.append(await attempt())
