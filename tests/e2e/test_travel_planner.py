"""An agent outside the package joins a running desk by one command and serves a conversation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.desk import Desk, running_desk

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def travel_desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """A desk that the travel planner's worker has joined."""
    with running_desk(tmp_path_factory.mktemp("travel"), working_dir=ROOT) as desk:
        joined = desk.run("worker", "--agent-folder", "examples/travel_planner", "--json")
        assert joined.code == 0, f"{joined.out}\n{joined.err}"
        yield desk


def ask(desk: Desk, text: str, *arguments: str, code: int = 0) -> dict[str, Any]:
    answer = desk.submit(text, *arguments)
    assert answer.code == code, f"{answer.out}\n{answer.err}\n{desk.log('coordinator')[-3000:]}"
    report: dict[str, Any] = answer.json
    assert [part["agent"] for part in report["assignments"]] == ["travel_planner"]
    assert "agents@" in report["assignments"][0]["worker"]
    return report


def test_a_conversation_with_a_worker_that_joined(travel_desk: Desk) -> None:
    first = ask(travel_desk, "plan two days in Lisbon, we like nature", "--session", "lisbon")
    assert first["planned_by"] == "card:travel_planner"
    assert first["answer"].startswith("Lisbon, 2 days:")
    assert (first["usage"]["turns"], first["usage"]["calls"]) == (3, 7)

    second = ask(travel_desk, "swap the morning sight for one with more history", "--session", "lisbon")
    assert second["usage"]["calls"] == 3
    before, after = (report["answer"].splitlines() for report in (first, second))
    assert after[0].startswith("Day 1, morning: ")
    told = [line for line in before if line not in after]
    # the first day's morning, and the way from it to the afternoon
    assert [line.split(":")[0] for line in told] == ["- Morning", "- Afternoon"]
    assert [line for line in before if line.startswith(("Day 2", "Hotel"))] == [
        line for line in after if line.startswith(("Day 2", "Hotel"))
    ]


def test_chinese_and_an_unknown_city(travel_desk: Desk) -> None:
    assert ask(travel_desk, "成都三天怎么玩")["answer"].startswith("成都3天行程：")
    unknown = ask(travel_desk, "plan two days in Atlantis", code=1)
    assert "I know nothing about “Atlantis”" in unknown["answer"]
    assert [note["what"] for note in unknown["not_done"]] == ["a travel plan"]
    assert unknown["usage"]["calls"] == 0
