"""The commands of the memory: recall, list, forget; all asked over the queue."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from coordinator.cli import screen
from coordinator.cli.memory_asking import Namespace, ask
from coordinator.cli.options import AsJson, DataDir

app = typer.Typer(help="What the desk remembers.", no_args_is_help=True)

#: Whom a request is from unless it says otherwise (kernel.contracts.Request).
_USER = "local"


@app.command()
@screen.answering
def recall(
    text: Annotated[str, typer.Argument(help="What to look for.")],
    *,
    namespace: Namespace = "default",
    user: Annotated[str, typer.Option(help="Whose own memories are seen beside the shared ones.")] = _USER,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="Only fact, preference, episode, procedure or summary; may be repeated."),
    ] = None,
    as_of: Annotated[
        str, typer.Option(help="What was true at a moment, such as 2026-11-02T10:00+08:00.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, max=50)] = 5,
    archive: Annotated[bool, typer.Option("--archive", help="Also search what has faded away.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show what the desk would recall for a request, and why."""
    question = {
        "text": text,
        "namespace": namespace,
        "user": user,
        "kinds": kind or [],
        "as_of": moment(as_of) if as_of else None,
        "limit": limit,
        "include": "archive" if archive else None,
    }
    _show(ask(data_dir, "memory.recall", question), as_json=as_json)


def moment(told: str) -> str:
    """Return a moment with its time zone, or raise Correctable: of two clocks nobody knows which was meant."""
    from datetime import datetime

    from kernel.errors import Correctable

    form = "Write it as 2026-11-02T10:00+08:00, or with a Z at its end for UTC."
    try:
        read = datetime.fromisoformat(told.strip())
    except ValueError as error:
        raise Correctable(f"{told!r} is no moment", why=str(error), next_step=form) from error
    if read.tzinfo is None:
        raise Correctable(f"the moment {told!r} has no time zone", next_step=form)
    return read.isoformat()


@app.command("list")
@screen.answering
def list_(
    *,
    namespace: Namespace = "default",
    kind: Annotated[list[str] | None, typer.Option(help="Only this kind; may be repeated.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    after: Annotated[int, typer.Option(min=0, help="Go on where the page before ended.")] = 0,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List memories, the newest first."""
    question = {"namespace": namespace, "kinds": kind or [], "limit": limit, "after": after}
    _show(ask(data_dir, "memory.list", question), as_json=as_json)


@app.command()
@screen.answering
def forget(
    memory: Annotated[str, typer.Argument(metavar="ID")],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would go; erase nothing.")] = False,
    namespace: Namespace = "default",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Forget a memory: its row, its vector, what was made of it, and the copies that runs keep."""
    from coordinator.cli.connection import user_name
    from kernel.errors import Correctable

    if dry_run:
        from coordinator.cli.memory_forgetting import would_forget

        would_forget(data_dir, memory, namespace, as_json=as_json)
        return
    answer = ask(data_dir, "memory.forget", {"id": memory, "namespace": namespace, "by": user_name()})
    if answer.get("forgotten") is None:
        raise Correctable(
            f"there is no memory {memory!r} in {namespace!r}",
            next_step="Run `nightdesk memory list` to see them.",
        )
    if as_json:
        screen.print_json(answer)
    else:
        screen.remark(f"forgot {memory}")


def _show(answer: Any, *, as_json: bool) -> None:
    page = answer if isinstance(answer, dict) else {"memories": answer}
    if as_json:
        screen.print_json(page)
        return
    hits = page["memories"]
    from rich.table import Table
    from rich.text import Text

    explained = any(hit.get("explain") for hit in hits)
    table = Table()
    for title in ("id", "kind", *(("sure",) if explained else ()), "score", "age"):
        table.add_column(title, no_wrap=title != "id", overflow="fold")
    if explained:
        table.add_column("why", no_wrap=True)
    table.add_column("text")
    for hit in hits:
        table.add_row(*(Text(cell) for cell in _cells(hit, explained=explained)))
    screen.out().print(table if hits else "no memories")
    if page.get("next"):
        screen.remark(f"{page['total']} in all; go on with --after {page['next']}")


def _cells(hit: dict[str, Any], *, explained: bool) -> list[str]:
    from coordinator.cli.wording import age

    score, days = hit.get("score"), hit.get("age_days")
    source = f"\nfrom {hit['source']}" if hit.get("source") else ""
    return [
        str(hit.get("id", "")),
        str(hit.get("kind", "")),
        *([how_sure(hit)] if explained else []),
        "" if score is None else f"{score:.2f}",
        "" if days is None else age(days),
        *([why_recalled(hit.get("explain") or {})] if explained else []),
        f"{hit.get('text', '')}{source}",
    ]


def how_sure(hit: dict[str, Any]) -> str:
    """Return the tier of a hit, and whether its place is certified: nothing better can have been missed."""
    return f"{hit.get('tier', '')}{chr(10) + 'certified' if hit.get('certified') else ''}"


def why_recalled(explain: dict[str, float]) -> str:
    """Return the parts of a score, a line each, so that the text keeps its room."""
    return "\n".join(f"{name} {part:.2f}" for name, part in explain.items())
