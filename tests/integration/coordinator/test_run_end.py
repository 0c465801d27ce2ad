"""A run that ends with a call left open tells of it: unknown, a question, and its one result before the report."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlmodel import col, select

from coordinator.store import Store
from kernel.database import Database
from kernel.ledgers import EventRow, QuestionRow
from kernel.records import AssignmentRow, CallRow, RunRow
from kernel.reports import Report
from kernel.schema import migrate

pytestmark = pytest.mark.integration


def test_a_call_left_open_has_one_result_before_the_report(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'truth.db'}")
    migrate(database)
    run = RunRow(id="r", state="working", stop="cancelled")
    call = CallRow(
        id="r:a.1.1", run_id="r", assignment_id="r:a", turn=1, position=1, tool="t", effect="probe", key="k"
    )
    with database.writing("test.rows") as session:
        session.add(run)
        session.add(AssignmentRow(id="r:a", run_id="r", key="a", agent="x", queue="agents.x", state="failed"))
        session.add(call)
    store = Store(database)
    snapshot = store.snapshot("r")
    assert snapshot is not None
    assert store.end(snapshot.run, Report(run_id="r", state="cancelled"), open_calls=["r:a.1.1"])
    with database.reading() as session:
        assert session.get_one(CallRow, "r:a.1.1").state == "unknown"
        assert session.get_one(QuestionRow, "r:a.1.1").state == "open"
        told = [row.body for row in session.exec(select(EventRow).order_by(col(EventRow.seq))).all()]
    assert [(event["type"], event.get("state")) for event in told] == [
        ("tool_call_result", "unknown"),
        ("status_change", "cancelled"),
        ("report", None),
    ]
    database.close()
