"""The table of memories: why each was recalled, and how old it is."""

from __future__ import annotations

import pytest

from coordinator.cli.memory import _show, how_sure, moment, why_recalled
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
    assert why_recalled(HIT["explain"]).splitlines() == [  # type: ignore[arg-type] # a literal of mixed values
        "similarity 0.40",
        "importance 0.10",
        "recency 0.05",
        "keywords 0.20",
    ]


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
    assert "why" not in text
    assert "just now" in text


def test_what_is_not_certified_is_not_called_so() -> None:
    assert how_sure(HIT) == "high\ncertified"
    assert how_sure(HIT | {"certified": False}) == "high"


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


@pytest.mark.parametrize("told", ["2026-11-02T10:00", "2026-11-02", "yesterday", "1793000000"])
def test_a_moment_without_one_is_refused_with_the_form_to_use(told: str) -> None:
    with pytest.raises(Correctable) as refused:
        moment(told)
    assert "2026-11-02T10:00+08:00" in refused.value.next_step
