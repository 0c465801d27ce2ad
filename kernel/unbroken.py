"""Waits that a cut does not break: what must not be left half done is waited for, the cut comes after it."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Return what the work returns; a cut that comes meanwhile changes nothing any more."""
    task, _ = await _over(work)
    return task.result()


async def then_cut(work: Coroutine[Any, Any, T]) -> T:
    """Return what the work returns; a cut that comes meanwhile is raised when it has ended."""
    task, cut = await _over(work)
    if cut is None:
        return task.result()
    if not task.cancelled():
        task.exception()  # heard: the cut says more
    raise cut


async def _over(work: Coroutine[Any, Any, T]) -> tuple[asyncio.Task[T], asyncio.CancelledError | None]:
    task, cut = asyncio.ensure_future(work), None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cut = error
    return task, cut
