"""Runs and calls found by what people type, and reports of runs that are still open."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.cli import history
from kernel.clock import now
from kernel.database import Database
from kernel.errors import Correctable, Fatal
from kernel.records import AssignmentRow, CallRow, RunRow
from kernel.schema import migrate
from kernel.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = Settings(data_dir=tmp_path)
    database = Database(made.database)
    migrate(database)
    with database.writing("test") as session:
        for id_, state in (("aaa-1", "working"), ("aaa-2", "failed"), ("b%b-1", "succeeded")):
            session.add(RunRow(id=id_, state=state, request={"text": f"why {id_}"}, created_at=now()))
        session.add(
            AssignmentRow(
                id="aaa-1:x",
                run_id="aaa-1",
                key="x",
                agent="log_analysis",
                queue="q",
                state="running",
                worker="w",
                fence=1,
            )
        )
        session.add(
            CallRow(
                id="aaa-1:x:1.0",
                run_id="aaa-1",
                assignment_id="aaa-1:x",
                turn=1,
                position=0,
                tool="t",
                effect="read",
                key="k",
            )
        )
    database.close()
    return made


def test_the_beginning_of_an_id_is_enough_where_it_is_the_only_one(settings: Settings) -> None:
    with history.reading(settings) as session:
        assert history.find_run(session, "b%").id == "b%b-1"
        assert history.find_run(session, "aaa-1").id == "aaa-1"
        with pytest.raises(Correctable, match="several") as several:
            history.find_run(session, "aaa")
        assert "aaa-1" in several.value.why
        for nobody in ("zzz", "%", "_"):
            with pytest.raises(Correctable, match="no run"):
                history.find_run(session, nobody)


def test_a_call_is_found_by_its_short_id(settings: Settings) -> None:
    with history.reading(settings) as session:
        assert history.find_call(session, "aaa-1", "1.0").id == "aaa-1:x:1.0"
        assert history.find_call(session, "aaa-1", "aaa-1:x:1.0").id == "aaa-1:x:1.0"
        for nobody in ("0", "2.0", "%"):
            with pytest.raises(Correctable, match="no call"):
                history.find_call(session, "aaa-1", nobody)


def test_an_open_run_has_a_report_in_its_present_state(settings: Settings) -> None:
    with history.reading(settings) as session:
        report = history.report_of(session, history.find_run(session, "aaa-1"))
    assert (report.state, report.not_done) == ("working", [])
    assert report.answer == "No answer yet: x is running, in t (1.0)."
    assert [(a.agent, a.state, a.worker) for a in report.assignments] == [("log_analysis", "running", "w")]


def test_runs_are_listed_newest_first_and_by_state(settings: Settings) -> None:
    with history.reading(settings) as session:
        assert [row["run_id"] for row in history.recent(session, state=None, limit=2)] == ["b%b-1", "aaa-2"]
        assert [row["run_id"] for row in history.recent(session, state="failed", limit=9)] == ["aaa-2"]


def test_a_folder_without_a_schema_is_said(tmp_path: Path) -> None:
    with (
        pytest.raises(Fatal, match="no database yet") as error,
        history.reading(Settings(data_dir=tmp_path)) as session,
    ):
        history.recent(session, state=None, limit=1)
    assert "nightdesk up" in error.value.next_step
