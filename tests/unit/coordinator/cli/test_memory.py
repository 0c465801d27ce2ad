"""The table of memories: why each was recalled, and how old it is."""

from __future__ import annotations

import pytest

from coordinator.cli.memory import _show, why_recalled

HIT = {
    "id": "m1",
    "kind": "fact",
    "score": 0.75,
    "age_days": 0.125,
    "text": "the [red]pool[/]",
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
    for part in ("similarity 0.40", "keywords 0.20", "0.75", "3 h", "the [red]pool[/]"):
        assert part in text
    _show({"memories": [HIT | {"explain": {}, "age_days": 0.0}]}, as_json=False)
    text = capsys.readouterr().out
    assert "why" not in text
    assert "just now" in text
