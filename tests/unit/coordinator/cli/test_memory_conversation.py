from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coordinator.cli.memory_conversation import AROUND, parts
from coordinator.cli.memory_estate import _entering
from kernel.errors import Correctable
from memory_service.learning.dialogue import NEIGHBOURS
from memory_service.learning.transcripts import Part, read_turn

AT = "2026-05-08T13:56+08:00"


def line(session: str, number: int, text: str = "it hums") -> str:
    told = {"session": session, "at": AT, "speaker": f"Ann {number % 2}", "text": f"{text} {number}"}
    return json.dumps(told, ensure_ascii=False)


def written(folder: Path, *lines: str) -> Path:
    file = folder / "talk.jsonl"
    file.write_text("\n".join(lines) + "\n\n", encoding="utf-8")
    return file


def kept(part: dict[str, Any]) -> list[str]:
    told, lines = Part.model_validate(part["part"]), part["lines"]
    return [read_turn(json.loads(one)).text for one in lines[told.before : len(lines) - told.after]]


def test_each_session_is_a_part_with_all_its_speakers(tmp_path: Path) -> None:
    file = written(tmp_path, line("a", 0), line("a", 1), line("b", 2))
    first, second = parts(file, "ann")
    assert (first["first"], second["first"]) == (1, 3)
    assert first["part"] == {
        "user": "ann",
        "number": 0,
        "before": 0,
        "after": 0,
        "speakers": ["Ann 0", "Ann 1"],
    }
    assert kept(second) == ["it hums 2"]


def test_a_long_session_is_parted_with_neighbours_on_each_side(tmp_path: Path) -> None:
    assert AROUND == NEIGHBOURS
    lines = [line("a", number, "界" * (1200 if number % 3 else 1)) for number in range(500)]
    found = parts(written(tmp_path, *lines), "")
    assert len(found) > 3
    assert [text for part in found for text in kept(part)] == [json.loads(one)["text"] for one in lines]
    for part in found:
        assert len(json.dumps(part, ensure_ascii=False).encode()) < 64 * 1024
        assert part["lines"][0] == lines[part["part"]["number"]] == lines[part["first"] - 1]
        assert part["part"]["before"] == min(AROUND, part["part"]["number"] + part["part"]["before"])
    assert found[0]["part"]["after"] == AROUND
    assert found[-1]["part"]["after"] == 0


@pytest.mark.parametrize(
    ("lines", "message", "why"),
    [
        (["{"], "is no conversation", "line 1: JSONDecodeError"),
        ([line("a", 1), "[]"], "is no conversation", "line 2: TypeError"),
        ([line("a", 1), "", line("a", 2)], "is no conversation", "line 2: JSONDecodeError"),
        ([json.dumps({"session": "a"})], "is no conversation", "line 1: KeyError: 'speaker'"),
        ([line("a", 1), line("b", 1), line("a", 2)], "session 'a' goes on in line 3", "another was begun"),
    ],
)
def test_a_file_that_is_no_conversation_is_refused(
    tmp_path: Path, lines: list[str], message: str, why: str
) -> None:
    with pytest.raises(Correctable, match=message) as raised:
        parts(written(tmp_path, *lines), "")
    assert why in str(raised.value.why)


def test_a_user_is_named_for_a_conversation_only(tmp_path: Path) -> None:
    with pytest.raises(Correctable, match="--user goes with --dialogue"):
        _entering(written(tmp_path, line("a", 1)), dialogue=False, user="ann")
