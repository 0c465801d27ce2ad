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
    usage = report.usage
    seconds = report.timings.get("total_seconds")
    spent = f"{seconds:.1f} s, " if seconds is not None else ""
    console.print(
        f"{spent}{usage.turns} turns, {usage.calls} calls, {usage.input_tokens + usage.output_tokens} tokens, "
        f"${usage.cost:.4f}; planned by {report.planned_by or 'nobody yet'}; run {report.run_id}",
        markup=False,
    )


def print_evidence(rows: Sequence[Mapping[str, Any]], console: Console) -> None:
    """Print each line that proves a finding with the lines round it as they are now, the cited one marked."""
    title = ""
    for row in rows:
        if row["finding"] != title:
            title = row["finding"]
            console.print(Text(plain(title), style="bold"))
        state = row["state"] + (f": {row['note']}" if row["note"] else "")
        link = f"{row['source']}:{row['line']}"
        side = "against" if row["against"] else "for"
        console.print(
            Text(plain(f"  {link}  ({side}, {state})"), style="" if row["state"] == "stands" else "yellow")
        )
        if row["state"] != "stands":
            console.print(Text(plain(f"      quoted: {row['quote']}")))
        for line in row["context"]:
            cited = line["line"] == row["line"]
            told = f"    {'>' if cited else ' '} {line['line']:>6}  {line['quote']}"
            console.print(Text(plain(told), style="" if cited else "dim"))
    if not rows:
        console.print("no finding, so no evidence", markup=False)


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
