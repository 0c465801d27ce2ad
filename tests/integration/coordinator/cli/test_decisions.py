"""Waiting for a person, and deciding: over a real Redis and rows, with nobody else at work."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from kernel.clock import now
from kernel.control import connect
from kernel.database import Database
from kernel.events import ApprovalRequested, StatusChange
from kernel.records import ApprovalRow, AssignmentRow, CallRow, RunRow
from kernel.schema import migrate
from kernel.settings import Settings
from kernel.streams import EventLog
from tests.support.desk import Desk

pytestmark = pytest.mark.integration

RUN = "0f0f0f0f-1111-4222-8333-444444444444"
PART = f"{RUN}:act"
CALL = f"{PART}:1.0"
ARGV = ["svc", "restart", "a b"]


def waiting_run(folder: Path) -> None:
    database = Database(Settings(data_dir=folder).database)
    migrate(database)
    with database.writing("test") as session:
        session.add(RunRow(id=RUN, state="waiting", request={"text": "restart it"}))
        session.add(
            AssignmentRow(
                id=PART,
                run_id=RUN,
                key="act",
                agent="action_execution",
                queue="agents.action_execution",
                state="waiting",
                fence=1,
            )
        )
        session.add(
            CallRow(
                id=CALL,
                run_id=RUN,
                assignment_id=PART,
                turn=1,
                position=0,
                tool="restart",
                effect="unsafe",
                key="k",
                state="waiting",
            )
        )
        session.add(
            ApprovalRow(
                call_id=CALL,
                run_id=RUN,
                assignment_id=PART,
                tool="restart",
                argv=ARGV,
                digest="d" * 64,
                risk="high",
                expires_at=now() + timedelta(minutes=5),
            )
        )
    database.close()


def announce(url: str) -> None:
    async def append() -> None:
        redis = connect(url)
        events = EventLog(redis, length=100, ttl_seconds=60)
        await events.say(StatusChange(run_id=RUN, state="waiting"))
        await events.say(
            ApprovalRequested(
                run_id=RUN,
                assignment_id=PART,
                agent="action_execution",
                call_id=CALL,
                tool="restart",
                argv=ARGV,
                digest="d" * 64,
                risk="high",
                expires_at="",
            )
        )
        await redis.aclose()

    asyncio.run(append())


@pytest.fixture
def desk(tmp_path: Path, redis_url: str) -> Desk:
    made = Desk(tmp_path / "desk", {"NIGHTDESK_REDIS_URL": redis_url})
    made.data_dir.mkdir()
    waiting_run(made.data_dir)
    announce(redis_url)
    return made


def approval(desk: Desk) -> tuple[str, str, str]:
    database = Database(Settings(data_dir=desk.data_dir).database)
    with database.reading() as session:
        row = session.get(ApprovalRow, CALL)
        part = session.get(AssignmentRow, PART)
    database.close()
    assert row is not None
    assert part is not None
    return row.state, row.reason, part.state


def test_without_a_terminal_a_waiting_run_ends_the_wait_with_four_and_the_exact_command(desk: Desk) -> None:
    answer = desk.run("watch", RUN[:6])
    assert answer.code == 4, answer.err
    assert repr(ARGV) in answer.err
    assert "d" * 64 in answer.err
    assert f"nightdesk approve {RUN} 1.0" in answer.err
    as_json = desk.run("watch", RUN, "--json")
    assert as_json.code == 4
    assert [event["type"] for event in as_json.json["events"]] == ["status_change", "approval_requested"]
    assert f"nightdesk approve {RUN} 1.0" in desk.run("show", RUN).out


def test_approving_once_is_all_there_is(desk: Desk) -> None:
    first = desk.run("approve", RUN[:6], "1.0", "--json")
    assert first.code == 0, first.out
    assert first.json == {"run_id": RUN, "call_id": CALL, "decision": "approved"}
    assert approval(desk) == ("approved", "", "queued")
    again = desk.run("deny", RUN, "1.0")
    assert again.code == 1
    assert "already approved" in again.err


def test_denying_keeps_the_reason(desk: Desk) -> None:
    assert desk.run("deny", RUN, "1.0", "--reason", "不要 now").code == 0
    assert approval(desk)[:2] == ("denied", "不要 now")


def test_cancelling_stops_the_run_and_unknown_ids_are_the_callers(desk: Desk) -> None:
    assert desk.run("cancel", RUN[:6]).code == 0
    database = Database(Settings(data_dir=desk.data_dir).database)
    with database.reading() as session:
        run = session.get(RunRow, RUN)
    database.close()
    assert run is not None
    assert run.stop == "cancelled"
    for arguments in (("approve", "zzz", "1.0"), ("approve", RUN, "9.9"), ("cancel", "zzz")):
        assert desk.run(*arguments).code == 2
