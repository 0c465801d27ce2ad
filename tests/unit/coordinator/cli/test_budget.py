"""What `nightdesk budget` shows of the rows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from coordinator.cli.app import app
from kernel.clock import now
from kernel.database import Database
from kernel.ledgers import SpendRow
from kernel.schema import migrate
from kernel.settings import Settings
from kernel.spending import Spending


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    database = Database(Settings(data_dir=tmp_path).database)
    migrate(database)
    today = now().date().isoformat()
    rows = [
        SpendRow(
            key="a",
            run_id="r",
            namespace="payments",
            day=today,
            settled=True,
            model_calls=1,
            tokens=120,
            cost=0.5,
        ),
        SpendRow(key="b", run_id="r", namespace="payments", day=today, model_calls=1, tokens=900),
        SpendRow(key="c", run_id="s", namespace="支付", day=today, settled=True, tool_calls=1),
        SpendRow(key="d", run_id="s", namespace="payments", day="2020-01-01", settled=True, model_calls=9),
    ]
    with database.writing("test") as session:
        session.add_all(rows)
    Spending(database).pass_by()
    database.close()
    monkeypatch.setenv("NIGHTDESK_REDIS_URL", "redis://127.0.0.1:1/0")  # names a desk; nobody asks it
    monkeypatch.setenv("NIGHTDESK_DAY_BUDGET", '{"model_calls": 50}')
    monkeypatch.setenv("NIGHTDESK_NAMESPACE_BUDGETS", '{"payments": {"cost": 2}}')
    return tmp_path


def test_json_has_every_scope_of_today(folder: Path) -> None:
    answer = CliRunner().invoke(app, ["budget", "--data-dir", str(folder), "--json"])
    assert answer.exit_code == 0, answer.output
    day, payments, chinese = json.loads(answer.stdout)["scopes"]
    assert (day["scope"], day["spent"]["model_calls"], day["limit"]["model_calls"]) == ("day", 2, 50)
    assert (payments["namespace"], payments["spent"]["cost"], payments["limit"]["cost"]) == (
        "payments",
        0.5,
        2,
    )
    assert (payments["spent"]["tokens"], payments["reserved"]["tokens"]) == (1020, 900)
    assert (chinese["namespace"], chinese["spent"]["tool_calls"]) == ("支付", 1)


def test_one_namespace_for_people(folder: Path) -> None:
    answer = CliRunner().invoke(app, ["budget", "--data-dir", str(folder), "--namespace", "payments"])
    assert answer.exit_code == 0, answer.output
    assert "0.5 / 2" in answer.stdout
    assert "whole desk" not in answer.stdout


def test_without_a_database_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTDESK_REDIS_URL", "redis://127.0.0.1:1/0")
    answer = CliRunner().invoke(app, ["budget", "--data-dir", str(tmp_path)])
    assert answer.exit_code == 1
    assert "nightdesk migrate" in answer.output
