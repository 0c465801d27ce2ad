from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from kernel.reports import Report
from memory_service.extraction import MOST_PER_RUN, emotion, lessons
from memory_service.learning.runs import FinishedRun

NOW = datetime(2026, 11, 2, tzinfo=UTC)


def run(text: str = "why does checkout return 503?", **fields: Any) -> FinishedRun:
    report = Report(run_id="r1", state="succeeded", request=text)
    return FinishedRun(run_id="r1", namespace="default", user="ann", request=text, report=report, **fields)


def stated(text: str, **fields: Any) -> list[tuple[str, str, str]]:
    return [(c.kind, c.key, c.text) for c in lessons(run(text, **fields)).candidates]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("please always notify me by e-mail.", ("preference", "", "please always notify me by e-mail")),
        ("from now on, page bob first", ("preference", "", "from now on, page bob first")),
        ("Keep answers short", ("preference", "style:length", "Keep answers short")),
        ("I prefer tables", ("preference", "", "I prefer tables")),
        ("以后请用中文回答", ("preference", "style:language", "以后请用中文回答")),
        ("我喜欢简短的报告。", ("preference", "style:length", "我喜欢简短的报告")),
        (
            "remember that the owner of billing is Ann",
            ("fact", "the owner of billing", "the owner of billing is Ann"),
        ),
        ("Please remember: search runs on node-7", ("fact", "search", "search runs on node-7")),
        ("记住，值班电话是 555", ("fact", "值班电话", "值班电话是 555")),
        (
            "Bitte immer auf Deutsch antworten",
            ("preference", "style:language", "Bitte immer auf Deutsch antworten"),
        ),
        ("Antworte kurz", ("preference", "style:length", "Antworte kurz")),
        ("Merk dir: search läuft auf node-7", ("fact", "search", "search läuft auf node-7")),
        ("remember that always page bob first", ("preference", "", "always page bob first")),
        ("remember that it is Ann", ("fact", "", "it is Ann")),
        ("Be concise.", ("preference", "style:length", "Be concise")),
        ("I'd like answers in German", ("preference", "style:language", "I'd like answers in German")),
        ("remember that I like short answers", ("preference", "style:length", "I like short answers")),
        ("请用中文回复", ("preference", "style:language", "请用中文回复")),
        ("we hate restarts at noon", ("preference", "", "we hate restarts at noon")),
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
        "write a short report about billing",
        "report in Chinese why checkout is down",
        "用中文报告 checkout 为什么挂了",
        "the reports are in Chinese",
        "keep it running",
        "I like how you did that",
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


def test_what_two_people_tell_of_themselves_is_two_facts() -> None:
    mine = lessons(run("remember that my phone is 555. remember that our pager is red.")).candidates
    assert [(c.kind, c.user, c.key, c.tags) for c in mine] == [
        ("fact", "ann", "my phone", ["profile"]),
        ("fact", "", "our pager", []),
    ]


def test_a_flood_is_cut() -> None:
    text = "\n".join(f"remember that host {n} is node-{n}" for n in range(100))
    assert len(lessons(run(text)).candidates) == MOST_PER_RUN


def test_recalled_blocks_and_served_texts_are_not_extracted() -> None:
    assert stated("[mem:ab|fact] remember that the owner is Ann") == []
    assert stated("always page bob first", served=["Always page Bob first."]) == []


@pytest.mark.parametrize(
    "block",
    [
        "[mem:ab|fact] remember that the owner is Ann",
        "> [ mem : ab | fact | high ]  remember that the owner is Ann",
        "［ＭＥＭ：ab］ remember that the owner is Ann",
        "(memory: ab) remember that the owner is Ann",
        "- [Mem:ab]remember that the owner is Ann",
        "remember   that the OWNER is\tAnn !",
        "remember that the owner\nis Ann",
        "the\n> owner\n> is Ann. ALWAYS page\nbob first!",
        "always page  bob — first",
    ],
)
def test_a_recalled_block_is_not_learnt_however_it_is_spaced(block: str) -> None:
    served = ["the owner is Ann", "always page bob first"]
    assert stated(f"why is it down?\n{block}", served=served) == []


def test_what_says_more_than_was_served_is_learnt() -> None:
    served = ["the owner is Ann"]
    said = "remember that the owner is Ann until March and then Bob takes over"
    assert len(stated(said, served=served)) == 1
    assert len(stated("remember that the owner is Bob", served=served)) == 1


def test_two_wishes_in_one_breath_are_two_memories() -> None:
    told = lessons(run("Keep answers short, in Chinese")).candidates
    assert {c.key: (c.text, c.slots) for c in told} == {
        "style:language": ("answer in Chinese", {"language": "zh"}),
        "style:length": ("keep answers short", {"length": "short"}),
    }


def test_the_same_statement_twice_in_one_request_is_one() -> None:
    assert len(stated("remember that search runs on node-7\nremember: search runs  on node-7")) == 1


def test_strong_words_are_felt() -> None:
    assert emotion("I prefer tables") == 0
    assert emotion("always page bob first!") == pytest.approx(0.7)
    assert emotion("千万别在半夜重启！！！") == pytest.approx(0.9)


def test_a_statement_is_as_old_as_its_request_and_an_alert_is_one_source() -> None:
    told = lessons(run("always page bob first", told_at=NOW, session="s1")).candidates[0]
    assert (told.valid_from, told.session, told.source_ref) == (NOW, "s1", "run:r1")
    alert = lessons(run("always approve restarts", labels={"alertname": "Down"})).candidates[0]
    assert (alert.source_kind, alert.source_ref) == ("alert", "alert:Down")
