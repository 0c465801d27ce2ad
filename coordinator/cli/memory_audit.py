"""The commands of the memory's audit: what was done to memories, and whether the record of it is whole."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any

import typer

from coordinator.cli import screen
from coordinator.cli.memory_asking import ID_LEAST, Namespace, ask, unknown, whole
from coordinator.cli.options import AsJson, DataDir

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
app = typer.Typer(
    help="What was done to memories, by whom and why; each row is hashed with the one before.",
    invoke_without_command=True,
)
#: With fewer columns an entry of the audit is two lines, not a row.
_WIDE = 140
#: A worker that is busy with a run's end answers after it.
_SECONDS = 60.0


@app.callback()
@screen.answering
def audit(
    context: typer.Context,
    *,
    memory: Annotated[
        str, typer.Option("--id", help="Only of this memory: its id, or the first 8 characters or more.")
    ] = "",
    namespace: Namespace = "default",
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    before: Annotated[int, typer.Option(min=0, help="Only rows below this number: the next page.")] = 0,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show what was done, the newest first, or check with `verify` that nothing of it was changed."""
    if context.invoked_subcommand is not None:
        return
    question = {"namespace": namespace, "id": memory and whole(memory), "limit": limit, "before": before}
    page = ask(data_dir, "memory.audit", question)
    if memory and not page["entries"] and not before:
        raise unknown(memory, namespace)
    if as_json:
        screen.print_json(page)
    else:
        _show(page)


@app.command()
@screen.answering
def verify(*, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Follow the chain from its first row to its newest; exit code 1 where it is broken."""
    checked, after = 0, {"seq": 0, "hash": ""}
    while True:
        found = ask(data_dir, "memory.verify", after, seconds=_SECONDS)
        checked += found["checked"]
        if found["after"] is None:
            break
        after = found["after"]
    broken = found["broken"] is not None
    if as_json:
        screen.print_json({"checked": checked, "broken": found["broken"], "why": found["why"]})
    elif broken:
        screen.out().print(f"broken at row {found['broken']}: {found['why']}", markup=False)
    else:
        screen.out().print(f"{checked} rows, the chain is whole", markup=False)
    if broken:
        raise typer.Exit(screen.FAILED)


def _show(page: dict[str, Any]) -> None:
    from rich.table import Table
    from rich.text import Text

    out = screen.out()
    if not page["entries"]:
        out.print("nothing was done")
    elif out.width < _WIDE:
        for entry in page["entries"]:
            out.print(lines(entry), markup=False)
    else:
        table = Table()
        for title in ("row", "when", "who", "what", "memory"):
            table.add_column(title, no_wrap=True)
        for title in ("before", "after", "why"):
            table.add_column(title, overflow="fold")
        for entry in page["entries"]:
            table.add_row(*(Text(cell) for cell in cells(entry)))
        out.print(table)
    if page["next"]:
        screen.remark(f"--before {page['next']} shows older ones")


def lines(entry: dict[str, Any]) -> str:
    """Return an entry in a few lines: for a terminal that has no room for its columns."""
    row, when, who, what, memory, before, after, why = cells(entry)
    head = " ".join(part for part in (f"{row:>5}", when, what, memory, "by", who) if part)
    rest = (("before", before), ("after", after), ("why", why))
    return "\n".join([head, *(f"      {name}: {told}" for name, told in rest if told)])


def cells(entry: dict[str, Any]) -> list[str]:
    """Return a row of the audit as a person reads it."""
    return [
        str(entry["seq"]),
        entry["at"][:19].replace("T", " "),
        _who(entry["actor"]),
        entry["action"],
        entry["memory_id"][:8],
        _values(entry["before"]),
        _values({name: value for name, value in entry["after"].items() if value != entry["memory_id"]}),
        entry["reason"],
    ]


def _who(actor: str) -> str:
    """Return who did it; of a run's or a memory's long id the beginning is enough."""
    return ":".join(part[:ID_LEAST] if _UUID.fullmatch(part) else part for part in actor.split(":"))


def _values(told: dict[str, Any]) -> str:
    """Return values in a line; of a hash the beginning is enough to tell it from another."""
    shown = {name: value[:8] if name in ("content", "id", "with") else value for name, value in told.items()}
    return ", ".join(
        f"{name} {value if isinstance(value, str) else json.dumps(value)}"
        for name, value in shown.items()
        if value not in ("", None)
    )
