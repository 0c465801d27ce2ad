"""The calls that questions need."""

from __future__ import annotations

import re

import pytest

from agents.log_analysis.asked import calls_for, pattern_of
from agents.log_analysis.questions import Question
from agents.log_analysis.spans import Span

OVERVIEW = {
    "window": {"from": "2026-01-01T00:00:00.000Z", "to": "2026-01-01T08:00:00.000Z"},
    "onset": "2026-01-01T01:00:00.000Z",
}
NONE = Span()


@pytest.mark.parametrize(
    ("term", "text", "found"),
    [
        ("failed logins", "login failed for ann", True),
        ("failed logins", "Failed to login", True),
        ("timeouts", "request timeout", True),
        ("OutOfMemoryError", "java.lang.OutOfMemoryError: heap", True),
        ("a.b", "axb", False),
        ("超时", "连接超时", True),
        ("failed logins", "job failed", False),
    ],
)
def test_patterns(term: str, text: str, found: bool) -> None:
    assert bool(re.search(pattern_of(term), text, re.IGNORECASE)) is found


def test_a_minute_is_too_fine_for_eight_hours_and_fits_a_part_of_them() -> None:
    question = Question("rate", level="error", bucket="1m")
    (call,) = calls_for(question, NONE, OVERVIEW)
    assert call.arguments == {"level": "error", "bucket": "auto"}
    span = Span("2026-01-01T07:30:00.000Z")
    (call,) = calls_for(question, span, OVERVIEW)
    assert call.arguments == {"level": "error", "bucket": "1m", "since": span.since}


@pytest.mark.parametrize(
    ("question", "tools"),
    [
        (Question("most", entity="ip"), ["entities"]),
        (Question("count", "x", exact=True), ["search"]),
        (Question("at"), ["search", "search"]),
        (Question("changed"), ["compare"]),
        (Question("start"), []),
        (Question("start", "x"), ["search"]),
        (Question("recovered"), []),
        (Question("top"), []),
    ],
)
def test_calls(question: Question, tools: list[str]) -> None:
    assert [call.tool for call in calls_for(question, NONE, OVERVIEW)] == tools


def test_a_quoted_term_is_looked_for_as_it_stands() -> None:
    (call,) = calls_for(Question("count", "a (b)", exact=True), NONE, OVERVIEW)
    assert re.search(str(call.arguments["pattern"]), "x a (b) y")
