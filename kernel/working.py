"""Working memory: the slots of a run, written with what they tell of and gone a day after the run ended."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlmodel import Session, col, delete, select

from kernel.clock import now
from kernel.contracts import Outcome
from kernel.ledgers import WorkingRow
from kernel.records import RunRow
from kernel.text import storable

#: After a run ended its slots can still be looked at and promoted (issue 4).
KEPT = timedelta(hours=24)
#: Slots of one writer, characters of a slot's name, and bytes of a value: they go into every prompt of the run.
SLOTS_MOST, NAME_CHARACTERS, VALUE_BYTES = 24, 80, 1000
#: Who wrote what the request itself says; every other writer is the key of an assignment.
REQUEST = "request"
_FOUND_MOST = 3


def keep(session: Session, run_id: str, slots: Mapping[str, Any], *, source: str) -> None:
    """Insert slots in one statement, in place of those that the same assignment left before.

    Those of an assignment are called `<its key>.<name>`, so that none hides another.
    """
    named = {name if source == REQUEST else f"{source}.{name}": value for name, value in slots.items()}
    cut = {storable(name)[:NAME_CHARACTERS]: _bounded(storable(value)) for name, value in named.items()}
    at = now()
    if source != REQUEST:  # a run is inserted once
        session.exec(
            delete(WorkingRow).where(col(WorkingRow.run_id) == run_id, col(WorkingRow.source) == source)
        )
    session.add_all(
        WorkingRow(run_id=run_id, slot=name, value=value, source=source, at=at)
        for name, value in list(cut.items())[:SLOTS_MOST]
    )


def held(session: Session, run_id: str, at: datetime) -> list[WorkingRow]:
    """Return the slots of a run in the order they were written; none once their time is over, deleted or not."""
    query = (
        select(WorkingRow)
        .join(RunRow, col(RunRow.id) == col(WorkingRow.run_id))
        .where(WorkingRow.run_id == run_id)
        .where(col(RunRow.ended_at).is_(None) | (col(RunRow.ended_at) > at - KEPT))
        .order_by(col(WorkingRow.at), col(WorkingRow.slot))
    )
    return list(session.exec(query).all())


def expired(session: Session, at: datetime, limit: int) -> list[str]:
    """Return runs that ended a day ago and still hold slots."""
    over = col(RunRow.ended_at) <= at - KEPT
    query = select(RunRow.id).where(over, col(RunRow.id).in_(select(WorkingRow.run_id))).limit(limit)
    return list(session.exec(query).all())


def drop(session: Session, run_ids: Sequence[str]) -> None:
    """Delete the slots of runs."""
    session.exec(delete(WorkingRow).where(col(WorkingRow.run_id).in_(run_ids)))


def key_facts(outcome: Outcome) -> dict[str, Any]:
    """Return what an assignment leaves to remember: its own facts, what it found, and what it did."""
    found = sorted(outcome.findings, key=lambda finding: -finding.score)[:_FOUND_MOST]
    done = [f"{action.name}: {action.state}" for action in outcome.actions]
    more = {"found": [finding.title for finding in found], "done": done}
    return {**outcome.facts, **{name: value for name, value in more.items() if value}}


def _bounded(value: Any) -> Any:
    """Return the value, or the beginning of its text where it is too long for every prompt."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    encoded = text.encode(errors="replace")
    if len(encoded) <= VALUE_BYTES:
        return value
    return f"{encoded[:VALUE_BYTES].decode(errors='ignore')}…"
