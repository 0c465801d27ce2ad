from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ops.bench.locomo_file import Unreadable, evidence_of, read
from tests.support.small_talk import conversation, written

TURNS = frozenset({"D8:6", "D9:17", "D30:5", "D11:26"})


@pytest.mark.parametrize(
    ("references", "found", "unreadable"),
    [
        (["D8:6"], {"D8:6"}, []),
        (["D8:6; D9:17"], {"D8:6", "D9:17"}, []),
        (["D8:6 D9:17"], {"D8:6", "D9:17"}, []),
        (["D30:05"], {"D30:5"}, []),
        (["D:11:26"], {"D11:26"}, []),
        (["D8:6", "D8:6"], {"D8:6"}, []),
        (["D"], set(), ["D"]),
        (["D8:6; D7:1"], {"D8:6"}, ["D8:6; D7:1"]),
        ([None, 7], set(), ["None", "7"]),
        ([], set(), []),
    ],
)
def test_references_to_evidence_are_read_as_far_as_they_go(
    references: list[Any], found: set[str], unreadable: list[str]
) -> None:
    assert evidence_of(references, TURNS) == (found, unreadable)


def test_a_conversation_is_read_with_its_sessions_in_order(tmp_path: Path) -> None:
    told = conversation()
    spoken = told["conversation"]
    spoken["session_10"], spoken["session_10_date_time"] = (
        spoken.pop("session_2"),
        "1:00 am on 1 August, 2024",
    )
    path = tmp_path / "talk.json"
    path.write_text(json.dumps([told]), encoding="utf-8")
    (made,) = read(path)
    assert [session.id for session in made.sessions] == ["session_1", "session_10"]
    assert made.sessions[0].at == datetime(2024, 6, 3, 9, 5, tzinfo=UTC)
    assert made.sessions[0].turns[3].seen == ["a girl holding a silver fish", "child fishing"]


def test_questions_without_evidence_are_counted_and_left_out(tmp_path: Path) -> None:
    (made,) = read(written(tmp_path))
    assert [(asked.category, set(asked.evidence)) for asked in made.questions] == [
        (2, {"D1:2"}),
        (1, {"D2:3", "D2:1"}),
        (4, {"D1:5"}),
        (5, {"D1:2"}),
    ]
    assert (made.turns, made.without_evidence, made.unreadable) == (9, 1, ["D9:9", "D"])


def _without_evidence() -> list[Any]:
    told = conversation()
    for question in told["qa"]:
        question["evidence"] = []
    return [told]


def _without(name: str) -> list[Any]:
    told = conversation()
    del told["conversation"][name]
    return [told]


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ("not json", "cannot be read"),
        (json.dumps({}), "no list of conversations"),
        (json.dumps([]), "no list of conversations"),
        (json.dumps([1]), "conversation 1 has another shape"),
        (json.dumps([{"qa": []}]), "another shape: KeyError: 'conversation'"),
        (json.dumps([{"conversation": {}, "qa": []}]), "it has no turns"),
        (json.dumps([conversation() | {"qa": [{"text": "?", "evidence": ["D1:1"]}]}]), "'question'"),
        (json.dumps(_without("session_1_date_time")), "'session_1_date_time'"),
        (json.dumps(_without_evidence()), "no question with evidence"),
    ],
)
def test_a_file_of_another_shape_is_refused_with_the_reason(tmp_path: Path, told: str, why: str) -> None:
    path = tmp_path / "talk.json"
    path.write_text(told, encoding="utf-8")
    with pytest.raises(Unreadable, match="talk.json") as refused:
        read(path)
    assert why in str(refused.value)


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="cannot be read"):
        read(tmp_path / "none.json")
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Unreadable, match="cannot be read"):
        read(tmp_path / "bytes.json")
