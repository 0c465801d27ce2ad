from __future__ import annotations

from typing import Any

from agents.log_analysis.judging.causes import certainty, rank
from agents.log_analysis.judging.titles import phrase


def problem(number: int, **more: Any) -> dict[str, Any]:
    row = {
        "id": number,
        "kind": "timeout",
        "label": "Timeout",
        "level": "error",
        "count": 1,
        "score": 1.0,
        "message": f"query {number} timed out",
        "template": "query <*> timed out",
        "services": ["api"],
        "first": {
            "source": "a.log",
            "line": number,
            "quote": f"line {number}",
            "time": f"2026-01-01T00:00:0{number}.000Z",
        },
    }
    return row | more


def overview(*problems: dict[str, Any], **more: Any) -> dict[str, Any]:
    window = {"from": "2026-01-01T00:00:00.000Z", "to": "2026-01-01T01:00:00.000Z"}
    return {"window": window, "problems": list(problems), **more}


def test_no_problem_no_finding() -> None:
    assert rank(overview()) == []


def test_problems_of_one_kind_and_service_are_one_finding() -> None:
    findings = rank(
        overview(
            problem(1, message="pool slow"),
            problem(2, message="pool exhausted (100/100)", score=0.9, count=20),
        )
    )
    assert len(findings) == 1
    assert "100/100" in findings[0].title
    assert "21 lines tell of it" in findings[0].detail
    assert [e.line for e in findings[0].evidence] == [1, 2]


def test_unknown_errors_stay_apart() -> None:
    rows = [problem(n, kind="error", label="Errors", score=0.8 - n / 10) for n in (1, 2, 3)]
    assert [f.key for f in rank(overview(*rows))] == ["error"] * 3


def test_a_change_shortly_before_is_told_and_cited_and_a_later_one_is_not() -> None:
    before = {"source": "a.log", "line": 7, "quote": "deployed 1.5.0", "time": "2026-01-01T00:00:00.500Z"}
    after = {"source": "a.log", "line": 9, "quote": "deployed 1.6.0", "time": "2026-01-01T00:00:08.000Z"}
    finding = rank(overview(problem(2), changes=[after, before]))[0]
    assert "a.log:7" in finding.detail
    assert [e.line for e in finding.evidence] == [2, 7]


def test_a_title_is_cut_at_a_word() -> None:
    title = rank(overview(problem(1, message="the query timed out again " * 20)))[0].title
    assert len(title) <= 200
    assert title.removesuffix("…").rsplit(" ", 1)[-1] in ("the", "query", "timed", "out", "again")


def test_the_detail_ends_with_what_a_memory_keeps() -> None:
    detail = rank(overview(problem(1, services=["check out!", "api"])))[0].detail
    assert detail.endswith('Service: api. Pattern: "timed out".')


def test_a_phrase_stands_in_one_line_as_written() -> None:
    row = problem(1, template='request <*> failed | pool.Exhausted: no connection left "x" <*>')
    assert phrase(row) == "pool.Exhausted: no connection left"


def test_a_message_that_tells_the_kind_is_a_phrase_before_its_exception() -> None:
    template = "order <*>: [api] timed out after <*> | lib.db.VeryLongNamedTimeoutError: timed out"
    assert phrase(problem(1, template=template)) == "api] timed out after"


def test_scores_stay_between_0_and_1() -> None:
    findings = rank(overview(problem(1, score=9.0), problem(2, kind="crash", score=-3.0)))
    assert [f.score for f in findings] == [1.0]


def test_a_score_is_the_same_wherever_it_is_shown() -> None:
    assert [certainty(weights) for weights in (-0.2, 0.725, 2.0)] == [0.0, 0.5, 1.0]
    assert rank(overview(problem(1, score=certainty(1.386))))[0].score == 0.96
