"""A run as HTTP answers it: where it stands, what waits, what happened, and its report."""

from __future__ import annotations

from typing import Any

from sqlmodel import select

from coordinator.chronicle import chronicle
from coordinator.store import Snapshot, Store
from kernel.records import ApprovalRow
from kernel.shapes import present
from kernel.states import ApprovalState


def view_run(store: Store, snapshot: Snapshot) -> dict[str, Any]:
    """Return a run with its parts, what waits for a person, what happened to it, and its report."""
    run = snapshot.run
    with store.database.reading() as db:
        pending = select(ApprovalRow).where(
            ApprovalRow.run_id == run.id, ApprovalRow.state == ApprovalState.pending.value
        )
        waiting = [present(row) for row in db.exec(pending).all()]
        happened = chronicle(db, run.id)
    shown = {"call_id", "tool", "argv", "digest", "risk", "why", "expires_at"}
    parts = {"key", "agent", "goal", "state", "reason", "worker", "round"}
    moments = {"created_at", "updated_at", "deadline_at", "ended_at"}
    return {
        "run_id": run.id,
        "state": run.state,
        "reason": run.reason,
        **run.model_dump(mode="json", include=moments),
        "assignments": [row.model_dump(mode="json", include=parts) for row in snapshot.assignments],
        "waiting": [row.model_dump(mode="json", include=shown) for row in waiting],
        "happened": happened.model_dump(mode="json"),
        "report": run.report,
    }
