"""The commands about single memories: remember one, show it with all its fields, and what a key said over time."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from coordinator.cli import screen
from coordinator.cli.memory_asking import Namespace, ask
from coordinator.cli.options import AsJson, DataDir

#: Whom a request is from unless it says otherwise (kernel.contracts.Request): a preference is theirs.
_USER = "local"
#: A person took the trouble to write it down.
_IMPORTANCE = 0.8
_BECAME = {
    "insert": "remembered",
    "touch": "known already; it counts for more now",
    "supersede": "remembered; the old value is kept as history",
    "history": "kept as history: a more trusted source says otherwise",
    "quarantine": "waits for a person to look at it",
    "dropped": "not remembered",
}
_ONCE = "known already"


@screen.answering
def remember(
    text: Annotated[str, typer.Argument(help="One sentence that is understood by itself.")],
    *,
    kind: Annotated[str, typer.Option(help="fact, preference, episode, procedure or summary.")] = "fact",
    key: Annotated[
        str, typer.Option(help="The short name of a fact that may change, such as 'checkout pool size'.")
    ] = "",
    importance: Annotated[float, typer.Option(min=0, max=1)] = _IMPORTANCE,
    user: Annotated[
        str | None, typer.Option(help="Only this user sees it; a preference is yours unless you say so.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A word to file it under; may be repeated.")] = None,
    namespace: Namespace = "default",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Have the desk remember something, and say what became of it."""
    from coordinator.cli.connection import user_name

    telling = {
        "text": text,
        "kind": kind,
        "key": key,
        "importance": importance,
        "user": user if user is not None else _USER if kind == "preference" else "",
        "tags": tag or [],
        "namespace": namespace,
        "source_kind": "user",
        "source_ref": f"user:{user_name()}",
    }
    print_became(ask(data_dir, "memory.remember", telling), as_json=as_json)


@screen.answering
def history(
    of: Annotated[str, typer.Argument(metavar="KEY|ID")],
    *,
    user: Annotated[str | None, typer.Option(help="Only what this user sees; else everybody's.")] = None,
    namespace: Namespace = "default",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show all versions of a fact, the newest first: from when to when it held, who said it, how far it is believed."""
    from kernel.errors import Correctable

    asked = {"of": of, "namespace": namespace, "user": user}
    answer = ask(data_dir, "memory.history", asked)
    if not answer["versions"]:
        raise Correctable(
            f"nothing is held of {of!r} in {namespace!r}",
            next_step="Run `nightdesk memory list` to see what is.",
        )
    if as_json:
        screen.print_json(answer)
        return
    screen.out().print(_versions(answer["versions"]))


@screen.answering
def show(
    memory: Annotated[str, typer.Argument(metavar="ID")],
    *,
    namespace: Namespace = "default",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show one memory with all its fields: where it is from, how strong it is now, when that changes."""
    from kernel.errors import Correctable

    shown = ask(data_dir, "memory.show", {"of": memory, "namespace": namespace})["memory"]
    if shown is None:
        raise Correctable(
            f"there is no memory {memory!r} in {namespace!r}",
            next_step="Run `nightdesk memory list` to see them.",
        )
    if as_json:
        screen.print_json(shown)
        return
    screen.out().print(_fields(shown))


def print_became(answer: dict[str, Any], *, as_json: bool) -> None:
    """Print the id and what became of a telling; end with 1 where nothing was kept."""
    if as_json:
        screen.print_json(answer)
    else:
        if answer["id"]:
            screen.out().print(answer["id"], markup=False)
        screen.remark(became(answer))
    if answer["outcome"] == "dropped":
        raise typer.Exit(screen.FAILED)


def became(answer: dict[str, Any]) -> str:
    """Return what became of a telling in words, with the gate's reason."""
    outcome, reason = str(answer["outcome"]), str(answer.get("reason") or "")
    said = _ONCE if outcome == "touch" and reason else _BECAME.get(outcome, outcome)
    return f"{said}: {reason}" if reason else said


def _versions(versions: list[dict[str, Any]]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for title in ("id", "from", "to", "trust", "source", "text"):
        table.add_column(title, overflow="fold", no_wrap=title in ("id", "trust"))
    for version in versions:
        until = _local(version["valid_to"]) or ("now" if version["in_force"] else version["status"])
        cells = (
            version["id"][:8],
            _local(version["valid_from"]),
            until,
            f"{version['trust']:.1f}",
            version["source"],
            version["text"],
        )
        table.add_row(*map(Text, cells))
    return table


def _fields(shown: dict[str, Any]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in shown.items():
        if value not in (None, "", [], {}):
            table.add_row(Text(name), Text(_said(name, value)))
    return table


def _said(name: str, value: Any) -> str:
    import json

    if name.endswith(("_at", "_from", "_to")) or name == "changes":
        return _local(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _local(moment: str | None) -> str:
    from datetime import datetime

    from kernel.clock import local

    return local(datetime.fromisoformat(moment)) if moment else ""
