"""Whether a change that a request suspects can be the cause."""

from __future__ import annotations

from typing import Any

import pytest

from agents.log_analysis.charges import charge
from agents.log_analysis.judging.reasons import change_after
from kernel.wording import ENGLISH


def spot(line: int, minute: int, quote: str = "config reloaded") -> dict[str, Any]:
    return {"source": "a.log", "line": line, "time": f"2026-01-01T10:{minute:02}:00.000Z", "quote": quote}


def overview(*changes: dict[str, Any]) -> dict[str, Any]:
    row = {"id": 1, "kind": "error", "score": 1.0, "count": 9, "first": spot(20, 20), "last": spot(30, 30)}
    return {"problems": [row], "changes": list(changes)}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ([], "Not shown: "),
        ([spot(40, 40)], "Hardly: the trouble began at 2026-01-01T10:20:00.000Z"),
        (
            [spot(10, 18), spot(40, 31)],
            "Possible, not proven: a change came 2 min before the trouble began; ",
        ),
        ([spot(9, 10, "deploy v2"), spot(10, 18)], "Possible, not proven: a change came 2 min before"),
    ],
)
def test_a_suspected_change_is_never_more_than_possible(changes: list[dict[str, Any]], told: str) -> None:
    for request in (
        "did the config change cause the outage?",
        "was it caused by the new config?",
        "是配置导致的吗？",
    ):
        assert charge(request, overview(*changes), ENGLISH).startswith(told), request


def test_the_change_that_was_named_is_judged_and_what_ended_the_trouble_told() -> None:
    found = overview(spot(9, 10, "deploy v2"), spot(10, 18), spot(31, 31, "rollback of deploy v2"))
    told = charge("is the deploy to blame?", found, ENGLISH)
    assert "a change came 10 min before" in told
    assert "Another came 60 s after its last line." in told
    assert told.endswith("- a.log:31  `rollback of deploy v2`")
    assert change_after(found["problems"], overview(spot(31, 59))) == {}


@pytest.mark.parametrize(
    "request_text", ["what is the cause of the outage?", "why did it break?", "did it recover?"]
)
def test_other_questions_suspect_no_change(request_text: str) -> None:
    assert charge(request_text, overview(spot(10, 18)), ENGLISH) == ""
