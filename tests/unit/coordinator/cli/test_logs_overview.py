"""The words of the first look: what was found is not called nothing, and severe lines are told from harmless ones."""

from __future__ import annotations

import pytest

from coordinator.cli.logs_overview import _nothing, _turn


@pytest.mark.parametrize(
    ("levels", "told"),
    [
        ({"info": 9}, "no line of level error, and none that names a failure."),
        ({"info": 9, "warning": 2}, "no line of level error; 2 lines warn"),
        ({"warning": 1}, "no line of level error; 1 line warns"),
        ({"error": 1, "warning": 4}, "what the 1 line of level error or worse"),
    ],
)
def test_no_problem_says_what_was_seen(levels: dict[str, int], told: str) -> None:
    assert told in _nothing(levels)


def test_a_change_of_a_severe_kind_of_line_says_so() -> None:
    row = {"time": "", "direction": "stop", "template": "GET <*> <*>"}
    assert _turn({**row, "level": "error"}, True).endswith("stop   error: GET <*> <*>")
    assert _turn({**row, "level": "info"}, True).endswith("stop   GET <*> <*>")
