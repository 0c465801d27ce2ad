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
    limit: Annotated[int, typer.Option(min=1, max=50)] = 5,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show what the desk would recall for a request, and why."""
    _show(
        ask(
            data_dir,
            "memory.recall",
            {"text": text, "namespace": namespace, "user": _USER, "limit": limit},
        ),
        as_json=as_json,
    )


@app.command("list")
@screen.answering
def list_(
    *,
    namespace: Namespace = "default",
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List memories, the newest first."""
    _show(ask(data_dir, "memory.list", {"namespace": namespace, "limit": limit}), as_json=as_json)


@app.command()
@screen.answering
def forget(
    memory: Annotated[str, typer.Argument(metavar="ID")],
    *,
    namespace: Namespace = "default",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Forget a memory: its row, its vector and what was learnt from it."""
    from coordinator.cli.connection import user_name
    from kernel.errors import Correctable

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

    table = Table()
    for title in ("id", "kind", "score", "age"):
        table.add_column(title, no_wrap=title != "id", overflow="fold")
    explained = any(hit.get("explain") for hit in hits)
    if explained:
        table.add_column("why", no_wrap=True)
    table.add_column("text")
    for hit in hits:
        table.add_row(*(Text(cell) for cell in _cells(hit, explained=explained)))
    screen.out().print(table if hits else "no memories")
    if page.get("next"):
        screen.remark(f"{page['total']} in all; --limit shows more")


def _cells(hit: dict[str, Any], *, explained: bool) -> list[str]:
    from coordinator.cli.wording import age

    score, days = hit.get("score"), hit.get("age_days")
    why = [why_recalled(hit.get("explain") or {})] if explained else []
    return [
        str(hit.get("id", "")),
        str(hit.get("kind", "")),
        "" if score is None else f"{score:.2f}",
        "" if days is None else age(days),
        *why,
        str(hit.get("text", "")),
    ]


def why_recalled(explain: dict[str, float]) -> str:
    """Return the parts of a score, a line each, so that the text keeps its room."""
    return "\n".join(f"{name} {part:.2f}" for name, part in explain.items())
