"""One turn of a chat model, asked from a thread: on the model's own loop, with a time limit on every turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock, Thread

from kernel.errors import Retryable
from kernel.model.port import Model, ModelRequest, ignore_text

#: The loop ends a turn at its limit; the thread that waits for it gives it so much longer to say so.
_GRACE_SECONDS = 1.0


class ModelTurn:
    """Asks a model; all its connections live on one loop, since those who ask come from many threads.

    `loop` is that of a model that others ask too; without it the loop is this object's own.
    """

    def __init__(
        self, make: Callable[[], Model], *, loop: Callable[[], asyncio.AbstractEventLoop] | None = None
    ) -> None:
        self._make = make
        self._shared = loop
        self._lock = Lock()
        self._model: Model | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    def text(self, request: ModelRequest, seconds: float) -> str:
        """Return the text of an answer; raise what the model raises, or Retryable where it takes too long."""
        asked: Future[str] = asyncio.run_coroutine_threadsafe(self._asked(request, seconds), self._running())
        try:
            return asked.result(seconds + _GRACE_SECONDS)
        except TimeoutError as error:
            asked.cancel()
            raise Retryable(f"the model gave no answer within {seconds:.1f} s") from error

    def close(self) -> None:
        """Close the connections and end the own loop; a later turn begins anew. A shared model is left to others."""
        with self._lock:
            loop, model, self._loop, self._model = self._loop, self._model, None, None
        if loop is None:
            return
        if model is not None:
            asyncio.run_coroutine_threadsafe(model.close(), loop).result(_GRACE_SECONDS)
        loop.call_soon_threadsafe(loop.stop)

    async def _asked(self, request: ModelRequest, seconds: float) -> str:
        if self._model is None:  # on the loop, so that it is made once
            self._model = self._make()
        async with asyncio.timeout(seconds):
            return (await self._model.reply(request, ignore_text)).text

    def _running(self) -> asyncio.AbstractEventLoop:
        if self._shared is not None:
            return self._shared()
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                Thread(target=_run, args=(self._loop,), name="memory-model", daemon=True).start()
            return self._loop


def _run(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()
