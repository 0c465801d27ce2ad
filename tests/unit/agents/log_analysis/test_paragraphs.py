"""The paragraphs of answers."""

from __future__ import annotations

import pytest

from agents.log_analysis.paragraphs import harmless, observations, quoted
from kernel.wording import ENGLISH


@pytest.mark.parametrize(
    ("quote", "verdict"),
    [
        ('{"status": "success", "error": null}', True),
        ("check finished: 0 errors, error_rate=0.0", True),
        ("sync done failed=0", True),
        ("finished without errors", True),
        ('{"error": null, "msg": "connection refused"}', False),
        ("ERROR disk full", False),
        ("error=12", False),
        ("all fine", False),
    ],
)
def test_lines_that_say_that_nothing_failed(quote: str, verdict: bool) -> None:
    assert harmless(quote) is verdict


def test_a_quote_is_code() -> None:
    assert quoted({"source": "a.log", "line": 3, "quote": "run `x`"}) == "- a.log:3  `run 'x'`"


def test_silences_and_restarts_are_told() -> None:
    silence = {"of": "service", "name": "db", "told": "20 min", "from": "A", "to": "B"}
    restart = {"source": "a.log", "line": 3, "quote": "server started"}
    told = observations({"silences": [silence], "restarts": [restart]}, [], ENGLISH)
    assert told == [
        "`db` is silent for 20 min, from A to B.",
        "Starts and restarts:\n- a.log:3  `server started`",
    ]


def test_stamps_that_are_not_believed_are_told() -> None:
    told = observations({"window": {"from": "", "to": "", "strays": 2}}, [], ENGLISH)
    assert "2 lines are stamped far from all others" in told[0]
