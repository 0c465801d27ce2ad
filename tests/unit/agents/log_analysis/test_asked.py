"""The calls that questions need."""

from __future__ import annotations

import re

import pytest

from agents.log_analysis.asked import calls_apart, calls_for, narrowed
from agents.log_analysis.questions import Question
from agents.log_analysis.spans import Span
from agents.runtime.spec import DoneCall
from kernel.states import CallState

OVERVIEW = {
    "window": {"from": "2026-01-01T00:00:00.000Z", "to": "2026-01-01T08:00:00.000Z"},
    "onset": "2026-01-01T01:00:00.000Z",
}
NONE = Span()


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
        (Question("top"), ["templates"]),
        (Question("last", "x"), ["search"]),
        (Question("exists", "x"), ["search"]),
        (Question("most", entity="host"), ["entities", "entities"]),
    ],
)
def test_calls(question: Question, tools: list[str]) -> None:
    assert [call.tool for call in calls_for(question, NONE, OVERVIEW)] == tools


def test_a_quoted_term_is_looked_for_as_it_stands() -> None:
    (call,) = calls_for(Question("count", "a (b)", exact=True), NONE, OVERVIEW)
    assert re.search(str(call.arguments["pattern"]), "x a (b) y")


def test_words_that_no_line_holds_together_are_looked_for_apart_and_the_absent_left_out() -> None:
    question = Question("count", "failed unicorns root", "error")
    calls = calls_apart(question, NONE)
    assert [re.search(str(c.arguments["pattern"]), "unicorn failing") is not None for c in calls] == [
        True,
        True,
        False,
    ]
    done = [
        DoneCall(id=str(n), tool="search", arguments={}, state=CallState.done, value={"total": total})
        for n, total in enumerate([3, 0, 2])
    ]
    assert narrowed(question, done) == Question("count", "failed root")
    assert calls_apart(Question("count", "a b", exact=True), NONE) == []
