"""Decisions on PostgreSQL, where transactions run side by side: locks in one order, the audit one chain."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import text
from sqlmodel import col, select

from coordinator import decisions, reconcile
from coordinator.store import change_row
from kernel.clock import now
from kernel.database import Database
from kernel.events import StatusChange
from kernel.lease import hold
from kernel.outbox import record
from kernel.records import ApprovalRow, AssignmentRow, AuditRow, RunRow
from kernel.schema import migrate

pytestmark = pytest.mark.integration

RUN, PART, CALL = "run-1", "run-1:job", "run-1:job.1.1"
_SECONDS = 30


@pytest.fixture
def database(postgres_url: str) -> Iterator[Database]:
    made = Database(postgres_url)
    migrate(made)
    with made.writing("test") as db:
        part: dict[str, Any] = {"run_id": RUN, "key": "job", "agent": "worker", "queue": "agents.worker"}
        db.add(RunRow(id=RUN, state="working"))
        db.add(AssignmentRow(id=PART, state="running", fence=1, **part))
        db.add(
            ApprovalRow(
                call_id=CALL,
                run_id=RUN,
                assignment_id=PART,
                tool="restart",
                digest="d",
                risk="high",
                expires_at=now() + timedelta(minutes=5),
            )
        )
    yield made
    made.close()


def decide(database: Database) -> str:
    def change(db: Any) -> str:
        row = decisions._decide(db, RUN, CALL, "approved", by="ann", reason="", at=now())
        decisions._requeue(db, row.assignment_id)
        decisions.audit(db, actor="ann", action="approval.approved", subject=CALL, detail={})
        return row.state

    return str(change_row(database, "decisions.decide", change))


def wait_for_a_lock(database: Database, other: Future[Any]) -> None:
    """Wait until another transaction waits for ours, or has ended without."""
    waiting = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
    with database.engine.connect() as connection:
        while not other.done() and not connection.execute(waiting).scalar_one():
            connection.rollback()


def beside(database: Database, first: Callable[[Any], object], second: Callable[[], Any]) -> Any:
    """Run `second` in a thread while the transaction of `first` is open; return what it returns."""
    with ThreadPoolExecutor(1) as pool:
        with database.writing("test") as db:
            first(db)
            other = pool.submit(second)
            wait_for_a_lock(database, other)
            record(db, StatusChange(run_id=RUN, state="working"))
        return other.result(_SECONDS)


def test_a_person_decides_while_the_worker_commits_in_the_same_part(database: Database) -> None:
    """The worker holds the assignment and will want the run: a deadlock would cost it what it was writing."""
    assert beside(database, lambda db: hold(db, PART, 1), lambda: decide(database)) == "approved"


def test_two_reconcilers_say_once_that_an_approval_expired(database: Database) -> None:
    with database.writing("test") as db:
        row = db.get_one(ApprovalRow, CALL)
        row.expires_at = now() - timedelta(seconds=1)
        db.add(row)

    def expire() -> list[ApprovalRow]:
        found: list[ApprovalRow] = change_row(database, "expire", reconcile._expired_approvals)
        return found

    def first(db: Any) -> None:
        assert len(reconcile._expired_approvals(db)) == 1

    assert beside(database, first, expire) == []


def test_a_decision_under_way_is_not_overwritten_by_the_clock(database: Database) -> None:
    with database.writing("test") as db:
        row = db.get_one(ApprovalRow, CALL)
        row.expires_at = now() - timedelta(seconds=1)
        db.add(row)

    def approve_in_time(db: Any) -> None:
        in_time = now() - timedelta(seconds=2)
        decisions._decide(db, RUN, CALL, "approved", by="ann", reason="", at=in_time)

    def expire() -> list[ApprovalRow]:
        found: list[ApprovalRow] = change_row(database, "expire", reconcile._expired_approvals)
        return found

    assert beside(database, approve_in_time, expire) == []
    with database.reading() as db:
        assert db.get_one(ApprovalRow, CALL).state == "approved"


def test_the_audit_stays_one_chain_when_two_add_to_it_at_once(database: Database) -> None:
    def add(db: Any) -> None:
        decisions.audit(db, actor="ann", action="test", subject=RUN, detail={})

    started = threading.Barrier(4)

    def in_a_transaction(_: int) -> None:
        started.wait(_SECONDS)
        for _ in range(5):
            change_row(database, "test", add)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(in_a_transaction, range(4)))
    with database.reading() as db:
        rows = db.exec(select(AuditRow).order_by(col(AuditRow.id))).all()
    assert [row.previous_hash for row in rows] == ["", *(row.hash for row in rows[:-1])]
