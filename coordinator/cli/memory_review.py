"""The commands of the memory's quarantine: see what waits, accept it in one's name, or have it erased."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from coordinator.cli import screen
from coordinator.cli.memory_asking import Memory, Namespace, ask, user, whole
from coordinator.cli.options import AsJson, DataDir

app = typer.Typer(
    help="What waits for a person: what was told over MCP, by an agent or a conversation, or promoted from a run, "
    "and is text shaped like an instruction, from a source that may not give any.",
    invoke_without_command=True,
)

Reason = Annotated[str, typer.Option(help="Why; it stands in the audit.")]
Limit = Annotated[int, typer.Option(min=1, max=1000)]


@app.callback()
@screen.answering
def quarantine(
    context: typer.Context,
    *,
    namespace: Namespace = "default",
    limit: Limit = 50,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show what waits, the newest first, or judge it with `accept` and `reject`."""
    if context.invoked_subcommand is None:
        _show(_waiting(data_dir, namespace, limit), as_json=as_json)


@app.command("list")
@screen.answering
def list_(
    *,
    namespace: Namespace = "default",
    limit: Limit = 50,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show what waits, the newest first."""
    _show(_waiting(data_dir, namespace, limit), as_json=as_json)


@app.command()
@screen.answering
def accept(
    memory: Memory,
    *,
    reason: Reason = "",
    namespace: Namespace = "default",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Let it hold, in your name; it is believed no more than its source is."""
    _judge("memory.accept", memory, reason, namespace, data_dir, as_json=as_json)


@app.command()
@screen.answering
def reject(
    memory: Memory,
    *,
    reason: Reason = "",
    namespace: Namespace = "default",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Erase it; what is left is a hash, by which it is not learnt again."""
    _judge("memory.reject", memory, reason, namespace, data_dir, as_json=as_json)


def _waiting(data_dir: Any, namespace: str, limit: int) -> Any:
    return ask(data_dir, "memory.quarantine", {"namespace": namespace, "limit": limit})


def _judge(task: str, memory: str, reason: str, namespace: str, data_dir: Any, *, as_json: bool) -> None:
    question = {"id": whole(memory), "namespace": namespace, "by": user(), "reason": reason}
    answer = ask(data_dir, task, question)
    if as_json:
        screen.print_json(answer)
    else:
        screen.remark(f"{answer['id']}: {answer.get('told', 'rejected and erased')}")


def _show(page: Any, *, as_json: bool) -> None:
    if as_json:
        screen.print_json(page)
        return
    from rich.text import Text

    from coordinator.cli.memory_table import plain, short

    table = plain("id", "kind", "text")
    for waits in page["memories"]:
        below = f"\nfrom {waits['source']}: {waits['reason']}"
        text = Text(str(waits["text"])).append(below, style="dim")
        table.add_row(Text(short(waits["id"])), Text(str(waits["kind"])), text)
    screen.out().print(table if page["memories"] else "nothing waits")
    if page.get("next"):
        screen.remark(f"{page['total']} in all; --limit shows more")
