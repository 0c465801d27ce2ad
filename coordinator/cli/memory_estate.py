"""The commands about all memories of a namespace or user: export, import, erase."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from coordinator.cli import screen
from coordinator.cli.memory_asking import Namespace, ask
from coordinator.cli.memory_asking import user as person
from coordinator.cli.memory_file import VERSION, pages, read_file
from coordinator.cli.options import AsJson, DataDir

#: Batches are erased and lines taken in with their index entries: longer than a look-up.
_SECONDS = 120.0

User = Annotated[str | None, typer.Option(help="Only this user's; else the whole namespace.")]


@screen.answering
def export(
    *,
    namespace: Namespace = "default",
    user: User = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write here, whole or not at all; else to the screen."),
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Write all memories as lines of JSON, history included; the last line says how many there are."""
    lines = _exported(data_dir, namespace, user)
    if output is None:
        for line in lines:
            typer.echo(line)
        return
    from kernel.errors import Fatal

    partial = output.with_name(f"{output.name}.partial")
    written = -2  # its first and its last line are no memories
    try:
        partial.unlink(missing_ok=True)
        partial.touch(
            mode=0o600, exist_ok=False
        )  # it holds what people said, which not everybody here may read
        with partial.open("w", encoding="utf-8") as out:
            for line in lines:
                out.write(line + "\n")
                written += 1
        partial.replace(output)
    except OSError as error:
        why = error.strerror or str(error)
        raise Fatal(f"{output} cannot be written", why=why, next_step="Name another file.") from error
    finally:
        partial.unlink(missing_ok=True)
    if as_json:
        screen.print_json({"memories": written, "file": str(output)})
    else:
        screen.remark(f"wrote {written} memories to {output}")


@screen.answering
def import_(
    file: Annotated[Path, typer.Argument(help="What `nightdesk memory export` wrote, or a conversation.")],
    *,
    namespace: Annotated[
        str | None, typer.Option(help="Take them into this namespace; else into that of the file.")
    ] = None,
    dialogue: Annotated[
        bool,
        typer.Option(
            "--dialogue", help="The file is a conversation: a turn a line, with session, at, speaker, text."
        ),
    ] = False,
    user: Annotated[
        str, typer.Option(help="Whose own memories a conversation becomes; else shared ones.")
    ] = "",
    anew: Annotated[
        bool,
        typer.Option("--anew", help="Bring back what was forgotten on purpose, too; the audit says so."),
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Take memories in by the rules of their keys. All lines are checked first: a bad file changes nothing.

    What was erased as a whole comes back; what was forgotten by its id stays away unless you give --anew.
    """
    of, questions = _entering(file, dialogue=dialogue, user=user)
    target = {"namespace": namespace or of, "by": person(), "anew": anew}
    became: dict[str, int] = {}
    for check in (True, False):
        for question in questions:
            answer = ask(data_dir, "memory.import", {**target, **question, "check": check}, seconds=_SECONDS)
            for name, count in answer.items():
                became[name] = became.get(name, 0) + count
    became.pop("checked", None)
    _show(str(target["namespace"]), became, as_json=as_json)
    if set(became) == {_FORGOTTEN}:
        raise typer.Exit(screen.FAILED)


#: What the memory service calls a line that it keeps out because it was forgotten on purpose.
_FORGOTTEN = "forgotten"


def _show(namespace: str, became: dict[str, int], *, as_json: bool) -> None:
    if as_json:
        screen.print_json({"namespace": namespace, "memories": became})
        return
    for line in taken(namespace, became):
        screen.remark(line)


def taken(namespace: str, became: dict[str, int]) -> list[str]:
    """Return what became of the lines of a file, and why some stay out."""
    told = ", ".join(f"{count} {name}" for name, count in sorted(became.items())) or "no memories"
    kept_out = became.get(_FORGOTTEN, 0)
    if not kept_out:
        return [f"{namespace}: {told}"]
    were = "1 was" if kept_out == 1 else f"{kept_out} were"
    head = "nothing was taken in: " if set(became) == {_FORGOTTEN} else ""
    return [
        f"{namespace}: {head}{told}",
        f"{were} forgotten on purpose after this file was written; import it with --anew to bring them back",
    ]


def _entering(file: Path, *, dialogue: bool, user: str) -> tuple[str, list[dict[str, Any]]]:
    """Return the namespace of a file, and the questions by which it is taken in."""
    if dialogue:
        from coordinator.cli.memory_conversation import parts

        return "default", parts(file, user)
    if user:
        from kernel.errors import Correctable

        raise Correctable("--user goes with --dialogue", why="an export says whose each memory is")
    lines, of = read_file(file)
    return of, [{"lines": page, "first": first} for first, page in pages(lines)]


@screen.answering
def erase(
    *,
    namespace: Annotated[str, typer.Option(help="Whose memories; every name is literal, '*' too.")],
    user: User = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for the name again.")] = False,
    reason: Annotated[str, typer.Option(help="Why; it stands in the audit.")] = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Erase all memories of a namespace, or of one user in it, everywhere. The way back is to import an export."""
    name = namespace if user is None else user
    if not yes:
        _confirm(name, namespace, user, as_json=as_json)
    question = {"namespace": namespace, "user": user, "by": person(), "reason": reason}
    erased, left = 0, 1
    while left:
        answer = ask(data_dir, "memory.erase", question, seconds=_SECONDS)
        erased, left = erased + answer["erased"], answer["left"]
        if left and not as_json:
            screen.remark(f"erased {erased}, {left} left")
    if as_json:
        screen.print_json({"namespace": namespace, "user": user, "erased": erased})
    else:
        screen.remark("erased 1 memory" if erased == 1 else f"erased {erased} memories")


def _confirm(name: str, namespace: str, user: str | None, *, as_json: bool) -> None:
    from kernel.errors import Correctable

    whose = f"namespace {namespace!r}" if user is None else f"user {user!r} in {namespace!r}"
    if as_json or _typed(f"All memories of {whose} will be erased. Type {name!r} to go on") != name:
        raise Correctable(
            "nothing was erased", why="the name was not confirmed", next_step="Type the name, or give --yes."
        )


def _typed(question: str) -> str:
    """Return what is typed, "" where nobody is there to type."""
    try:
        return str(typer.prompt(question, err=True))
    except typer.Abort:
        screen.err().print()  # the error begins a line of its own
        return ""


def _exported(data_dir: Path | None, namespace: str, user: str | None) -> Iterator[str]:
    yield json.dumps({"nightdesk_memory": VERSION, "namespace": namespace, "user": user}, ensure_ascii=False)
    count, after = 0, 0
    while True:
        page = ask(data_dir, "memory.export", {"namespace": namespace, "user": user, "after": after})
        count += len(page["lines"])
        yield from page["lines"]
        if page["next"] is None:
            break
        after = page["next"]
    yield json.dumps({"end": True, "memories": count})
