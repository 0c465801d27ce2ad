"""Reservations on a real Redis and a real database: in all scopes or none, once for each key, never over the limit."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kernel.budget import Grant, Purse
from kernel.budgets import Amount, Ask, Budget, Budgets, Scope, ScopeKind, Spender, Verdict, judge
from kernel.control import connect
from kernel.counters import Counters
from kernel.database import Database
from kernel.errors import OverBudget, Retryable, Uncounted
from kernel.ledgers import SpendRow
from kernel.schema import migrate
from kernel.spending import EPOCH, Spending
from tests.support.redis_server import RedisServer, redis_server

pytestmark = pytest.mark.integration

CALL = Ask(fixed=Amount(model_calls=1))
DAY = "2026-11-30"
Make = Callable[..., Purse]


def spender(run: str = "r", *, assignment: str = "", namespace: str = "default") -> Spender:
    return Spender(run_id=run, assignment_id=assignment or f"{run}:a", namespace=namespace, name=f"{run}:a.1")


@pytest.fixture
def server(tmp_path: Path) -> Any:
    with redis_server(tmp_path / "redis", persistent=False) as running:
        yield running


@pytest.fixture
def database(tmp_path: Path) -> Any:
    made = Database(f"sqlite:///{tmp_path / 'desk.db'}")
    migrate(made)
    yield made
    made.close()


@pytest.fixture
async def make(server: RedisServer, database: Database) -> AsyncIterator[Make]:
    async with AsyncExitStack() as stack:

        def made(*, url: str = "", **budgets: Any) -> Purse:
            redis = connect(url or server.url)
            stack.push_async_callback(redis.aclose)
            clock = lambda: datetime(2026, 11, 30, 23, 59, tzinfo=UTC)  # noqa: E731 a clock that stands still
            return Purse(database, redis, Budgets.model_validate(budgets), clock=clock)

        yield made


async def granted(purse: Purse, times: int, who: Spender | None = None, ask: Ask = CALL) -> list[Grant]:
    """Reserve so often side by side and return the grants."""

    async def one() -> Grant | None:
        try:
            whose = who or spender()
            return await purse.reserve(purse.key(whose), whose, ask)
        except OverBudget:
            return None

    return [grant for grant in await asyncio.gather(*(one() for _ in range(times))) if grant]


def rows(database: Database) -> list[SpendRow]:
    from sqlmodel import select

    with database.reading() as session:
        return [row for row in session.exec(select(SpendRow)) if row.key != EPOCH]


async def test_of_many_at_once_only_the_limit_is_granted(make: Make, database: Database) -> None:
    first, second = make(day={"model_calls": 20}), make(day={"model_calls": 20})
    both = await asyncio.gather(granted(first, 30), granted(second, 30, spender("other")))
    assert sum(map(len, both)) == 20
    assert len(rows(database)) == 20  # what was refused left no row


async def test_in_all_scopes_or_in_none(make: Make) -> None:
    purse = make(run={"model_calls": 10}, day={"model_calls": 3})
    assert len(await granted(purse, 3)) == 3
    with pytest.raises(OverBudget, match="3 of 3 model calls of the desk on 2026-11-30"):
        await purse.reserve("k", spender(), CALL)
    # the refusal took nothing from the run: with a higher limit of the day seven are left
    assert len(await granted(make(run={"model_calls": 10}, day={"model_calls": 99}), 20)) == 7


async def test_the_same_key_counts_once_whoever_reserves_it(make: Make, database: Database) -> None:
    first, second = make(run={"model_calls": 2}), make(run={"model_calls": 2})
    for purse in (first, second, first):
        grant = await purse.reserve("call-1", spender(), CALL)
    await second.settle(grant, Amount(model_calls=1))
    await first.reserve("call-1", spender(), CALL)
    await first.reserve("call-2", spender(), CALL)
    with pytest.raises(OverBudget):
        await second.reserve("call-3", spender(), CALL)
    assert [row.settled for row in rows(database)] == [True, False]


async def test_what_was_not_used_is_given_back(make: Make) -> None:
    purse = make(run={"tokens": 1000})
    ask = Ask(fixed=Amount(tokens=100), each=Amount(tokens=1), units=700, least=256)
    grant = await purse.reserve("a", spender(), ask)
    with pytest.raises(OverBudget):
        await purse.reserve("b", spender(), ask)
    await purse.settle(grant, Amount(tokens=150))
    await purse.settle(grant, Amount(tokens=1))  # said twice: the first counts
    again = await purse.reserve("c", spender(), ask)
    assert (again.units, again.tight) == (700, None)
    await purse.settle(again, Amount(tokens=200))
    lowered = await purse.reserve("d", spender(), ask)
    assert (lowered.units, lowered.tight and lowered.tight.kind) == (550, ScopeKind.run)


async def test_a_namespace_has_its_own_budget_and_a_day_its_own(make: Make) -> None:
    purse = make(namespace={"model_calls": 1}, namespaces={"payments": {"model_calls": 2}})
    assert len(await granted(purse, 4)) == 1
    assert len(await granted(purse, 4, spender(namespace="payments"))) == 2
    tomorrow = make(namespace={"model_calls": 1})
    tomorrow._clock = lambda: datetime(2026, 12, 1, 0, 0, tzinfo=UTC)
    assert len(await granted(tomorrow, 4)) == 1


async def test_flushall_at_any_moment_never_grants_more(make: Make, server: RedisServer) -> None:
    purses = [make(day={"model_calls": 40}, run={"model_calls": 25}) for _ in range(4)]
    wiper = connect(server.url)

    async def wipe() -> None:
        while True:
            await wiper.flushall()
            await asyncio.sleep(0.003)

    wiping = asyncio.create_task(wipe())
    try:
        found = await asyncio.gather(*(granted(p, 20, spender(f"run-{i % 2}")) for i, p in enumerate(purses)))
    finally:
        wiping.cancel()
        await asyncio.gather(wiping, return_exceptions=True)
        await wiper.aclose()
    # two runs of 40 requests each, of which 25 fit: 40 of the day
    assert sum(map(len, found)) <= 40
    # nothing that was wiped is forgotten either, and what is left is still granted
    left = 40 - sum(map(len, found))
    assert len(await granted(purses[0], 60, spender("run-9"))) == min(left, 25)


async def test_settled_spending_survives_a_redis_that_forgot(make: Make, server: RedisServer) -> None:
    purse = make(day={"tokens": 1000})
    ask = Ask(fixed=Amount(tokens=400))
    await purse.settle(await purse.reserve("a", spender(), ask), Amount(tokens=900))
    server.kill()
    server.start()
    fresh = make(day={"tokens": 1000})
    with pytest.raises(OverBudget, match="900 of 1000 tokens"):
        await fresh.reserve("b", spender(), ask)


async def test_a_crash_that_lost_the_last_second_of_redis_is_not_believed(
    make: Make, tmp_path: Path, database: Database
) -> None:
    with redis_server(tmp_path / "aof", persistent=True) as kept:
        purse = make(url=kept.url, day={"model_calls": 10})
        assert len(await granted(purse, 4)) == 4
        # what came back from disk is older than what was said: as if everysec had lost the rest
        stale = connect(kept.url)
        await stale.hset(f"nightdesk:budget:day:{DAY}:", "1", "1")
        await stale.execute_command("BGREWRITEAOF")
        await stale.aclose()
        kept.stop()
        kept.start()
        assert len(await granted(make(url=kept.url, day={"model_calls": 10}), 20)) == 6


async def test_without_redis_sql_decides_and_redis_hears_of_it_later(
    make: Make, server: RedisServer, database: Database
) -> None:
    purses = [make(day={"model_calls": 12}) for _ in range(3)]
    assert len(await granted(purses[0], 4)) == 4
    server.kill()
    found = await asyncio.gather(*(granted(purse, 8) for purse in purses[1:]))
    assert sum(map(len, found)) == 8
    server.start()
    assert await granted(make(day={"model_calls": 12}), 8) == []


async def test_a_worker_cut_off_from_redis_and_one_that_is_not_share_one_budget(
    make: Make, database: Database
) -> None:
    from tests.support.redis_server import free_port

    near = [make(day={"model_calls": 30}) for _ in range(2)]
    far = [make(url=f"redis://127.0.0.1:{free_port()}/0", day={"model_calls": 30}) for _ in range(2)]
    assert len(await granted(near[0], 5)) == 5
    found = await asyncio.gather(*(granted(purse, 20) for purse in (*near, *far)))
    assert sum(map(len, found)) <= 25
    total = len(rows(database))
    assert total == 5 + sum(map(len, found))
    for purse in (near[1], far[1]):
        total += len(await granted(purse, 30))
    assert total == 30


async def test_a_stopped_redis_does_not_hold_up_requests(make: Make, server: RedisServer) -> None:
    purse = make(day={"model_calls": 5})
    grants = await granted(purse, 2)
    os.kill(server.pid, signal.SIGSTOP)
    try:
        async with asyncio.timeout(30):
            assert len(await granted(purse, 8)) == 3
            await purse.settle(grants[0], Amount())
    finally:
        os.kill(server.pid, signal.SIGCONT)
    # settled while Redis was away: a process that comes new to it sees so
    assert len(await granted(make(day={"model_calls": 5}), 8)) == 1


async def test_a_full_redis_is_passed_by(make: Make, server: RedisServer) -> None:
    full = connect(server.url)
    await full.config_set("maxmemory", "1")
    await full.aclose()
    assert len(await granted(make(day={"model_calls": 5}), 8)) == 5


async def test_without_sql_nothing_is_sent(make: Make, database: Database) -> None:
    purse = make(day={"model_calls": 5})
    with database.writing("test.drop") as session:
        from sqlalchemy import text

        session.execute(text("ALTER TABLE spend RENAME TO gone"))
    with pytest.raises(Uncounted):
        await purse.reserve("k", spender(), CALL)


async def test_a_seed_read_before_redis_forgot_again_is_thrown_away(make: Make, server: RedisServer) -> None:
    redis = connect(server.url)
    counters = Counters(redis)
    scope = Scope(kind=ScopeKind.day, day=DAY, budget=Budget(model_calls=5))
    token = await counters.begin(scope, epoch=0)
    assert token
    await redis.flushall()
    await counters.install(scope, token, (0, 0, 0, 0, 0), {})
    assert isinstance(await counters.reserve("k", [scope], CALL, epoch=0), Scope)
    # settled while the scope is seeded with the estimate: what it cost counts, not what it might have
    token = await counters.begin(scope, epoch=0)
    assert token
    await counters.settle("old", [scope], (1, 0, 0, 0, 0))
    await counters.install(scope, token, (2, 0, 0, 0, 0), {"old": (9, 0, 0, 0, 0)})
    assert await counters.begin(scope, epoch=0) is None
    answers = [await counters.reserve(f"k{i}", [scope], CALL, epoch=0) for i in range(3)]
    assert [isinstance(a, Verdict) and a.refused is None for a in answers] == [True, True, False]
    # a request that was decided without Redis begins a new epoch: these counters lack it
    assert isinstance(await counters.reserve("k9", [scope], CALL, epoch=1), Scope)
    await redis.aclose()


def test_the_epoch_is_in_no_sum(database: Database) -> None:
    spending = Spending(database)
    spending.pass_by()
    spending.pass_by()
    assert spending.epoch() == 2
    scopes = Budgets().scopes(Spender(run_id="r", assignment_id="a", name="n"), DAY)
    assert [spending.sums(scope) for scope in scopes] == [((0,) * 5, {})] * 4


LIMIT = st.one_of(st.none(), st.integers(0, 40))
COUNTS = st.tuples(*[st.integers(0, 30)] * 3, st.just(0), st.just(0))


@given(
    limits=st.lists(
        st.builds(Budget, model_calls=LIMIT, tool_calls=LIMIT, tokens=LIMIT), min_size=1, max_size=3
    ),
    spent=st.lists(COUNTS, min_size=3, max_size=3),
    fixed=st.builds(Amount, model_calls=st.integers(0, 2), tokens=st.integers(0, 9)),
    each=st.builds(Amount, tokens=st.integers(0, 3)),
    units=st.integers(0, 20),
    least=st.integers(0, 10),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_script_and_the_rule_say_the_same(
    server: RedisServer,
    limits: list[Budget],
    spent: list[tuple[int, int, int, int, int]],
    fixed: Amount,
    each: Amount,
    units: int,
    least: int,
) -> None:
    ask = Ask(fixed=fixed, each=each, units=units, least=min(least, units))
    scopes = [Scope(kind=ScopeKind.run, name=str(i), budget=budget) for i, budget in enumerate(limits)]
    spent = spent[: len(scopes)]

    async def by_script() -> Verdict | Scope:
        redis = connect(server.url)
        await redis.flushall()
        counters = Counters(redis)
        for scope, counts in zip(scopes, spent, strict=True):
            token = await counters.begin(scope, epoch=0)
            assert token
            await counters.install(scope, token, counts, {})
        verdict = await counters.reserve("k", scopes, ask, epoch=0)
        await redis.aclose()
        return verdict

    assert asyncio.run(by_script()) == judge(ask, [scope.budget.caps for scope in scopes], spent)


async def test_trouble_of_redis_is_sorted(tmp_path: Path) -> None:
    redis = connect("redis://127.0.0.1:1/0")
    with pytest.raises(Retryable):
        await Counters(redis).settle("k", [Scope(kind=ScopeKind.day, day=DAY)], (0, 0, 0, 0, 0))
    await redis.aclose()
