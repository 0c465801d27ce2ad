"""The purse: every request is reserved in all its budgets before it is made, and settled at what it cost after."""

from __future__ import annotations

import asyncio
import itertools
import uuid
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from redis import asyncio as aioredis

from kernel import logs
from kernel.budgets import Amount, Ask, Budgets, Scope, ScopeKind, Spender, Verdict, refusal
from kernel.clock import monotonic, now
from kernel.contracts import Value
from kernel.counters import Counters
from kernel.database import Database
from kernel.errors import OverBudget, Retryable, Uncounted
from kernel.spending import Spending

log = logs.get(__name__)

#: A scope may be forgotten again while it is being seeded; after so many rounds SQL decides.
_ROUNDS = 6
#: After Redis failed SQL decides for so long, so that not every request waits for its time-out.
_REST_SECONDS = 3.0
#: Two processes may write the row of the epoch at the same moment.
_TRIES = 3


class Grant(Value):
    """A reservation: how many units of the ask were granted, and which scope lowered them."""

    key: str
    scopes: list[Scope] = []
    units: int = 0
    tight: Scope | None = None


class Purse:
    """Reserves and settles for one process. Redis counts; SQL is the truth, and decides while Redis is away."""

    def __init__(
        self,
        database: Database,
        redis: aioredis.Redis,
        budgets: Budgets,
        *,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self.budgets = budgets
        self._spending = Spending(database)
        self._counters = Counters(redis)
        self._clock = clock
        self._rests_until = float("-inf")
        self._mine, self._numbers = uuid.uuid4().hex[:8], itertools.count(1)

    def key(self, spender: Spender) -> str:
        """Return a new key for one physical request: no other attempt, worker or process has the same."""
        return f"{spender.name}/{self._mine}.{next(self._numbers)}"

    def limits(self, spender: Spender, ask: Ask, *kinds: ScopeKind) -> bool:
        """Tell whether a scope of these kinds limits anything of an ask."""
        scopes = self.budgets.scopes(spender, self._today())
        return any(scope.kind in kinds and ask.limited_by(scope) for scope in scopes)

    async def reserve(self, key: str, spender: Spender, ask: Ask) -> Grant:
        """Reserve a request in all its scopes or in none; raise OverBudget in the words of the limit that refuses.

        The same key counts once, whoever reserves it. Raises Uncounted where not even SQL can be written.
        """
        try:
            return await self._reserve(key, spender, ask)
        except Retryable as error:
            raise Uncounted("a request could not be reserved in its budgets", why=str(error)) from error

    async def settle(self, grant: Grant, actual: Amount) -> None:
        """Put what a request really cost in the place of its reservation; where that fails the estimate stays."""
        try:
            await asyncio.to_thread(self._spending.put, grant.key, actual, settled=True)
            if grant.scopes and not await self._counted(
                lambda: self._counters.settle(grant.key, grant.scopes, actual.counts)
            ):
                await self._pass_by()
        except Retryable as error:
            log.warning("not_settled", key=grant.key, reason=str(error))

    def _today(self) -> str:
        return self._clock().astimezone(UTC).date().isoformat()

    async def _reserve(self, key: str, spender: Spender, ask: Ask) -> Grant:
        day = self._today()
        scopes = [scope for scope in self.budgets.scopes(spender, day) if ask.limited_by(scope)]
        asked = ask.amount(ask.units)
        # a power cut forgets what is not durable: a worker's own limit bears that, a day's would be overspent
        durable = any(scope.kind is not ScopeKind.assignment for scope in scopes)
        is_open = await asyncio.to_thread(self._spending.enter, key, spender, day, asked, durable=durable)
        if not scopes or not is_open:
            return Grant(key=key, units=ask.units)
        verdict = await self._judged(key, scopes, ask)
        if verdict.refused is not None:
            scope, kind = verdict.refused
            await asyncio.to_thread(self._spending.drop, key)
            raise OverBudget(
                refusal(scopes[scope], kind, verdict.spent, ask),
                next_step="Raise the budget in the settings, or ask for less.",
            )
        if verdict.units < ask.units:
            await asyncio.to_thread(self._spending.put, key, ask.amount(verdict.units), settled=False)
        tight = scopes[verdict.tight] if verdict.tight is not None else None
        return Grant(key=key, scopes=scopes, units=verdict.units, tight=tight)

    async def _judged(self, key: str, scopes: list[Scope], ask: Ask) -> Verdict:
        found: list[Verdict] = []

        async def ask_redis() -> None:
            for _ in range(_ROUNDS):
                # read after the row was committed: whoever passed Redis by either sees that row or is seen here
                epoch = await asyncio.to_thread(self._spending.epoch)
                answer = await self._counters.reserve(key, scopes, ask, epoch=epoch)
                if isinstance(answer, Verdict):
                    found.append(answer)
                    return
                await self._seed(answer, epoch)

        if await self._counted(ask_redis) and found:
            return found[0]
        await self._pass_by()
        return await asyncio.to_thread(self._spending.decide, key, scopes, ask)

    async def _seed(self, scope: Scope, epoch: int) -> None:
        token = await self._counters.begin(scope, epoch=epoch)
        if token is not None:
            settled, reserved = await asyncio.to_thread(self._spending.sums, scope)
            await self._counters.install(scope, token, settled, reserved)

    async def _counted(self, work: Callable[[], Awaitable[None]]) -> bool:
        """Have Redis do something; False where it does not answer, now or a moment ago."""
        if monotonic() < self._rests_until:
            return False
        try:
            await work()
        except Retryable as error:
            log.warning("redis_passed_by", reason=str(error))
            self._rests_until = monotonic() + _REST_SECONDS
            return False
        return True

    async def _pass_by(self) -> None:
        for left in range(_TRIES - 1, -1, -1):
            try:
                await asyncio.to_thread(self._spending.pass_by)
                return
            except Retryable:
                if not left:
                    raise
