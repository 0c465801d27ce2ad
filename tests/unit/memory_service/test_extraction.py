from __future__ import annotations

import re
from typing import Any

import pytest
import re2

from kernel.contracts import ActionOutcome, Evidence, Finding
from kernel.reports import Report
from memory_service.extraction import MOST_PER_RUN, FinishedRun, Lessons, lessons, pattern


def run(text: str = "why does checkout return 503?", **fields: Any) -> FinishedRun:
    told = {name: fields.pop(name) for name in ("findings", "actions") if name in fields}
    report = Report(run_id="r1", state="succeeded", request=text, **told)
    return FinishedRun(run_id="r1", namespace="default", user="ann", request=text, report=report, **fields)


def finding(*quotes: str, **fields: Any) -> Finding:
    evidence = [Evidence(source="app.log", line=n + 1, quote=quote) for n, quote in enumerate(quotes)]
    return Finding(title=fields.pop("title", "pool exhausted"), evidence=evidence, **{"score": 0.8, **fields})


def stated(text: str, **fields: Any) -> list[tuple[str, str, str]]:
    return [(c.kind, c.key, c.text) for c in lessons(run(text, **fields)).candidates]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("please always notify me by e-mail.", ("preference", "", "please always notify me by e-mail")),
        ("from now on, page bob first", ("preference", "", "from now on, page bob first")),
        ("Keep answers short, in Chinese", ("preference", "", "Keep answers short, in Chinese")),
        ("I prefer tables", ("preference", "", "I prefer tables")),
        ("以后请用中文回答", ("preference", "", "以后请用中文回答")),
        ("我喜欢简短的报告。", ("preference", "", "我喜欢简短的报告")),
        (
            "remember that the owner of billing is Ann",
            ("fact", "the owner of billing", "the owner of billing is Ann"),
        ),
        ("Please remember: search runs on node-7", ("fact", "search", "search runs on node-7")),
        ("记住，值班电话是 555", ("fact", "值班电话", "值班电话是 555")),
        ("remember that always page bob first", ("preference", "", "always page bob first")),
        ("remember that it is Ann", ("fact", "", "it is Ann")),
    ],
)
def test_what_people_state(text: str, expected: tuple[str, str, str]) -> None:
    assert stated(f"why is checkout down?\n{text}") == [expected]
    assert stated(f"{text} why is checkout down?" if text.endswith(".") else text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "why does checkout return 503?",
        "do you remember that the owner is Ann?",
        "restart the service",
        "should I always restart it?",
        "find the cause and fix it",
        "为什么总是超时？",
    ],
)
def test_requests_are_no_statements(text: str) -> None:
    assert stated(text) == []


def test_a_preference_is_its_users_and_a_fact_is_everybodys() -> None:
    made = lessons(run("always page me. remember that the owner of billing is Ann.")).candidates
    assert [(c.kind, c.user) for c in made] == [("preference", "ann"), ("fact", "")]


def test_a_flood_is_cut() -> None:
    text = "\n".join(f"remember that host {n} is node-{n}" for n in range(100))
    assert len(lessons(run(text)).candidates) == MOST_PER_RUN


def test_recalled_blocks_and_served_texts_are_not_extracted() -> None:
    assert stated("[mem:ab|fact] remember that the owner is Ann") == []
    assert stated("always page bob first", served=["Always page Bob first."]) == []


def incident(**fields: Any) -> Lessons:
    return lessons(run(findings=[finding("ERROR pool limit of size reached", key="pool")], **fields))


def test_importance_follows_severity_and_verification() -> None:
    def importance(severity: str, *, verified: bool) -> float:
        actions = [ActionOutcome(name="restart", state="done", verified=True)] if verified else []
        found = finding("ERROR pool limit of size reached", severity=severity)
        return lessons(run(findings=[found], actions=actions)).candidates[0].importance

    assert importance("critical", verified=True) == pytest.approx(0.95)
    assert importance("critical", verified=False) == pytest.approx(0.8)
    assert importance("error", verified=False) > importance("warning", verified=False)


def test_the_best_finding_with_evidence_is_the_cause() -> None:
    findings = [
        finding(title="claim without proof", score=0.99),
        finding("ERROR a long enough line", title="symptom", score=0.5),
        finding("ERROR another line of text", title="cause", score=0.9),
    ]
    assert "because of cause" in lessons(run(findings=findings)).candidates[0].text


def test_the_service_comes_from_labels_before_parameters() -> None:
    action = ActionOutcome(name="restart", state="done", verified=True, parameters={"service": "b"})
    assert incident(labels={"service": "a"}, actions=[action]).candidates[0].slots["service"] == "a"
    assert incident(actions=[action]).candidates[0].slots["service"] == "b"
    assert incident().candidates[0].slots["service"] == ""


def test_a_failed_remedy_is_told_and_named_as_a_setback() -> None:
    action = ActionOutcome(name="restart", state="done", verified=False, parameters={"service": "b"})
    told = incident(actions=[action])
    assert told.setbacks == ["b|pool|restart"]
    assert told.candidates[0].kind == "episode"
    assert "restart was tried and did not fix it" in told.candidates[0].text


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        (
            "2026-11-02 08:59:58,114 ERROR pool: QueuePool limit of size 2 overflow 0 reached, timeout 5.00",
            "pool: QueuePool limit of size",
        ),
        (
            "2026-11-02T08:59:58Z [WARN] upstream closed connection to 10.0.0.7:5432",
            "upstream closed connection to",
        ),
        ("E1102 08:59:58.114 node-7 disk full (98.5%) on <EMAIL:0ab1f3>", "disk full"),
        (
            'level=error msg="x" err=timeout waiting for connection from pool',
            "waiting for connection from pool",
        ),
        (
            "Caused by: java.sql.SQLTransientConnectionException: HikariPool-1 - Connection is not available",
            "Caused by: java\\.sql\\.SQLTransientConnectionException",
        ),
        ("2026-11-02 09:00:00 ERROR 数据库连接池耗尽，等待 30 秒", "数据库连接池耗尽，等待"),
        ("ERROR: 42 7 0x1f", ""),
        ("12:00:01 INFO ok", ""),
    ],
)
def test_the_pattern_is_the_longest_stable_phrase(quote: str, expected: str) -> None:
    found = pattern(finding(quote))
    assert found == expected
    if found:
        assert re.search(found, quote)
        assert re2.search(found, quote), "log search uses the linear-time engine"


def test_the_pattern_finds_the_next_occurrence_too() -> None:
    found = pattern(
        finding("2026-11-02 08:59:58 ERROR pool: limit of size 2 (overflow 0) reached after 5.0 s")
    )
    assert re.search(
        found, "2027-01-01 00:00:01 ERROR pool: limit of size 64 (overflow 8) reached after 30.5 s"
    )


def test_a_line_without_a_phrase_is_passed_over_for_the_next() -> None:
    assert pattern(finding("ERROR 42", "ERROR connection pool exhausted")) == "connection pool exhausted"
