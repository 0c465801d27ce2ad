from __future__ import annotations

import re
from typing import Any

import pytest

from agents.log_analysis.remembered import directed_pattern
from agents.log_analysis.routine import asked_term, routine
from agents.runtime.spec import DoneCall, DoneTurn, TurnView
from kernel.contracts import MemoryHit, Source, Work
from kernel.states import CallState

TOOLS = ["overview", "search", "context", "histogram", "compare"]
PROBLEM = {
    "id": 1, "kind": "timeout", "label": "Timeout", "level": "error", "count": 1, "score": 1.2, "message": "timed out",
    "template": "timed out", "services": [],
    "first": {"source": "a.log", "line": 5, "quote": "ERROR timed out", "time": "2026-01-01T00:00:01.000Z"},
}  # fmt: skip
OVERVIEW = {
    "window": {"from": "2026-01-01T00:00:00.000Z", "to": "2026-01-01T01:00:00.000Z"},
    "onset": "2026-01-01T00:00:01.000Z", "problems": [PROBLEM], "events": 9, "levels": {"error": 1}, "files": [{"source": "a.log"}],
}  # fmt: skip
HITS = {
    "total": 1,
    "hits": [{"source": "a.log", "line": 5, "quote": "ERROR timed out", "time": "", "level": "error"}],
}


def work(**more: Any) -> Work:
    fields: dict[str, Any] = {
        "run_id": "r", "assignment_id": "a", "agent": "log_analysis", "goal": "g", "request": "why?",
        "sources": [Source(name="a.log", path="/x/a.log")],
    }  # fmt: skip
    return Work(**{**fields, **more})


def done(
    number: int, tool: str, value: Any = None, *, note: str = "", error: dict[str, str] | None = None
) -> DoneTurn:
    state = CallState.failed if error else CallState.done
    return DoneTurn(
        number=number,
        note=note,
        calls=[DoneCall(id=str(number), tool=tool, state=state, value=value, error=error)],
    )


def turn(turns: list[DoneTurn], *, left: int = 8, tools: list[str] | None = None, **more: Any):
    return routine(
        TurnView(work=work(**more), turns=turns, tools=TOOLS if tools is None else tools, turns_left=left)
    )


def test_the_full_path() -> None:
    turns: list[DoneTurn] = []
    assert [c.tool for c in turn(turns).calls] == ["overview"]
    turns.append(done(1, "overview", OVERVIEW))
    assert {c.tool for c in turn(turns).calls} == {"search"}
    turns.append(done(2, "search", HITS))
    asked = turn(turns)
    assert [c.tool for c in asked.calls] == ["compare", "context"]
    assert asked.calls[0].arguments["split_at"] == OVERVIEW["onset"]
    turns.append(
        done(
            3,
            "compare",
            error={"code": "invalid", "message": "the window 'before' holds no event", "suggestion": ""},
        )
    )
    outcome = turn(turns).outcome
    assert outcome is not None
    assert outcome.findings[0].evidence[0].line == 5
    assert outcome.not_done == []


def test_the_same_journal_gives_the_same_turn() -> None:
    turns = [done(1, "overview", OVERVIEW), done(2, "search", HITS)]
    assert turn(turns) == turn(turns)


def test_without_a_source_it_says_what_to_do() -> None:
    outcome = turn([], sources=[]).outcome
    assert outcome is not None
    assert "no log was given" in outcome.not_found[0]
    assert (outcome.partial, outcome.achieved) == (True, False)
    assert "--log" in outcome.answer


def test_an_unreadable_log_ends_with_the_reason() -> None:
    error = {"code": "refused", "message": "'x' lies outside", "suggestion": "Attach the file."}
    outcome = turn([done(1, "overview", error=error)]).outcome
    assert outcome is not None
    assert (outcome.partial, outcome.achieved) == (True, False)
    assert "outside" in outcome.not_done[0].why
    assert "Attach the file." in outcome.answer


def test_no_problem_is_said_with_what_was_looked_at() -> None:
    quiet = {**OVERVIEW, "problems": [], "onset": ""}
    outcome = turn([done(1, "overview", quiet), done(2, "search", {"total": 0, "hits": []})]).outcome
    assert outcome is not None
    assert outcome.findings == []
    assert (outcome.partial, outcome.achieved) == (False, True)
    assert "Looked at 9 events" in outcome.not_found[0]


@pytest.mark.parametrize("tools", [[], ["overview"]])
def test_withdrawn_tools_end_it_with_what_there_is(tools: list[str]) -> None:
    outcome = turn([done(1, "overview", OVERVIEW)], tools=tools).outcome
    assert outcome is not None
    assert (outcome.partial, outcome.achieved) == (True, True)
    assert outcome.findings


def test_without_any_look_nothing_was_achieved() -> None:
    outcome = turn([], tools=[]).outcome
    assert outcome is not None
    assert (outcome.partial, outcome.achieved) == (True, False)


def test_the_last_turn_answers() -> None:
    assert turn([done(1, "overview", OVERVIEW)], left=1).outcome is not None


MEMORY = MemoryHit(
    id="m1", text="pool was exhausted", tier="high", slots={"pattern": "timed out", "cause": "Pool exhausted"}
)


def test_a_memory_that_hits_ends_it_in_one_turn() -> None:
    first = turn([], memories=[MEMORY])
    assert [c.tool for c in first.calls] == ["search", "search"]
    outcome = turn([done(1, "search", HITS, note=first.note)], memories=[MEMORY]).outcome
    assert outcome is not None
    assert outcome.cited_memories == ["m1"]
    assert "[mem:m1]" in outcome.answer
    assert outcome.findings[0].key == "timeout"
    assert outcome.findings[0].evidence[0].quote == "ERROR timed out"
    assert outcome.findings[0].title == "Timeout: timed out"
    assert outcome.findings[0].detail.endswith('Seen before: memory m1. Pattern: "timed out".')


def test_a_memory_is_told_whole_or_cut_at_a_word_and_its_pattern_as_a_phrase() -> None:
    slots = {"pattern": r"pool \(size", "service": "checkout"}
    memory = MEMORY.model_copy(update={"text": "restarting checkout helped " * 40, "slots": slots})
    turns = [done(1, "search", HITS, note="directed by memory")]
    outcome = turn(turns, memories=[memory]).outcome
    assert outcome is not None
    told = outcome.answer.split("[mem:m1]: ")[1].partition("\n")[0]
    assert 500 < len(told) <= 600
    assert told.removesuffix("…").rsplit(" ", 1)[-1] in ("restarting", "checkout", "helped")
    assert outcome.findings[0].detail.endswith('Service: checkout. Pattern: "pool (size".')


@pytest.mark.parametrize("value", [{"total": 0, "hits": []}, None])
def test_a_memory_that_misses_costs_one_turn(value: Any) -> None:
    error = None if value else {"code": "invalid", "message": "x", "suggestion": ""}
    turns = [done(1, "search", value, note="directed by memory", error=error)]
    assert [c.tool for c in turn(turns, memories=[MEMORY]).calls] == ["overview"]
    turns.append(done(2, "overview", OVERVIEW))
    assert {c.tool for c in turn(turns, memories=[MEMORY]).calls} == {"search"}


def test_a_middling_memory_directs_nothing() -> None:
    memory = MEMORY.model_copy(update={"tier": "middle"})
    assert [c.tool for c in turn([], memories=[memory]).calls] == ["overview"]


def test_patterns_of_memories_match_as_text_and_as_expression() -> None:
    assert re.search(directed_pattern("Pool (100/100)"), "Pool (100/100)")
    assert re.search(directed_pattern("time[d]? ?out"), "timed out")
    assert re.search(directed_pattern("broken ("), "a broken ( here")


@pytest.mark.parametrize(
    ("request_text", "term"),
    [
        ('post last 10 logs that contain "ERROR" from x', "ERROR"),
        ("show lines containing ETIMEDOUT", "ETIMEDOUT"),
        ("列出包含“超时”的日志", "超时"),
        ("what is wrong?", ""),
    ],
)
def test_what_a_request_asks_to_find(request_text: str, term: str) -> None:
    assert asked_term(request_text) == term


def test_the_last_lines_are_asked_newest_first() -> None:
    calls = turn([done(1, "overview", OVERVIEW)], request='post last 7 logs that contain "ERROR"').calls
    assert calls[-1].arguments == {"pattern": "ERROR", "limit": 7, "newest_first": True}


@pytest.mark.parametrize(
    ("newest", "ends"), [("2026-01-01T00:05:00.000Z", True), ("2026-01-02T00:00:00.000Z", False)]
)
def test_an_old_incident_does_not_explain_a_new_one(newest: str, ends: bool) -> None:
    def found(moment: str) -> dict[str, Any]:
        return {"total": 1, "hits": [{**HITS["hits"][0], "time": moment}]}

    calls = [
        DoneCall(id=str(n), tool="search", state=CallState.done, value=found(moment))
        for n, moment in enumerate(("2026-01-01T00:00:00.000Z", newest))
    ]
    answer = turn([DoneTurn(number=1, note="directed by memory", calls=calls)], memories=[MEMORY])
    assert (answer.outcome is not None) == ends
    assert ends or [c.tool for c in answer.calls] == ["overview"]


def test_a_request_that_only_states_something_is_answered_and_has_not_failed() -> None:
    told = "Remember that the owner of checkout is team blue."
    outcome = turn([], request=told, sources=[]).outcome
    assert outcome is not None
    assert outcome.achieved
    assert outcome.not_done == []
    assert f"- {told}" in outcome.answer
    assert "The memory is given this" in outcome.answer
    for request, labels in ((f"{told} Why 503?", {}), (told, {"alertname": "PoolFull"})):
        other = turn([], request=request, sources=[], labels=labels).outcome
        assert other is not None
        assert not other.achieved
