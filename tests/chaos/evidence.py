"""The evidence of a chaos run: the rows, the events and the world's ledger as plain values, kept as JSON."""

from __future__ import annotations

import asyncio
import json
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlmodel import SQLModel, col, select

from kernel.errors import Retryable
from kernel.ledgers import EventRow, QuestionRow
from kernel.records import ApprovalRow, AssignmentRow, CallRow, DeadLetterRow, RunRow
from kernel.states import RUN_ENDED
from tests.chaos.plan import RunSpec
from tests.chaos.stage import Stage

Row = dict[str, Any]
#: The reconciler relays events that Redis did not take; it has some ticks to do so.
_CATCH_UP_SECONDS, _LOOK_SECONDS = 15.0, 0.2
_TABLES: tuple[type[SQLModel], ...] = (
    RunRow,
    AssignmentRow,
    CallRow,
    ApprovalRow,
    QuestionRow,
    DeadLetterRow,
)


@dataclass
class Evidence:
    """All that the checker looks at; nothing in it is an object of the desk."""

    scenario: str
    submitted: dict[str, float]
    cancelled: dict[str, float] = field(default_factory=dict)
    runs: dict[str, Row] = field(default_factory=dict)
    assignments: list[Row] = field(default_factory=list)
    calls: list[Row] = field(default_factory=list)
    #: Run → (stream id, event), as a reader of the stream sees them.
    events: dict[str, list[tuple[str, Row]]] = field(default_factory=dict)
    #: Run → numbers of its event rows, as SQL has them; empty where events are no rows.
    sequences: dict[str, list[int]] = field(default_factory=dict)
    world: list[Row] = field(default_factory=list)
    deeds: list[Row] = field(default_factory=list)
    exits: list[Row] = field(default_factory=list)
    #: From and to: when SQL took no write, Redis gave no answer, or no coordinator or no reconciler lived.
    outages: list[tuple[float, float]] = field(default_factory=list)
    lease_seconds: float = 3.0

    def ended(self) -> list[Row]:
        """Return the runs that ended."""
        return [run for run in self.runs.values() if run["state"] in RUN_ENDED]


async def gather(stage: Stage, scenario: str, specs: Sequence[RunSpec], **noted: Any) -> Evidence:
    """Read everything that a scenario's runs left behind, and keep it."""
    ids = [spec.id for spec in specs]
    found = Evidence(scenario=scenario, lease_seconds=stage.settings.lease_seconds, **noted)
    tables = await asyncio.to_thread(_rows, stage, ids)
    found.runs = {row["id"]: row for row in tables["run"]}
    found.assignments, found.calls = tables["assignment"], tables["call"]
    found.sequences = _sequences(tables["event"])
    found.events = await _streams(stage, found.sequences)
    keys = {call["key"] for call in found.calls}
    mine = set(ids)
    found.world = [
        line
        for line in stage.world.lines()
        if line["run"] in mine
        or line["key"].rpartition(":")[0] in mine
        or line["key"].rpartition(":")[2] in keys
    ]
    _keep(stage.folder / scenario, tables, found)
    return found


async def _streams(stage: Stage, sequences: dict[str, list[int]]) -> dict[str, list[tuple[str, Row]]]:
    """Return what a reader sees of each run, once the desk itself has brought the streams up to the outbox."""
    give_up = time.monotonic() + _CATCH_UP_SECONDS
    found: dict[str, list[tuple[str, Row]]] = {}
    while behind := [
        id_
        for id_ in sequences
        if len([e for e in found.get(id_, []) if e[0].endswith("-0")]) < len(sequences[id_])
    ]:
        for run_id in behind:
            try:
                logged = await stage.parts.events.read(run_id)
            except Retryable:
                continue  # Redis is on its way back
            found[run_id] = [(one.id, one.event.model_dump(mode="json")) for one in logged]
        if time.monotonic() > give_up:
            break
        await asyncio.sleep(_LOOK_SECONDS)
    return found


def _rows(stage: Stage, ids: list[str]) -> dict[str, list[Row]]:
    with stage.parts.store.database.reading() as session:
        tables = {
            str(table.__tablename__): [
                row.model_dump(mode="json") for row in session.exec(select(table)).all()
            ]
            for table in _TABLES
        }
        events = session.exec(select(EventRow).where(col(EventRow.run_id).in_(ids))).all()
    tables["event"] = [event.model_dump(mode="json") for event in events]
    mine = set(ids)
    return {
        name: [
            row
            for row in rows
            if row.get("run_id", row.get("id") if name == "run" else None) in mine or name == "dead_letter"
        ]
        for name, rows in tables.items()
    }


def _sequences(rows: list[Row]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for row in rows:
        found[row["run_id"]].append(row["seq"])
    return {run_id: sorted(numbers) for run_id, numbers in found.items()}


def _keep(folder: Path, tables: dict[str, list[Row]], found: Evidence) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    kept: dict[str, Any] = {
        **tables,
        "stream": found.events,
        "deeds": found.deeds,
        "exits": found.exits,
        "outages": found.outages,
    }
    for name, value in kept.items():
        text = json.dumps(value, ensure_ascii=False, indent=1, default=str)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
