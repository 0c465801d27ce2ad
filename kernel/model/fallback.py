"""The chain of endpoints: retries with jitter, a breaker for each, and the next one when one is down."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from kernel import logs
from kernel.clock import monotonic
from kernel.errors import Exhausted, Fatal, NightdeskError, OverBudget, Retryable, Uncounted
from kernel.model.port import Adjusted, ContextTooLong, Model, ModelReply, ModelRequest, OnText

log = logs.get(__name__)

_BACKOFF_SECONDS = 0.5
_BACKOFF_CAP_SECONDS = 8.0


@dataclass(frozen=True, kw_only=True)
class Patience:
    """How long one endpoint is tried before the next.

    `attempts` for one reply; `longest_wait`: a longer Retry-After means go on to the next endpoint;
    `open_after` failures in a row open the breaker for `open_seconds`.
    """

    attempts: int = 3
    longest_wait: float = 30.0
    open_after: int = 5
    open_seconds: float = 30.0


class _Breaker:
    """Counts failures in a row; open means: do not even try."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._failures = 0
        self._open_until = float("-inf")

    def opens_in(self, now: float) -> float:
        return max(0.0, self._open_until - now)

    def succeeded(self) -> None:
        self._failures = 0

    def failed(self, now: float, retry_after: float | None, *, final: bool) -> None:
        self._failures += 1
        if final or self._failures >= self._patience.open_after:
            # one failure after this pause opens it again: the count stays until a success
            self._open_until = now + max(self._patience.open_seconds, retry_after or 0.0)


class FallbackModel:
    """The first endpoint that answers. Raises Retryable, Exhausted or Fatal when none does."""

    def __init__(
        self,
        models: Sequence[Model],
        *,
        patience: Patience | None = None,
        clock: Callable[[], float] = monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.models = list(models)
        self.name = self.models[0].name
        self._patience = patience or Patience()
        self._clock, self._sleep, self._jitter = clock, sleep, jitter
        self._breakers = [_Breaker(self._patience) for _ in self.models]

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        """Return the first answer; text of an attempt that failed is superseded by `on_text(None)`."""
        errors: list[NightdeskError] = []
        for model, breaker in zip(self.models, self._breakers, strict=True):
            pause = breaker.opens_in(self._clock())
            if pause > 0:
                errors.append(Retryable(f"{model.name} rests after failures", retry_after=pause))
                continue
            try:
                return await self._ask(model, breaker, request, on_text)
            except (OverBudget, Uncounted):
                raise  # it was not sent; another endpoint would not be either
            except (Retryable, Exhausted, Fatal) as error:
                log.warning("model_failed", model=model.name, code=error.code, reason=str(error))
                errors.append(error)
        raise self._worst(errors)

    async def _ask(
        self, model: Model, breaker: _Breaker, request: ModelRequest, on_text: OnText
    ) -> ModelReply:
        for attempt in range(1, self._patience.attempts + 1):
            watched = _Watched(on_text)
            try:
                answer = await _adjusting(model, request, watched)
            except (OverBudget, Uncounted):
                raise  # the endpoint is not to blame
            except Retryable as error:
                await watched.supersede()
                breaker.failed(self._clock(), error.retry_after, final=False)
                wait = self._wait(attempt, error.retry_after)
                if attempt == self._patience.attempts or wait > self._patience.longest_wait:
                    raise
                if breaker.opens_in(self._clock()) > 0:
                    raise
                await self._sleep(wait)
            except ContextTooLong:
                breaker.succeeded()  # the endpoint is well; the question was too long for it
                raise
            except (Exhausted, Fatal):
                await watched.supersede()
                # quota, key, address: the next question would end the same way
                breaker.failed(self._clock(), None, final=True)
                raise
            else:
                breaker.succeeded()
                return answer
        raise Fatal("a model needs at least one attempt")

    def _wait(self, attempt: int, floor: float | None) -> float:
        backoff: float = min(_BACKOFF_CAP_SECONDS, _BACKOFF_SECONDS * 2 ** (attempt - 1))
        return max(backoff * (0.5 + self._jitter()), floor or 0.0)

    @staticmethod
    def _worst(errors: list[NightdeskError]) -> NightdeskError:
        """Return what the caller can act on best: a shorter question, a later one, else the first error."""
        for kind in (ContextTooLong, Retryable):
            for error in errors:
                if isinstance(error, kind):
                    return error
        return errors[0]

    async def close(self) -> None:
        """Close all endpoints."""
        for model in self.models:
            await model.close()


async def _adjusting(model: Model, request: ModelRequest, on_text: OnText) -> ModelReply:
    """Ask until the endpoint has nothing left to refuse in how it is asked; each time is one request."""
    while True:
        try:
            return await model.reply(request, on_text)
        except Adjusted as adjusted:
            log.info("model_adjusted", model=model.name, reason=str(adjusted))


class _Watched:
    """Passes text on and remembers whether there was any."""

    def __init__(self, on_text: OnText) -> None:
        self._on_text = on_text
        self._seen = False

    async def __call__(self, text: str | None) -> None:
        self._seen = self._seen or bool(text)
        await self._on_text(text)

    async def supersede(self) -> None:
        if self._seen:
            await self._on_text(None)
