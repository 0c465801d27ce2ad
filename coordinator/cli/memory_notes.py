"""The commands about single memories: remember one, show it with all its fields, and what a key said over time."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from coordinator.cli import screen
from coordinator.cli.memory_asking import Memory, Namespace, ask, kinds_of, unknown, whole
from coordinator.cli.memory_asking import user as person
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
_WISHED = "it reads as a wish for how you are answered; --kind fact makes it a fact for everybody"


@screen.answering
def remember(
    text: Annotated[str, typer.Argument(help="One sentence that is understood by itself.")],
    *,
    kind: Annotated[
        str | None,
        typer.Option(
            help="fact, preference, episode, procedure or summary; left out, a wish such as 'always answer in "
            "French' is a preference, and anything else a fact."
        ),
    ] = None,
    key: Annotated[
        str, typer.Option(help="The short name of a fact that may change, such as 'checkout pool size'.")
    ] = "",
    importance: Annotated[float, typer.Option(min=0, max=1)] = _IMPORTANCE,
    user: Annotated[
        str | None,
        typer.Option(help="Only this user sees it; a preference, and what you say of yourself, is yours."),
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(help="A word to file it under; may be repeated.")] = None,
    namespace: Namespace = "default",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Have the desk remember something, and say what became of it."""
    telling = {
        "text": text,
        "kind": kinds_of([kind])[0] if kind is not None else None,
        "key": key,
        "importance": importance,
        "user": user if user is not None else _whose(kind),
        "tags": tag or [],
        "namespace": namespace,
        "source_kind": "user",
        "source_ref": person(),
    }
    answer = ask(data_dir, "memory.remember", telling)
    print_became(answer, as_json=as_json)
    if kind is None and answer.get("kind") == "preference" and not as_json:
        screen.remark(_WISHED)


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
    memory: Memory,
    *,
    namespace: Namespace = "default",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show one memory with all its fields: where it is from, how strong it is now, when that changes."""
    shown = ask(data_dir, "memory.show", {"of": whole(memory), "namespace": namespace})["memory"]
    if shown is None:
        raise unknown(memory, namespace)
    if as_json:
        screen.print_json(shown)
        return
    screen.out().print(_fields(shown))


def _whose(kind: str | None) -> str | None:
    """Return whose a memory is: a preference one person's, all else is shared; None: the memory service says it."""
    return None if kind is None else _USER if kind == "preference" else ""


def print_became(answer: dict[str, Any], *, as_json: bool) -> None:
    """Print ids and what became of a telling; end with 1 where nothing was kept, with 4 where it waits for a person."""
    if as_json:
        screen.print_json(answer)
    else:
        for made in answer.get("ids") or [answer["id"]]:
            if made:
                screen.out().print(made, markup=False)
        screen.remark(became(answer))
        _warn_of(answer.get("beside") or [])
        if answer["outcome"] == "quarantine":
            screen.remark("see it with `nightdesk memory quarantine`, and accept or reject it there")
    if answer["outcome"] == "dropped":
        raise typer.Exit(screen.FAILED)
    if answer["outcome"] == "quarantine":
        raise typer.Exit(screen.WAITING)


def became(answer: dict[str, Any]) -> str:
    """Return what became of a telling in words, with the gate's reason."""
    outcome, reason = str(answer["outcome"]), str(answer.get("reason") or "")
    said = _ONCE if outcome == "touch" and reason else _BECAME.get(outcome, outcome)
    if answer.get("kind") == "preference":
        said = said.replace("remembered", "remembered as a preference", 1) if outcome != "dropped" else said
    said = f"{said}: {reason}" if reason else said
    hidden = int(answer.get("hidden") or 0)
    return f"{said}; {_number(hidden)} hidden" if hidden else said


def _warn_of(beside: list[dict[str, str]]) -> None:
    """Say which facts say otherwise of the same: a person thinks they have replaced one."""
    from coordinator.cli.logs_text import plain
    from coordinator.cli.memory_table import short

    for other in beside:
        of = short(other["id"])
        screen.remark(
            f'"{plain(other["text"])}" ({of}) says otherwise of the same, and both hold: '
            f"drop that one with `nightdesk memory forget {of}`, or give both one --key"
        )


def _number(hidden: int) -> str:
    return "1 secret was" if hidden == 1 else f"{hidden} secrets were"


def _versions(versions: list[dict[str, Any]]) -> Any:
    from rich.text import Text

    from coordinator.cli.memory_table import plain, short

    owned = any(version.get("user") for version in versions)
    table = plain("id", "from, to", "trust", *(("user",) if owned else ()), "text")
    for version in versions:
        until = local(version["valid_to"]) or ("now" if version["in_force"] else version["status"])
        cells = (
            short(version["id"]),
            f"{local(version['valid_from'])}\n{until}",
            f"{version['trust']:.1f}",
            *((version.get("user") or "",) if owned else ()),
        )
        text = Text(version["text"])
        text.append(f"\nfrom {version['source']}", style="dim")
        table.add_row(*map(Text, cells), text)
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
        return local(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def local(moment: str | None) -> str:
    """Return a moment in the reader's zone, "" for none."""
    from datetime import datetime

    from kernel.clock import local

    return local(datetime.fromisoformat(moment)) if moment else ""
