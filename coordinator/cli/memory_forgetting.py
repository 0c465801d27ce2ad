"""The commands about forgetting: tonight's pass or what it would do, what a forgetting would erase, bringing back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from coordinator.cli import screen
from coordinator.cli.memory_asking import Memory, Namespace, ask, unknown, user, whole
from coordinator.cli.memory_notes import local
from coordinator.cli.options import AsJson, DataDir

#: A pass over a million memories takes seconds; on a busy disk a minute.
_NIGHT_SECONDS = 300.0
#: Characters of the longest bar.
_BAR = 40


@screen.answering
def decay(
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what tonight would do; write nothing.")
    ] = False,
    namespace: Annotated[
        str, typer.Option(help="Whose memories to show as examples of a dry run.")
    ] = "default",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Let memories fade now instead of tonight, or show with --dry-run what would become of them.

    Memories fade once a night (UTC): where this one was done, it says when, and does nothing.
    """
    if dry_run:
        told = ask(data_dir, "memory.tonight", {"namespace": namespace}, seconds=_NIGHT_SECONDS)
        if as_json:
            screen.print_json(told)
        else:
            _show_night(told)
        return
    night = ask(data_dir, "memory.fade", {}, seconds=_NIGHT_SECONDS)
    if as_json:
        screen.print_json(night)
    else:
        screen.out().print(said(night), markup=False)


@screen.answering
def restore(
    memory: Memory,
    *,
    reason: Annotated[str, typer.Option(help="Why; it stands in the audit.")] = "",
    namespace: Namespace = "default",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Bring an archived memory back; `nightdesk memory recall --archive` finds its id."""
    question = {"id": whole(memory), "namespace": namespace, "by": user(), "reason": reason}
    answer = ask(data_dir, "memory.restore", question)
    if answer.get("restored") is None:
        raise unknown(memory, namespace, "nightdesk memory recall --archive TEXT")
    if as_json:
        screen.print_json(answer)
    else:
        screen.remark(f"restored {answer['restored']}")


def would_forget(data_dir: Path | None, memory: str, namespace: str, *, as_json: bool) -> None:
    """Show what forgetting a memory would erase."""
    told = ask(data_dir, "memory.would_forget", {"id": whole(memory), "namespace": namespace})
    if not told["memories"]:
        raise unknown(memory, namespace)
    if as_json:
        screen.print_json(told)
        return
    for gone in told["memories"]:
        screen.out().print(f"{gone['id']}  {gone['kind']}  {gone['status']}  {gone['text']}", markup=False)
    screen.remark(f"would erase {erased(told)}; a hash of each text would stay")


def forgotten(data_dir: Path | None, memory: str, namespace: str, reason: str, *, as_json: bool) -> None:
    """Forget a memory, and say what went and what stays."""
    about = {"id": whole(memory), "namespace": namespace}
    would = ask(data_dir, "memory.would_forget", about)
    if not would["memories"]:
        raise unknown(memory, namespace)
    known = ask(data_dir, "memory.history", {"of": would["memories"][0]["id"], "namespace": namespace})
    answer = ask(data_dir, "memory.forget", {**about, "by": user(), "reason": reason})
    if answer.get("forgotten") is None:
        raise unknown(memory, namespace)
    if as_json:
        screen.print_json(answer)
        return
    screen.remark(f"forgot {answer['forgotten']}: {erased(would)}")
    gone = {one["id"] for one in would["memories"]}
    left = [version for version in known["versions"] if version["id"] not in gone]
    if left and known["key"]:
        screen.remark(
            f"{_number(len(left), 'other value', 'other values')} of {known['key']!r} still in its history; none takes "
            f"the place of this one: see `nightdesk memory history {known['key']!r}`"
        )


def _number(of: int, one: str, many: str) -> str:
    return f"{of} {one if of == 1 else many}"


def erased(told: dict[str, Any]) -> str:
    """Return what a forgetting erases, by place."""
    return (
        f"{_number(len(told['memories']), 'memory', 'memories')} ({told['indexed']} in the index, "
        f"{told['archived']} archived), {_number(told['vectors'], 'vector', 'vectors')} and "
        f"{_number(told['copies'], 'copy', 'copies')} in runs"
    )


def said(night: dict[str, Any]) -> str:
    """Return what a pass did, in a line."""
    counts = {name: count for name, count in night["counts"].items() if name != "batches"}
    did = ", ".join(f"{count} {name}" for name, count in sorted(counts.items())) or "nothing was due"
    if night["ran"]:
        return f"the night of {night['epoch']}: {did}"
    if night.get("done_at"):
        return (
            f"the night of {night['epoch']} (UTC) was done at {local(night['done_at'])}: memories fade once a night, "
            "and a memory worker that starts makes up for the night it missed"
        )
    return f"another worker is at the night of {night['epoch']} (UTC)"


def histogram(strengths: list[dict[str, Any]]) -> str:
    """Return the strengths of active memories as bars, weakest first."""
    most = max((bar["memories"] for bar in strengths), default=0)
    return "\n".join(
        f"{bar['from']:.1f}-{bar['to']:.1f}  {_bar(bar['memories'], most):<{_BAR}}  {bar['memories']}"
        for bar in strengths
    )


def _bar(number: int, most: int) -> str:
    return "█" * (max(1, round(_BAR * number / most)) if number else 0)


def _show_night(told: dict[str, Any]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for title, side in (("kind", "left"), ("from", "left"), ("to", "left"), ("memories", "right")):
        table.add_column(title, no_wrap=True, justify=side)  # type: ignore[arg-type] # one of rich's four words
    table.add_column("such as")
    for move in told["moves"]:
        shown = "\n".join(f"{one['id'][:8]} {one['text']}" for one in move["examples"])
        cells = (move["kind"], move["from"], move["to"], str(move["memories"]), shown)
        table.add_row(*(Text(cell) for cell in cells))
    out = screen.out()
    out.print(table if told["moves"] else "nothing would move")
    if told.get("done_at"):
        screen.remark(
            f"this night was done at {local(told['done_at'])}: until the next (UTC) nothing moves, whatever is due"
        )
    out.print("\nstrength of active memories\n" + histogram(told["strengths"]), markup=False)
