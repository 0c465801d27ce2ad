"""GETs of one server, one at a time, cut as soon as somebody wants them to stop or their time is over."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import httpx

from agents.log_analysis.sources.refusals import LOOK_SECONDS, stopped
from kernel.clock import monotonic
from kernel.errors import Retryable


class TooLargeError(Exception):
    """An answer larger than the caller takes."""


class Exchange:
    """Blocks the thread that asks; a read of a socket cannot be cut from outside, a task of a loop can."""

    def __init__(self, client: httpx.AsyncClient, deadline: float, stop: threading.Event) -> None:
        self._client, self._deadline, self.stop = client, deadline, stop
        self._loop = asyncio.new_event_loop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.run_until_complete(self._client.aclose())
        self._loop.close()  # without waiting for a name that is still looked up

    def get(self, address: str, params: dict[str, str], most: int) -> tuple[httpx.Response, bytes]:
        """Return an answer and its content; raise TooLargeError where that is more bytes than `most`."""
        return self._loop.run_until_complete(self._cut(address, params, most))

    def pause(self, seconds: float) -> bool:
        """Wait; return whether there is time for it, and nobody wants it to stop."""
        return monotonic() + seconds <= self._deadline and not self.stop.wait(seconds)

    async def _cut(self, *asked: Any) -> tuple[httpx.Response, bytes]:
        task = asyncio.ensure_future(self._got(*asked))
        while not task.done():
            late = monotonic() > self._deadline
            if late or self.stop.is_set():
                task.cancel()
                with suppress(asyncio.CancelledError, httpx.HTTPError, TooLargeError):
                    await task
                raise _over() if late else stopped()
            await asyncio.wait({task}, timeout=LOOK_SECONDS)
        return task.result()

    async def _got(self, address: str, params: dict[str, str], most: int) -> tuple[httpx.Response, bytes]:
        content = bytearray()
        async with self._client.stream("GET", address, params=params) as response:
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > most:
                    raise TooLargeError
        return response, bytes(content)


def _over() -> Retryable:
    return Retryable("the time for it was over", untouched=True)
