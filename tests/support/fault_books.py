"""Books of the fault tests: dead letters and budgets, each written by a script that is said again after a fault."""

from __future__ import annotations

import asyncio
import os
import socket
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import redis as vendor
from sqlmodel import col, func, select

from agents.runtime.children import stop_strays
from agents.runtime.processes import boot
from coordinator.app import make_parts
from kernel.budget import Purse
from kernel.budgets import Amount, Ask, Budget, Budgets, Spender
from kernel.control import connect
from kernel.database import Database
from kernel.dead_letters import STREAM, bury, describe
from kernel.errors import OverBudget, Retryable, Uncounted
from kernel.faults import InjectedFault
from kernel.ledgers import ChildRow, SpendRow
from kernel.records import AssignmentRow, CallRow, DeadLetterRow, RunRow
from kernel.redaction import Redactor
from kernel.schema import migrate
from kernel.states import DeadLetterState
from tests.support.little_desk import make_settings

CAP = 3
GARBAGE = (b"not json", b"\xff\xfe", b'{"headers": {}}')


def again(script: Callable[[], Awaitable[None]]) -> None:
    """Run a script; what a fault cut is said again, as a doorbell is rung again."""
    for _ in range(3):
        try:
            asyncio.run(script())  # type: ignore[arg-type] # every script is a coroutine function
        except (InjectedFault, Retryable):
            continue
        return
    raise AssertionError("it was cut more often than it was struck")


def run_letters(folder: Path, redis_url: str, _worker: str) -> None:
    """Bury garbage, take it over, drop one letter and send another again; leave no program of an ended call."""
    settings = make_settings(folder, redis_url, assignments="[{key: a, agent: worker, goal: x}]")
    database = Database(settings.database)
    migrate(database)
    with vendor.Redis.from_url(redis_url) as client:
        while client.xlen(STREAM) + _letters(database) < len(GARBAGE):
            try:
                bury(client, describe("coordinator", GARBAGE[0], "no JSON", Redactor()))
            except InjectedFault:
                continue

    async def script() -> None:
        parts = make_parts(settings)
        try:
            await parts.dead_letters.take()
            first, second = _ids(database)[:2]
            if _state(database, first) == DeadLetterState.kept.value:
                await parts.dead_letters.drop([first], by="ann")
            await parts.dead_letters.replay(second, by="ann")
            _leave_a_stray(database)
            await stop_strays(database)
        finally:
            await parts.close()

    again(script)


def letter_problems(folder: Path, redis: Any) -> list[str]:
    """Return what is wrong with the letters: each entry once in the table, none left behind, none lost."""
    database = Database(f"sqlite:///{folder / 'nightdesk.db'}")
    with database.reading() as session:
        rows = session.exec(select(DeadLetterRow)).all()
        strays = session.exec(select(ChildRow).where(col(ChildRow.ended_at).is_(None))).all()
    database.close()
    twice = [id_ for id_, n in Counter(row.stream_id for row in rows).items() if n > 1]
    return [
        *(f"taken twice: {id_}" for id_ in twice),
        *([] if len(rows) >= len(GARBAGE) else [f"{len(rows)} letters of {len(GARBAGE)}"]),
        *(f"left in the stream: {entry}" for entry in redis.xrange(STREAM)),
        *([] if {"dropped", "replayed"} <= {row.state for row in rows} else ["nothing was decided"]),
        *([] if redis.llen("coordinator\x06\x163") else ["the replayed message is not in its queue"]),
        *(f"a stray: {row.pid}" for row in strays),
    ]


def run_budget(folder: Path, redis_url: str, _worker: str) -> None:
    """Spend a budget to its end: over a Redis that forgets, and past one that is away."""
    database = Database(f"sqlite:///{folder / 'nightdesk.db'}")
    migrate(database)
    budgets = Budgets(run=Budget(model_calls=CAP))
    ask = Ask(fixed=Amount(model_calls=1), each=Amount(tokens=1), units=10, least=1)

    async def script() -> None:
        for url in (redis_url, redis_url, "redis://127.0.0.1:1/0", redis_url):
            redis = connect(url)
            try:
                purse = Purse(database, redis, budgets)
                for name in ("a", "b"):
                    await _spend(purse, folder, Spender(run_id="run-1", name=f"{name}{os.getpid()}"), ask)
                if url == redis_url:
                    await redis.flushdb()
            finally:
                await redis.aclose()

    again(script)


async def _spend(purse: Purse, folder: Path, spender: Spender, ask: Ask) -> None:
    """Make a request that the world counts, if the purse lets it."""
    try:
        grant = await purse.reserve(purse.key(spender), spender, ask)
    except (OverBudget, Uncounted):
        return
    with (folder / "requests.txt").open("a") as out:
        out.write("x")
    await purse.settle(grant, Amount(model_calls=1, tokens=3))


def budget_problems(folder: Path, _redis: Any) -> list[str]:
    """Return what is wrong with the budget: more requests were made than it allows, or fewer are on the books."""
    made = (folder / "requests.txt").stat().st_size if (folder / "requests.txt").exists() else 0
    database = Database(f"sqlite:///{folder / 'nightdesk.db'}")
    with database.reading() as session:
        counted = session.exec(
            select(func.sum(SpendRow.model_calls)).where(col(SpendRow.run_id) == "run-1")
        ).one()
    database.close()
    problems = [f"{made} requests against a cap of {CAP}"] if made > CAP else []
    return problems + ([f"{made} requests, {counted} on the books"] if (counted or 0) < made else [])


def _letters(database: Database) -> int:
    return len(_ids(database))


def _ids(database: Database) -> list[int]:
    with database.reading() as session:
        return [id_ for id_ in session.exec(select(DeadLetterRow.id).order_by(col(DeadLetterRow.id))) if id_]


def _state(database: Database, letter_id: int) -> str:
    with database.reading() as session:
        return session.get_one(DeadLetterRow, letter_id).state


def _leave_a_stray(database: Database) -> None:
    """Leave the rows of a call whose program nobody saw end, of a run that has ended."""
    with database.writing("test") as session:
        if session.get(RunRow, "run-1") is not None:
            return
        ids = {"run_id": "run-1", "assignment_id": "run-1:a"}
        session.add(RunRow(id="run-1", state="cancelled", published=True))
        session.add(
            AssignmentRow(id="run-1:a", run_id="run-1", key="a", agent="w", queue="q", state="cancelled")
        )
        call = CallRow(id="run-1:a.1.1", turn=1, position=1, tool="t", effect="probe", key="k", **ids)
        session.add(call.model_copy(update={"state": "unknown"}))
        session.add(
            ChildRow(
                call_id=call.id,
                fence=1,
                host=socket.gethostname(),
                boot_id=boot(),
                pid=2**22 + 1,
                start_ticks=1,
            )
        )
