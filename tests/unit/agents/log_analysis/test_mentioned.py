"""The names in a request: which are looked up, which the log lacks, and the lines of an id."""

from __future__ import annotations

import pytest

from agents.log_analysis.mentioned import absent, lines_of_ids, lookups, names_of, premise
from agents.log_analysis.spans import Span
from agents.runtime.spec import DoneCall
from kernel.states import CallState
from kernel.wording import ENGLISH


@pytest.mark.parametrize(
    ("request_text", "names"),
    [
        ("Why did order 7734120 not ship?", ["7734120", "order"]),
        ("why does checkout stammer, and did it limp on?", ["checkout"]),
        ("why is the new ledger stammering?", ["ledger"]),
        ("Why did payments crash?", ["payments"]),
        ("Use the Splunk tool and tell me why MySQL crashed", ["Splunk", "MySQL"]),
        ("read /var/log/mysql/error.log", ["/var/log/mysql/error.log"]),
        ("Why is the service down? What is wrong with the servers?", []),
        ("Which host is bad?", []),
        ("Was there an outage, are there problems or errors?", []),
        ("worker-7 为什么起不来？", ["worker-7"]),
        ("为什么超时？", []),
        ("what happened at 2026-11-28T10:20:00Z", []),
    ],
)
def test_names(request_text: str, names: list[str]) -> None:
    assert names_of(request_text) == names


def calls(request: str, *totals: int) -> list[DoneCall]:
    hits = [{"source": "a.log", "line": n, "quote": f"INFO line {n}"} for n in range(1, 3)]
    return [
        DoneCall(
            id=str(n),
            tool="search",
            arguments=one.arguments,
            state=CallState.done,
            value={"total": total, "hits": hits[:total]},
        )
        for n, (one, total) in enumerate(zip(lookups(request), totals, strict=True))
    ]


def test_what_no_line_holds_is_said_and_that_the_cause_is_of_something_else() -> None:
    request = "why did payments fail?"
    assert absent(request, calls(request, 0), "", ENGLISH, found=False) == "No line holds `payments`."
    assert absent(request, calls(request, 0), "", ENGLISH, found=True) == (
        "No line holds `payments`; this is what the log does tell of:"
    )
    assert absent(request, calls(request, 3), "", ENGLISH, found=True) == ""


def test_a_name_that_the_answer_has_is_not_missed() -> None:
    request = "why did the health probes fail?"
    told = "A health probe fails: Readiness check failed"
    assert absent(request, calls(request, 0), told, ENGLISH, found=True) == ""


def test_the_lines_of_an_id_are_quoted_where_they_are_few() -> None:
    request = "why did 7734120 fail?"
    assert lines_of_ids(request, calls(request, 2, 2), ENGLISH) == (
        "Lines with `7734120` (2 of 2):\n- a.log:1  `INFO line 1`\n- a.log:2  `INFO line 2`"
    )
    assert lines_of_ids(request, calls(request, 900, 900), ENGLISH) == ""


LEVELS = {"levels": {"info": 90, "error": 9}}


def test_that_nothing_is_wrong_with_what_is_named_is_said_of_logs_that_grade_errors() -> None:
    request = "why did web-3 fail?"
    none = "None of the 40 lines with `web-3` is of level error or worse."
    assert premise(request, calls(request, 40, 0), LEVELS, ENGLISH) == none
    assert premise(request, calls(request, 40, 7), LEVELS, ENGLISH) == ""
    assert premise(request, calls(request, 0, 0), LEVELS, ENGLISH) == ""
    assert premise(request, calls(request, 40, 0), {"levels": {"info": 99}}, ENGLISH) == ""


def test_what_is_asked_to_be_affected_is_told_by_its_errors() -> None:
    request = "is web-3 affected?"
    found = calls(request, 40, 7)
    (found[1].value or {})["first"] = {"time": "2026-01-01T10:00:00Z", "source": "a.log", "line": 5}
    assert premise(request, found, LEVELS, ENGLISH) == (
        "7 of the 40 lines with `web-3` are of level error or worse, first at 2026-01-01T10:00:00Z (a.log:5)."
    )


def test_a_moment_without_errors_is_told() -> None:
    span = Span("2026-01-01T10:04:00Z", "2026-01-01T10:06:00Z", "2026-01-01T10:05:00Z")
    request = "what broke at 10:05?"
    done = [
        DoneCall(id="1", tool="search", arguments=one.arguments, state=CallState.done, value={"total": 0})
        for one in lookups(request, span)
    ]
    told = "From 2026-01-01T10:04:00Z to 2026-01-01T10:06:00Z no line is of level error or worse."
    assert premise(request, done, LEVELS, ENGLISH) == told


def test_parts_of_a_system_are_looked_up_in_a_calm_log() -> None:
    request = "why is the database down?"
    assert (lookups(request), len(lookups(request, calm=True))) == ([], 1)
