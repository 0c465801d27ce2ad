"""Parking tells the state that it leaves: waiting, or queued where people decided before it was parked."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlmodel import select

from agents.outcomes import park
from kernel.database import Database
from kernel.lease import claim
from kernel.ledgers import EventRow
from kernel.records import ApprovalRow, AssignmentRow, RunRow
from kernel.schema import migrate
from kernel.states import ApprovalState, AssignmentState

pytestmark = pytest.mark.integration


@pytest.mark.parametrize(
    ("approval", "left"),
    [(ApprovalState.pending, AssignmentState.waiting), (ApprovalState.approved, AssignmentState.queued)],
)
def test_the_event_of_a_parked_assignment_tells_where_it_is(
    tmp_path: Path, approval: ApprovalState, left: AssignmentState
) -> None:
    database = Database(f"sqlite:///{tmp_path / 'truth.db'}")
    migrate(database)
    with database.writing("test.rows") as session:
        session.add(RunRow(id="r", state="working"))
        session.add(AssignmentRow(id="r:a", run_id="r", key="a", agent="x", queue="agents.x", state="queued"))
        session.add(
            ApprovalRow(
                call_id="r:a.1.1",
                run_id="r",
                assignment_id="r:a",
                tool="t",
                digest="d",
                risk="high",
                state=approval.value,
            )
        )
    row = claim(database, "r:a", worker="w", seconds=30)
    assert row is not None
    park(database, row, "waits for a person")
    with database.reading() as session:
        assert session.get_one(AssignmentRow, "r:a").state == left.value
        last = session.exec(select(EventRow).order_by(EventRow.seq.desc())).first()  # type: ignore[attr-defined] # a column
    assert last is not None
    assert last.body["state"] == left.value
    database.close()
