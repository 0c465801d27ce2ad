"""A report for people: Markdown on a terminal and in a pipe, evidence as a table, and who did what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table
from rich.text import Text

from coordinator.cli.history import short_call
from coordinator.cli.logs_text import plain
from coordinator.phrases import words_of
from coordinator.rendering import markdown
from kernel.clock import local
from kernel.records import ApprovalRow
from kernel.reports import Report

#: What an assignment's row calls "drain".
_HANDED_BACK = "handed back by a worker that was stopping"


def print_report(report: Report, console: Console) -> None:
    """Print the report and who did what."""
    text = markdown(report)
    if console.is_terminal:
        console.print(Markdown(text))
    else:
        console.print(text, markup=False)
    if report.assignments:
        say = words_of(report.language)
        table = Table(title=say.plain("Who did what"))
        for column in ("part", "agent", "state", "worker", "brain", "tries"):
            table.add_column(say.plain(column))
        for part in report.assignments:
            reason = _HANDED_BACK if part.reason == "drain" else part.reason
            state = say.plain(part.state) + (f": {reason}" if reason else "")
            cells = (part.key, part.agent, state, part.worker, part.brain, str(part.attempts))
            table.add_row(*(Text(cell) for cell in cells))
        console.print(table)
    console.print(_spent(report), markup=False)


def _spent(report: Report) -> str:
    """Return what a run took, in the language of its report."""
    say, usage = words_of(report.language), report.usage
    seconds = report.timings.get("total_seconds")
    counts = (
        ("turn", usage.turns),
        ("call", usage.calls),
        ("token", usage.input_tokens + usage.output_tokens),
    )
    parts = [
        *([] if seconds is None else [say("{seconds:.1f} s", seconds=seconds)]),
        *(
            say(f"{{count}} {one}" if count == 1 else f"{{count}} {one}s", count=count)
            for one, count in counts
        ),
        f"${usage.cost:.4f}",
    ]
    planner = report.planned_by or say.plain("nobody yet")
    spent = say(", ").join(parts)
    return say("{spent}; planned by {planner}; run {run}", spent=spent, planner=planner, run=report.run_id)


def print_evidence(rows: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print each line that proves a finding with the lines round it as they are now, the cited one marked."""
    title = ""
    for row in rows:
        if row["finding"] != title:
            title = row["finding"]
            console.print(Text(plain(title), style="bold"))
        state = row["state"] + (f": {row['note']}" if row["note"] else "")
        link = f"{row['source']}:{row['line']}"
        side = "" if row.get("of_answer") else "against, " if row["against"] else "for, "
        console.print(
            Text(plain(f"  {link}  ({side}{state})"), style="" if row["state"] == "stands" else "yellow")
        )
        if row["state"] != "stands":
            console.print(Text(plain(f"      quoted: {row['quote']}")))
        for line in row["context"]:
            cited = line["line"] == row["line"]
            told = f"    {'>' if cited else ' '} {line['line']:>6}  {line['quote']}"
            console.print(Text(plain(told), style="" if cited else "dim"))
    if not rows:
        console.print(
            "no line is quoted, in a finding or in the answer: there is none to read again", markup=False
        )


def print_waiting(run_id: str, approvals: list[ApprovalRow], console: Console) -> None:
    """Print the calls that wait for a person."""
    for approval in approvals:
        # the terminal wraps: a command that is cut by a line break cannot be copied
        console.print(waiting_text(run_id, approval), markup=False, soft_wrap=True)


def waiting_text(run_id: str, approval: ApprovalRow) -> str:
    """Return what a person must see before deciding, and the exact commands to decide."""
    until = f"\n  until   {local(approval.expires_at)}" if approval.expires_at else ""
    return (
        f"waits for approval: {approval.tool} (risk {approval.risk})\n"
        f"  argv    {approval.argv!r}\n"
        f"{_shown(approval)}"
        f"  digest  {approval.digest}{until}\n"
        f"  nightdesk approve {run_id} {short_call(approval.call_id)}\n"
        f'  nightdesk deny {run_id} {short_call(approval.call_id)} --reason "…"'
    )


def _shown(approval: ApprovalRow) -> str:
    """Return target, dry run and undo, a line each, where there are any."""
    names = {"target": "target ", "dry_run": "dry run", "undo": "undo   "}
    lines = [
        f"  {label} {approval.shown[name]}\n" for name, label in names.items() if approval.shown.get(name)
    ]
    return "".join(lines)
