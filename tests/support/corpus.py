"""The corpus of old states: what each revision and shape left in the truth, kept in tests/corpus and loaded for ever.

A state is one SQL file, `<revision>-s<shape>-<name>.sql`, written by the code of its own time; beside them
`shape-<n>.json` holds the fields that stored JSON had. Files of versions that people ran are never written again.

To add the next ones, after a new revision or a new SHAPE and before it is released, write the states of the present
code (again, as long as nobody runs it), and commit them:

    python tests/support/corpus.py tests/corpus

To write those of an older version, let its code come first:

    git worktree add /tmp/old <commit>
    PYTHONPATH=/tmp/old python tests/support/corpus.py tests/corpus
    git worktree remove /tmp/old

All of it is made up; times and ids differ from one writing to the next, and nothing depends on them.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agents.runtime.spec import CallRequest, DoneTurn, Turn, TurnView
from agents.runtime.tools import ToolContext, tool
from kernel import records
from kernel.contracts import (
    ActionOutcome,
    Effect,
    Evidence,
    Finding,
    MemoryHit,
    Outcome,
    Request,
    SessionTurn,
    Usage,
    Work,
)
from kernel.reports import Report
from tests.support.little_desk import Desk, make_settings, spec
from tests.support.redis_server import redis_server

CORPUS = Path(__file__).parents[1] / "corpus"
#: No state ages: its run and its approval are open for thirty years.
_FOR_EVER = 1e9
#: Stands for the day of the writing, so that a state is old by every clock.
_LONG_AGO = "2025-01-06"
_LINES = ["INFO start", "ERROR pool exhausted: size 10, waiting 41", "WARN 連線逾時 checkout"]
_ASSIGNMENTS = "[{key: job, agent: worker, goal: first}]"
_ROUNDS = (
    "[{name: again, when: {action_state: done}, assignments: [{key: more, agent: worker, goal: second}]}]"
)
_MEMORY = {
    "id": "m-1",
    "kind": "procedure",
    "text": "checkout: a larger pool mended it",
    "tier": "high",
    "score": 0.8,
    "age_days": 2.0,
    "source": "run:old",
    "slots": {"cause": "pool.exhausted", "remedy": {"action": "resize"}},
    "explain": {"relevance": 0.9},
    "certified": True,
}

Hook = Callable[[str], Awaitable[None]]


def _routine(view: TurnView) -> Turn:
    """Ask for what the request's first word says, one call a turn, then answer with a proven finding."""
    word, made = view.work.request.partition(" ")[0], len(view.calls())
    if word == "risky" and made < 1:
        return Turn(text="this needs a person", calls=[CallRequest(tool="risky", arguments={"what": "重啟"})])
    names = {"first": ["one", "two"], "second": ["three"]}[view.work.goal]
    if word != "risky" and made < len(names):
        return Turn(calls=[CallRequest(tool="count", arguments={"what": names[made]})])
    quoted = Evidence(source="app.log", line=2, quote="pool exhausted")
    finding = Finding(title="連線池耗盡", score=0.9, key="pool.exhausted", evidence=[quoted])
    told = f"{view.work.goal}: {', '.join(str(call.value) for call in view.calls())} [mem:m-1]"
    return Turn(outcome=Outcome(answer=told, findings=[finding], facts={"last": view.work.goal}))


def _collect(work: Work, turns: list[DoneTurn]) -> Outcome:
    return Outcome(
        actions=[
            ActionOutcome(name=call.tool, state=call.state.value, call_id=call.id, parameters=call.arguments)
            for turn in turns
            for call in turn.calls
            if work.request.startswith("rounds")
        ]
    )


async def _nothing(_what: str) -> None:
    """Let a call go on."""


def make_desk(folder: Path, redis_url: str, hook: Hook = _nothing) -> Desk:
    """Return the little desk of the corpus; each call is written to `world.txt`, and `hook(what)` is awaited in it."""

    def write(what: str, key: str) -> None:
        with (folder / "world.txt").open("a", encoding="utf-8") as out:
            out.write(f"{what} {key}\n")

    @tool(effect=Effect.keyed)
    async def count(ctx: ToolContext, what: str = "x") -> str:
        """Count."""
        await hook(what)
        write(what, ctx.key)
        return what

    @tool(effect=Effect.keyed)
    async def risky(ctx: ToolContext, what: str = "x") -> str:
        """Do what a person must allow."""
        write(what, ctx.key)
        return what

    async def line(_ctx: Any, _source: str, number: int) -> str | None:
        return _LINES[number - 1] if number <= len(_LINES) else None

    settings = make_settings(
        folder,
        redis_url,
        assignments=_ASSIGNMENTS,
        rounds=_ROUNDS,
        run_deadline_seconds=_FOR_EVER,
        approval_ttl_seconds=_FOR_EVER,
    )
    worker = spec("worker", _routine, count, replace(risky, risk="high"), collect=_collect, read_line=line)
    return Desk(settings, [worker])


def load(file: Path, folder: Path) -> None:
    """Put a state into a folder as the database of a desk."""
    with closing(sqlite3.connect(folder / "nightdesk.db")) as database:
        database.executescript(file.read_text(encoding="utf-8"))


def stored(folder: Path, query: str) -> list[tuple[Any, ...]]:
    """Return what the truth holds, read without any code of ours."""
    with closing(sqlite3.connect(folder / "nightdesk.db")) as database:
        return database.execute(query).fetchall()


@dataclass
class _Writer:
    """Brings a desk to one state, and writes it down at that moment."""

    out: Path
    folder: Path
    redis_url: str
    desk: Any = None
    dump: str = ""
    #: The call in which to write the state down.
    at: str = ""

    async def write(self, name: str, state: Callable[[_Writer], Awaitable[None]]) -> None:
        self.desk = make_desk(self.folder, self.redis_url, self._called)

        async def recalled(*_: Any, **__: Any) -> list[dict[str, Any]]:
            return [_MEMORY]

        self.desk.control.ask = recalled
        try:
            await state(self)
        finally:
            await self.desk.close()
        revision = stored(self.folder, "SELECT version_num FROM alembic_version")[0][0]
        said = (
            f"-- {name}: {(state.__doc__ or '').strip()}\n-- Written by tests/support/corpus.py; see there.\n"
        )
        path = self.out / f"{revision}-s{_shape()}-{name.replace('_', '-')}.sql"
        path.write_text(f"{said}{self.dump}\n", encoding="utf-8")
        print(f"{path} {path.stat().st_size:,} bytes")

    async def submit(self, text: str, **fields: Any) -> None:
        source = {"name": "app.log", "artifact": "0" * 64}
        labels = {"service": "checkout", "地域": "東京"}
        await self.desk.submit(
            f"run-{text.partition(' ')[0]}", text, sources=[source], labels=labels, **fields
        )

    def take(self) -> None:
        """Keep the state of this moment, the first time that we are asked, as if it were long ago."""
        if self.dump:
            return
        with (
            closing(sqlite3.connect(self.folder / "nightdesk.db")) as database,
            closing(sqlite3.connect(":memory:")) as copy,
        ):
            database.backup(copy)
            copy.execute("UPDATE assignment SET lease_until = 1 WHERE lease_until > 0")
            copy.commit()
            self.dump = "\n".join(copy.iterdump()).replace(datetime.now(UTC).date().isoformat(), _LONG_AGO)

    async def _called(self, what: str) -> None:
        if what == self.at:
            self.take()


async def accepted(w: _Writer) -> None:
    """a run was accepted, and nobody has planned it."""
    await w.submit("plain 查一下")
    w.take()


async def taken_over(w: _Writer) -> None:
    """the worker of a running assignment died in its second turn, in a call that it had claimed."""
    w.at = "two"
    await w.submit("plain 查一下")
    await w.desk.settle()


async def waiting(w: _Writer) -> None:
    """a run waits for a person to approve a call."""
    await w.submit("risky restart")
    await w.desk.settle()
    w.take()


async def unpublished(w: _Writer) -> None:
    """a run has ended, and its coordinator died before it published the report."""
    end = w.desk.store.end

    def ended(*args: Any, **kwargs: Any) -> Any:
        done = end(*args, **kwargs)
        w.take()
        return done

    w.desk.store.end = ended
    await w.submit("plain 查一下")
    await w.desk.settle()


async def session(w: _Writer) -> None:
    """a run of a session has ended."""
    await w.submit("plain 查一下", session_id="talk", user="ann")
    await w.desk.settle()
    w.take()


async def rounds(w: _Writer) -> None:
    """a run is in its second round: the first part is done, the second is queued."""
    await w.submit("rounds twice")
    while not stored(w.folder, "SELECT id FROM assignment WHERE key = 'more' AND state = 'queued'"):
        bells, w.desk.rung = w.desk.rung, []
        for task, subject in bells:
            await w.desk._answer(task, subject, w.desk.workers[0])
    w.take()


STATES = (accepted, taken_over, waiting, unpublished, session, rounds)


def _shape() -> int:
    return getattr(records, "SHAPE", 0)


def contracts() -> dict[str, Any]:
    """Return the JSON schema of all that rows store as JSON, without its words."""
    models = (Request, MemoryHit, SessionTurn, Report, Outcome, Usage, CallRequest)
    return {model.__name__: _wordless(model.model_json_schema()) for model in models}


def _wordless(schema: Any, *, names: bool = False) -> Any:
    """Return a schema without titles and descriptions; `names` says that the keys here are names of fields."""
    if isinstance(schema, list):
        return [_wordless(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _wordless(value, names=key in ("properties", "$defs") and not names)
        for key, value in schema.items()
        if names or key not in ("title", "description")
    }


def main() -> None:
    """Write the states of the code that is imported."""
    out = Path(sys.argv[1])
    out.mkdir(exist_ok=True)
    golden = json.dumps(contracts(), indent=1, sort_keys=True, ensure_ascii=False)
    (out / f"shape-{_shape()}.json").write_text(f"{golden}\n", encoding="utf-8")
    for state in STATES:
        with (
            tempfile.TemporaryDirectory(prefix="corpus-") as folder,
            redis_server(Path(folder) / "redis") as redis,
        ):
            asyncio.run(_Writer(out, Path(folder), redis.url).write(state.__name__, state))


if __name__ == "__main__":
    main()
