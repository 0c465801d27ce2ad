"""The commands about dead letters: messages that no worker could read, and work that was given up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from coordinator.cli import screen
from coordinator.cli.options import AsJson, DataDir

if TYPE_CHECKING:
    from coordinator.dead_letters import DeadLetters
    from kernel.records import DeadLetterRow
    from kernel.settings import Settings

app = typer.Typer(
    help="Messages that no worker could read, and work that was given up.", no_args_is_help=True
)

_DAY_SECONDS = 86_400
#: Of a table's cell, and of a message that is shown whole, in characters.
_CELL, _SHOWN = 100, 4_000

Answer = TypeVar("Answer")
LetterId = Annotated[
    int, typer.Argument(metavar="ID", help="The number of a dead letter, as `list` prints it.")
]


@app.command("list")
@screen.answering
def list_(
    *,
    every: Annotated[bool, typer.Option("--all", help="Also those that were replayed or dropped.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 50,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List dead letters that are kept, the newest first."""
    from coordinator import dead_letters
    from coordinator.cli import history
    from coordinator.cli.connection import join

    with history.reading(join(data_dir)) as session:
        rows = dead_letters.listed(session, every=every, limit=limit)
        kept = dead_letters.count_kept(session)
    if as_json:
        screen.print_json({"dead_letters": [_document(row) for row in rows], "kept": kept})
        return
    screen.out().print(_table(rows) if rows else "no dead letters")
    if kept > len(rows):
        screen.remark(f"{kept} are kept in all; --limit shows more")


@app.command()
@screen.answering
def show(letter: LetterId, *, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show a dead letter with its message, secrets hidden, and what can be done with it."""
    from coordinator import dead_letters
    from coordinator.cli import history
    from coordinator.cli.connection import join
    from kernel.clock import local
    from kernel.dead_letters import legible
    from kernel.redaction import make_redactor

    settings = join(data_dir)
    with history.reading(settings) as session:
        row = dead_letters.find(session, letter)
    message = legible(row.body, make_redactor(settings)) if row.body is not None else row.first_bytes
    if as_json:
        screen.print_json({**_document(row), "message": message})
        return
    lines = [
        ("letter", f"{row.id}, {row.state}" + (f" by {row.decided_by}" if row.decided_by else "")),
        ("since", local(row.created_at)),
        ("kind", row.kind),
        ("queue", row.queue),
        ("subject", row.subject),
        ("reason", row.reason),
        ("size", f"{row.size:,} bytes, {'kept' if row.body is not None else 'not kept'}" if row.size else ""),
        ("message", message if len(message) <= _SHOWN else f"{message[:_SHOWN]}…"),
        ("next", _next_steps(row)),
    ]
    text = "\n".join(f"{title:<8} {value}" for title, value in lines if value)
    screen.out().print(text, markup=False)


@app.command()
@screen.answering
def replay(letter: LetterId, *, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Send a message to its queue again, or the request of given-up work as a new run."""
    from coordinator.cli.connection import join, require_redis, user_name

    settings = join(data_dir)
    require_redis(settings)  # before the letter is marked
    told = _act(settings, lambda desk: desk.replay(letter, by=user_name()))
    if as_json:
        screen.print_json({"id": letter, "state": "replayed", **told})
    elif "run_id" in told:
        screen.out().print(told["run_id"], markup=False)
        screen.remark(f"replayed as a new run; watch it with `nightdesk watch {told['run_id'][:8]}`")
    else:
        screen.remark(
            f"put back into the queue {told['queue']}; if it is still bad, it comes back as a new letter"
        )


@app.command()
@screen.answering
def drop(
    letters: Annotated[
        list[int] | None, typer.Argument(metavar="[ID]...", help="Numbers of letters.")
    ] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="All that are kept.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Drop dead letters: they stay listed under --all, without their messages."""
    from coordinator.cli.connection import join, user_name
    from kernel.errors import Correctable

    if bool(letters) == every:
        raise Correctable(
            "drop takes either numbers or --all",
            why="both were given" if every else "neither was given",
            next_step="Run `nightdesk dead-letters list`, then `nightdesk dead-letters drop ID`.",
        )
    dropped = _act(join(data_dir), lambda desk: desk.drop(letters or None, by=user_name()))
    if as_json:
        screen.print_json({"dropped": dropped})
    else:
        screen.remark(f"dropped {len(dropped)}")


def _act(settings: Settings, act: Callable[[DeadLetters], Awaitable[Answer]]) -> Answer:
    from coordinator.app import make_parts

    async def acting() -> Answer:
        parts = make_parts(settings)
        try:
            return await act(parts.dead_letters)
        finally:
            await parts.close()

    return asyncio.run(acting())


def _document(row: DeadLetterRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "kind": row.kind,
        "state": row.state,
        "queue": row.queue,
        "subject": row.subject,
        "reason": row.reason,
        "first_bytes": row.first_bytes,
        "size": row.size,
        "kept_whole": row.body is not None,
        "created_at": row.created_at.isoformat(),
        "decided_by": row.decided_by,
        "decided_at": row.decided_at.isoformat() if row.decided_at else None,
    }


def _table(rows: list[DeadLetterRow]) -> Any:
    from rich.table import Table
    from rich.text import Text

    from coordinator.cli.wording import age, one_line
    from kernel.clock import now

    table, present = Table(), now()
    titles = ("id", "age", "state", "queue", "kind")
    for title in titles:
        table.add_column(title, no_wrap=True)
    table.add_column("reason")
    for row in rows:
        waited = age((present - row.created_at).total_seconds() / _DAY_SECONDS)
        reason = one_line(row.reason, _CELL) + (
            f"\n{one_line(row.first_bytes, _CELL)}" if row.first_bytes else ""
        )
        cells = (str(row.id), waited, row.state, row.queue, row.kind, reason)
        table.add_row(*(Text(cell) for cell in cells))
    return table


def _next_steps(row: DeadLetterRow) -> str:
    from coordinator.dead_letters import WORK
    from kernel.states import DeadLetterState

    if row.state == DeadLetterState.dropped.value:
        return ""
    drop_it = f"nightdesk dead-letters drop {row.id}"
    can_replay = row.kind == WORK or row.body is not None
    return f"nightdesk dead-letters replay {row.id}, or {drop_it}" if can_replay else drop_it
