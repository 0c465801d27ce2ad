"""The meter of an assignment: its tool calls and seconds of work, reserved only where a budget limits them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from kernel.budget import Grant, Purse
from kernel.budgets import Amount, Ask, ScopeKind, Spender
from kernel.clock import monotonic
from kernel.contracts import Work
from kernel.errors import NightdeskError, OverBudget, Uncounted

#: Seconds are reserved in slices, so that one part of a run does not take all that its siblings need too,
#: and a worker that dies leaves no more than one of them counted.
_SLICE_SECONDS = 30
_CALL = Ask(fixed=Amount(tool_calls=1))
_SLICE = Ask(fixed=Amount(), each=Amount(seconds=1 / 1000), units=_SLICE_SECONDS * 1000, least=1)
#: Tool calls of an assignment alone are the loop's affair: it withdraws the tools and gets an answer.
_ABOVE = (ScopeKind.run, ScopeKind.namespace, ScopeKind.day)


class Meter:
    """Counts for one assignment; without a purse, or a limit on what it counts, it costs nothing."""

    def __init__(self, purse: Purse | None, work: Work) -> None:
        self._purse = purse
        self._ids = {
            "run_id": work.run_id,
            "assignment_id": work.assignment_id,
            "namespace": work.namespace,
        }

    async def count(self, call_id: str) -> None:
        """Reserve a tool call before it is made, once for each call whoever makes it; raise OverBudget."""
        spender = Spender(name=call_id, **self._ids)
        if self._purse is not None and self._purse.limits(spender, _CALL, *_ABOVE):
            grant = await self._purse.reserve(call_id, spender, _CALL)
            await self._purse.settle(grant, _CALL.fixed)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Count the seconds of a block, and end it with OverBudget when no more are to be had."""
        spender = Spender(name=f"{self._ids['assignment_id']}.seconds", **self._ids)
        if self._purse is None or not self._purse.limits(spender, _SLICE, *ScopeKind):
            yield
            return
        slices = _Slices(self._purse, spender)
        await slices.take()
        try:
            async with asyncio.timeout(None) as limit:
                counting = asyncio.create_task(slices.keep_taking(limit))
                try:
                    yield
                finally:
                    counting.cancel()
                    await asyncio.gather(counting, return_exceptions=True)
                    await slices.give_back()
        except TimeoutError:
            if slices.refused is not None:
                raise slices.refused from None
            raise


class _Slices:
    """The slices of time of one block; at most one is open."""

    def __init__(self, purse: Purse, spender: Spender) -> None:
        self._purse, self._spender = purse, spender
        self._open: Grant | None = None
        self._since = 0.0
        self.refused: NightdeskError | None = None

    async def take(self) -> None:
        self._open = await self._purse.reserve(self._purse.key(self._spender), self._spender, _SLICE)
        self._since = monotonic()

    async def give_back(self) -> None:
        """Settle the open slice at the time that passed."""
        if (grant := self._open) is not None:
            self._open = None
            await self._purse.settle(
                grant, Amount(seconds=min(monotonic() - self._since, grant.units / 1000))
            )

    async def keep_taking(self, limit: asyncio.Timeout) -> None:
        """Take a slice when the last one is used up; let the block time out when there is none."""
        try:
            while self._open is not None:
                await asyncio.sleep(max(0.0, self._since + self._open.units / 1000 - monotonic()))
                await self.give_back()
                await self.take()
        except (OverBudget, Uncounted) as error:
            self.refused = error
            limit.reschedule(asyncio.get_running_loop().time())
