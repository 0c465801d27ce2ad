"""Three independent assignments run side by side; one that fails leaves the two others' outcomes. Bad playbooks are said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.desk import Desk, running_desk

pytestmark = pytest.mark.e2e

SLEEPER = Path(__file__).parents[1] / "support" / "sleeper"
PLAYBOOK = """
name: default
priority: 10
assignments:
  - {key: a, agent: sleeper, goal: a}
  - {key: b, agent: sleeper, goal: b}
  - {key: c, agent: sleeper, goal: fail}
"""


def test_three_of_two_seconds_end_in_under_four_and_one_failure_keeps_two_outcomes(tmp_path: Path) -> None:
    books = tmp_path / "books"
    books.mkdir()
    (books / "default.yaml").write_text(PLAYBOOK)
    environment = {
        "NIGHTDESK_AGENT_FOLDERS": json.dumps([str(SLEEPER)]),
        "NIGHTDESK_PLAYBOOKS_DIR": str(books),
    }
    with running_desk(tmp_path / "d", environment=environment) as desk:
        report = desk.submit("go").json
        assert report["state"] == "succeeded"
        assert report["timings"]["total_seconds"] < 4
        assert report["answer"].split("\n\n") == ["a: rested", "b: rested"]
        assert [(a["key"], a["state"]) for a in report["assignments"]] == [
            ("a", "done"),
            ("b", "done"),
            ("c", "failed"),
        ]
        assert any("this part is broken" in n["why"] for n in report["not_done"])


def test_a_bad_playbook_stops_the_desk_with_file_and_reason(tmp_path: Path) -> None:
    """Each kind of bad playbook is told by the loader (tests/unit/coordinator/test_playbooks); `up` shows what it says."""
    books = tmp_path / "books"
    books.mkdir()
    (books / "default.yaml").write_text(PLAYBOOK.replace("key: b", "key: a"))
    desk = Desk(tmp_path / "desk", {"NIGHTDESK_PLAYBOOKS_DIR": str(books)}, tmp_path)
    answer = desk.run("up", "--detach")
    assert answer.code != 0
    assert "default.yaml" in answer.err
    assert "same key" in answer.err
