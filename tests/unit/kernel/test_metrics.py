"""Every metric is in the list, has a sample or a zero, and counts what the rows say."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from kernel import metrics
from kernel.clock import now
from kernel.database import Database
from kernel.records import ApprovalRow, AssignmentRow, DeadLetterRow, RunRow
from kernel.schema import migrate
from kernel.states import AssignmentState, RunState


@pytest.fixture
def database(tmp_path: Path) -> Database:
    made = Database(f"sqlite:///{tmp_path}/truth.db")
    migrate(made)
    return made


def samples(reading: metrics.Reading) -> dict[tuple[str, ...], float]:
    families = text_string_to_metric_families(metrics.render(reading).decode())
    return {(s.name, *s.labels.values()): s.value for family in families for s in family.samples}


def test_names_are_unique_gauges_of_ours_with_help() -> None:
    names = [name for name, _, _ in metrics.METRICS]
    assert len(set(names)) == len(names)
    assert all(name.startswith("nightdesk_") and text.endswith(".") for name, _, text in metrics.METRICS)
    told = metrics.render(metrics.Reading()).decode()
    assert [line.split()[2] for line in told.splitlines() if line.startswith("# TYPE")] == names
    assert {line.split()[3] for line in told.splitlines() if line.startswith("# TYPE")} == {"gauge"}


def test_an_empty_desk_tells_zeros(database: Database) -> None:
    told = samples(metrics.read_rows(database, now()))
    assert {key[1] for key in told if key[0] == "nightdesk_runs"} == {state.value for state in RunState}
    assert {key[1] for key in told if key[0] == "nightdesk_assignments"} == {s.value for s in AssignmentState}
    assert told["nightdesk_oldest_waiting_seconds", "coordinator"] == 0
    assert set(told.values()) == {0.0}


def test_rows_are_counted_and_the_oldest_is_aged(database: Database) -> None:
    at = now()
    with database.writing("test") as db:
        db.add(RunRow(id="a", state="planning", created_at=at - timedelta(seconds=30)))
        db.add(RunRow(id="b", state="accepted", created_at=at - timedelta(seconds=90)))
        db.add(RunRow(id="c", state="failed", created_at=at - timedelta(days=9)))
        for key, state, age in (("x", "queued", 40), ("y", "queued", 5), ("z", "done", 900)):
            db.add(
                AssignmentRow(
                    id=f"c:{key}",
                    run_id="c",
                    key=key,
                    agent="worker",
                    queue="agents.worker",
                    state=state,
                    created_at=at - timedelta(seconds=age),
                )
            )
        db.add(ApprovalRow(call_id="1", run_id="c", assignment_id="c:x", tool="t", digest="d", risk="high"))
        db.add(DeadLetterRow(queue='agents."odd"\n', reason="r"))
        db.add(DeadLetterRow(queue="agents.worker", reason="r", state="dropped"))
    told = samples(metrics.read_rows(database, at))
    assert told["nightdesk_runs", "failed"] == 1
    assert told["nightdesk_assignments", "queued"] == 2
    assert told["nightdesk_approvals_waiting",] == 1
    assert told["nightdesk_dead_letters", 'agents."odd"\n'] == 1
    assert ("nightdesk_dead_letters", "agents.worker") not in told
    assert told["nightdesk_oldest_waiting_seconds", "coordinator"] == pytest.approx(90)
    assert told["nightdesk_oldest_waiting_seconds", "agents.worker"] == pytest.approx(40)
