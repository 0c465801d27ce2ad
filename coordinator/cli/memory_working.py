"""The commands about a run's working memory: look at its slots, and make one of them a memory that stays."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coordinator.cli import screen
from coordinator.cli.options import AsJson, DataDir, RunId

if TYPE_CHECKING:
    from sqlmodel import Session

    from kernel.ledgers import WorkingRow
    from kernel.records import RunRow

#: A person picked it out: as much as what one states (coordinator.cli.memory_notes).
_IMPORTANCE = 0.8
#: The agent whose facts are what logs say.
_READS_LOGS = "log_analysis"


@screen.answering
def working(run: RunId, *, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show a run's working memory: what, where, when, ids, and what its parts found; kept for a day after its end."""
    from coordinator.cli import history
    from coordinator.cli.connection import join

    with history.reading(join(data_dir)) as session:
        row = history.find_run(session, run)
        slots = slots_of(session, row.id)
        gone = until(row)
    if as_json:
        screen.print_json({"run_id": row.id, "kept_until": gone, "slots": slots})
        return
    screen.out().print(table(slots) if slots else "no working memory", markup=False)
    if slots and gone:
        screen.remark(
            f"kept until {_local(gone)}; `nightdesk memory promote {row.id[:8]} SLOT` keeps one for good"
        )


@screen.answering
def promote(
    run: RunId,
    slot: Annotated[str, typer.Argument(help="The name of a slot, as `nightdesk memory working` prints it.")],
    *,
    key: Annotated[
        str, typer.Option(help="The short name of the fact; a later value under it replaces this one.")
    ] = "",
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Make a slot of a run's working memory a fact that stays; also after the run ended, for a day."""
    from coordinator.cli import history
    from coordinator.cli.connection import join
    from coordinator.cli.memory_asking import ask
    from coordinator.cli.memory_notes import print_became
    from kernel.clock import now
    from kernel.errors import Correctable
    from kernel.working import REQUEST, held

    with history.reading(join(data_dir)) as session:
        row = history.find_run(session, run)
        slots = {one.slot: one for one in held(session, row.id, now())}
        kind = source_kind(session, row, slots[slot]) if slot in slots else ""
    if slot not in slots:
        why = f"it has: {', '.join(slots)}" if slots else "a day after a run ended its working memory is gone"
        raise Correctable(
            f"run {row.id} has no slot {slot!r}",
            why=why,
            next_step=f"Run `nightdesk memory working {row.id[:8]}`.",
        )
    if slots[slot].source == REQUEST and not key:
        raise Correctable(
            f"slot {slot!r} is no fact by itself",
            why=f"it would read '{slot}: {said(slots[slot].value)}', and say of nothing in particular",
            next_step=f"Say what it is: `nightdesk memory promote {row.id[:8]} {slot} --key 'log of checkout'`.",
        )
    print_became(ask(data_dir, "memory.remember", telling(row, slots[slot], key, kind)), as_json=as_json)


def source_kind(session: Session, run: RunRow, slot: WorkingRow) -> str:
    """Return where a slot is from: who picks out what a log said makes it no better known."""
    from sqlmodel import col, select

    from kernel.records import AssignmentRow
    from kernel.working import REQUEST

    if slot.source == REQUEST:
        return "alert" if "alertname" in (run.request.get("labels") or {}) else "user"
    made_by = select(AssignmentRow.agent).where(
        col(AssignmentRow.run_id) == run.id, col(AssignmentRow.key) == slot.source
    )
    agent = session.exec(made_by).first()
    return "log" if agent in (None, _READS_LOGS) else "agent"


def telling(run: RunRow, slot: WorkingRow, key: str, kind: str) -> dict[str, Any]:
    """Return what the memory is told; what came from a log, a tool or an alert stays a quote of that kind."""
    return {
        "text": f"{key or slot.slot}: {said(slot.value)}",
        "kind": "fact",
        "key": key,
        "importance": _IMPORTANCE,
        "namespace": run.namespace,
        "session": run.session_id or "",
        "source_kind": kind,
        "source_ref": f"run:{run.id}",
        "quotes_untrusted": kind != "user",
    }


def slots_of(session: Session, run_id: str) -> dict[str, Any]:
    """Return the slots of a run as scripts read them: value and source by name."""
    from kernel.clock import now
    from kernel.working import held

    return {row.slot: {"value": row.value, "source": row.source} for row in held(session, run_id, now())}


def until(run: RunRow) -> str | None:
    """Return until when the slots are kept, None while the run is open."""
    from kernel.working import KEPT

    return (run.ended_at + KEPT).isoformat() if run.ended_at else None


def print_slots(slots: dict[str, Any]) -> None:
    """Print the slots, where there are any."""
    if slots:
        screen.out().print(table(slots))


def table(slots: dict[str, Any]) -> Any:
    """Return the slots as a table."""
    from rich.table import Table
    from rich.text import Text

    shown = Table(title="Working memory")
    for title in ("slot", "from", "value"):
        shown.add_column(title, overflow="fold")
    for name, slot in slots.items():
        shown.add_row(Text(name), Text(slot["source"]), Text(said(slot["value"])))
    return shown


def said(value: Any) -> str:
    """Return a value as one line of text."""
    if isinstance(value, list):
        return ", ".join(map(said, value))
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return " ".join(text.split())


def _local(moment: str) -> str:
    from datetime import datetime

    from kernel.clock import local

    return local(datetime.fromisoformat(moment))
