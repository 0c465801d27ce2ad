"""The paragraphs on what else was seen."""

from __future__ import annotations

from typing import Any

from agents.log_analysis.observed import observations, quoted
from kernel.wording import ENGLISH

WARNED = {"level": "warning", "source": "a.log", "line": 7, "template": "low on <*>"}


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


def test_the_trouble_itself_is_not_told_as_silent_and_who_fell_silent_for_good_is_told_so() -> None:
    over = {"of": "template", "name": "pool is <*>…", "told": "9 min", "from": "A", "to": "B", "open": True}
    gone = {**over, "name": "job done"}
    overview = {"silences": [over, gone], "problems": [{"template": "pool is <*> exhausted"}]}
    assert observations(overview, [], ENGLISH) == [
        "`job done` fell silent at A and stayed so to the end of the log, 9 min later."
    ]


def test_warnings_and_rare_lines_are_told_where_nothing_was_found() -> None:
    rare = {"level": "info", "source": "a.log", "line": 9, "template": "flushed"}
    overview: dict[str, Any] = {
        "events": 500,
        "warned": [{**WARNED, "count": 90, "time": "T"}],
        "rare": [{**WARNED, "count": 1}, rare],
    }
    assert observations(overview, [], ENGLISH) == [
        "Warnings, none of a known kind of failure:\n- 90 × `low on <*>`, the first at T (a.log:7)",
        "Kinds of lines that came only once or twice:\n- a.log:9  `flushed`",
    ]
    assert observations({**overview, "events": 20, "warned": []}, [], ENGLISH) == []
    assert observations({**overview, "rare_left_out": 3, "warned": []}, [], ENGLISH) == []
