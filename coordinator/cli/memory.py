"""The commands of the memory: recall, list, forget; all asked over the queue."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from coordinator.cli import screen
from coordinator.cli.memory_asking import Memory, Namespace, ask, kinds_of
from coordinator.cli.options import AsJson, DataDir

app = typer.Typer(help="What the desk remembers.", no_args_is_help=True)

#: Whom a request is from unless it says otherwise (kernel.contracts.Request).
_USER = "local"
As_of = Annotated[
    str | None,
    typer.Option(help="What was true at a moment, such as 2026-11-02T10:00+08:00, 10:20, yesterday or -1h."),
]


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
    as_of: As_of = None,
    limit: Annotated[int, typer.Option(min=1, max=50)] = 5,
    archive: Annotated[bool, typer.Option("--archive", help="Also search what has faded away.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show what the desk would recall for a request, and why; certified: no better hit can have been missed."""
    question = {
        "text": sought(text),
        "namespace": namespace,
        "user": user,
        "kinds": kinds_of(kind or []),
        "as_of": moment(as_of) if as_of is not None else None,
        "limit": limit,
        "include": "archive" if archive else None,
    }
    _show(ask(data_dir, "memory.recall", question), as_json=as_json)


def sought(text: str) -> str:
    """Return what to look for; raise Correctable where it is nothing: an unset variable is no question."""
    from kernel.errors import Correctable

    if not text.strip():
        raise Correctable(
            "there is nothing to look for",
            why="the text is empty",
            next_step="Give a question; `nightdesk memory list` shows all memories.",
        )
    return text


def moment(told: str) -> str:
    """Return a moment as the commands of logs read it: in the reader's zone where it names none; raise Correctable."""
    from coordinator.cli.logs_text import asked_time, plain
    from kernel.errors import Correctable

    if not told.strip():
        raise Correctable(
            f"{plain(told)!r} is no time",
            why="the text is empty",
            next_step="Write it as 2026-11-02T10:00+08:00, or as 10:20, yesterday, or -1h.",
        )
    return asked_time(told, utc=False)


@app.command("list")
@screen.answering
def list_(
    *,
    namespace: Namespace = "default",
    kind: Annotated[list[str] | None, typer.Option(help="Only this kind; may be repeated.")] = None,
    tag: Annotated[
        list[str] | None,
        typer.Option(help="Only what is filed under this word, such as habit or incident; may be repeated."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    after: Annotated[int, typer.Option(min=0, help="Go on where the page before ended.")] = 0,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List memories, the newest first."""
    only = {"kinds": kinds_of(kind or []), "tags": tag or []}
    question = {"namespace": namespace, **only, "limit": limit, "after": after}
    _show(ask(data_dir, "memory.list", question), as_json=as_json)


@app.command()
@screen.answering
def forget(
    memory: Memory,
    *,
    reason: Annotated[str, typer.Option(help="Why; it stands in the audit.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would go; erase nothing.")] = False,
    namespace: Namespace = "default",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Forget a memory: its row, its vector, what was made of it, and the copies that runs keep."""
    from coordinator.cli import memory_forgetting

    if dry_run:
        memory_forgetting.would_forget(data_dir, memory, namespace, as_json=as_json)
    else:
        memory_forgetting.forgotten(data_dir, memory, namespace, reason, as_json=as_json)


def _show(answer: Any, *, as_json: bool) -> None:
    page = answer if isinstance(answer, dict) else {"memories": answer}
    if as_json:
        screen.print_json(page)
        return
    from coordinator.cli.memory_table import standing, table

    console = screen.out()
    always = [hit for hit in page["memories"] if standing(hit)]
    hits = [hit for hit in page["memories"] if not standing(hit)]
    console.print(table(hits, console.width) if hits else "no memories")
    if always:
        console.print("\nPreferences that always hold, whatever is asked:", markup=False)
        console.print(table([{**hit, "explain": {}} for hit in always], console.width))
    if page.get("next"):
        screen.remark(f"{page['total']} in all; go on with --after {page['next']}")
