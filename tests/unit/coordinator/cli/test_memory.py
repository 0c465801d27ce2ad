"""The table of memories: why each was recalled, and how old it is."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from rich.console import Console

from coordinator.cli.memory import _show, moment, sought
from coordinator.cli.memory_table import how_sure, table, why_recalled
from kernel.clock import now
from kernel.errors import Correctable

HIT = {
    "id": "m1",
    "kind": "fact",
    "score": 0.75,
    "age_days": 0.125,
    "text": "the [red]pool[/]",
    "tier": "high",
    "certified": True,
    "source": "run:7",
    "explain": {"similarity": 0.4, "importance": 0.1, "recency": 0.05, "keywords": 0.2},
}


def test_the_four_parts_are_said_shortly() -> None:
    said = "similarity 0.40, keywords 0.20, importance 0.10, recency 0.05"
    explain = {"importance": 0.1, "keywords": 0.2, "recency": 0.05, "similarity": 0.4}
    assert why_recalled(explain) == said, "in one order, whatever that of the answer"
    assert why_recalled({"archived": 1.0, **explain}) == f"{said}, archived 1.00"


def test_a_recall_shows_why_and_a_list_does_not(capsys: pytest.CaptureFixture[str]) -> None:
    _show([HIT], as_json=False)
    text = capsys.readouterr().out
    said = (
        "similarity 0.40",
        "keywords 0.20",
        "0.75",
        "3 h",
        "the [red]pool[/]",
        "high",
        "certified",
        "from run:7",
    )
    for part in said:
        assert part in text
    _show({"memories": [HIT | {"explain": {}, "age_days": 0.0}]}, as_json=False)
    text = capsys.readouterr().out
    assert "similarity" not in text
    assert "just now" in text


def lines(hits: list[dict[str, Any]], width: int) -> list[str]:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(table(hits, width))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


LISTED = {
    "id": "994998f7-fb1c-4ff6-8000-000000000001",
    "kind": "preference",
    "text": "ERR_123 of the payments gateway means that the pool of connections is exhausted",
    "status": "active",
    "age_days": 3.0,
}


def test_at_80_columns_an_id_is_whole_enough_to_copy_and_a_text_keeps_its_words() -> None:
    hit = {**LISTED, **{name: HIT[name] for name in ("score", "tier", "certified", "explain", "source")}}
    shown = lines([hit | {"user": "alice"}], 80)
    assert all(len(line) <= 80 for line in shown)
    assert "994998f7" in shown[2].split(), shown
    for words in ("ERR_123 of the payments", "high 0.75", "alice", "from run:7", "3 d"):
        assert any(words in line for line in shown), (words, shown)


def test_a_list_marks_what_holds_no_more_and_whose_a_memory_is_and_has_no_empty_column() -> None:
    old = {**LISTED, "valid_to": "2026-11-03T12:00:00+00:00"}
    text = "\n".join(lines([LISTED, old, {**LISTED, "status": "archived"}], 80))
    assert text.count("until 2026-11-0") == 1
    assert text.count("archived") == 1
    assert not {"score", "sure", "user", "age"} & set(text.split("\n", 1)[0].split()), text
    assert "user" in lines([LISTED, {**LISTED, "user": "alice"}], 80)[0]
    assert "age" in lines([LISTED], 120)[0]


@pytest.mark.parametrize("text", ["", " ", "\n"])
def test_an_empty_question_is_refused(text: str) -> None:
    with pytest.raises(Correctable, match="nothing to look for"):
        sought(text)


def test_what_is_not_certified_is_not_called_so() -> None:
    assert how_sure(HIT) == "high 0.75\ncertified"
    assert how_sure(HIT | {"certified": False}) == "high 0.75"


def test_a_page_says_how_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    _show({"memories": [HIT | {"explain": {}}], "total": 70, "next": 12}, as_json=False)
    assert "70 in all; go on with --after 12" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("told", "read"),
    [
        ("2026-11-02T10:00+08:00", "2026-11-02T10:00:00+08:00"),
        ("2026-11-02T02:00Z", "2026-11-02T02:00:00+00:00"),
        (" 2026-11-02 10:00:30+0530", "2026-11-02T10:00:30+05:30"),
    ],
)
def test_a_moment_with_its_time_zone_is_read(told: str, read: str) -> None:
    assert moment(told) == read


@pytest.mark.parametrize(
    "told", ["10:20", "yesterday", "yesterday 10:20", "-1h", "2026-11-02T10:00", "2026-11-02"]
)
def test_a_moment_is_read_as_the_commands_of_logs_read_it(told: str) -> None:
    at = datetime.fromisoformat(moment(told))
    assert at.tzinfo is not None
    assert at <= max(now(), datetime(2026, 11, 2, 12, tzinfo=UTC) + timedelta(days=1))


@pytest.mark.parametrize("told", ["1793000000", "", " ", "the day before"])
def test_what_is_no_moment_is_refused_with_the_form_to_use(told: str) -> None:
    with pytest.raises(Correctable) as refused:
        moment(told)
    assert "isoformat" not in refused.value.why
    assert "+08:00" in refused.value.next_step


def test_preferences_that_hold_whatever_is_asked_stand_apart(capsys: pytest.CaptureFixture[str]) -> None:
    parts = {"similarity": 0.0, "keywords": 0.0, "importance": 0.2, "recency": 0.1}
    always = HIT | {"id": "w1", "kind": "preference", "text": "keep answers short", "explain": parts}
    _show([HIT, always], as_json=False)
    found, held = capsys.readouterr().out.split("Preferences that always hold")
    assert ("the [red]pool[/]" in found, "keep answers short" in found) == (True, False)
    assert "keep answers short" in held
    assert "importance" not in held
    _show([always], as_json=False)
    assert capsys.readouterr().out.startswith("no memories")
    about = always | {"explain": parts | {"keywords": 0.1}}
    _show([about], as_json=False)
    assert "Preferences that always hold" not in capsys.readouterr().out
