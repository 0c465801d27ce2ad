from __future__ import annotations

from typing import Any

import pytest

from kernel.reports import Report
from memory_service.extraction import MOST_PER_RUN, lessons
from memory_service.runs import FinishedRun


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
