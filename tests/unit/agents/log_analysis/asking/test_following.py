"""One id through all files: it alone, in every line of its events, and what limits what is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.log_analysis.asking import following
from agents.log_analysis.asking.following import follow_of
from agents.log_analysis.asking.searching import Query
from agents.log_analysis.reading import Reading
from kernel.errors import Correctable
from kernel.redaction import Redactor
from tests.support.log_scans import START, log, read


def reading(folder: Path, *texts: str) -> Reading:
    return Reading(read(folder, *texts)[0], Redactor([], salt=b"t"))


def lines(answer: dict[str, object]) -> list[tuple[object, object]]:
    rows = answer["lines"]
    assert isinstance(rows, list)
    return [(row["source"], row["line"]) for row in rows]


def test_an_id_is_followed_through_files_in_time_and_not_into_longer_ones(tmp_path: Path) -> None:
    one = log(
        (0, "INFO api order A1001 came"),
        (4, "ERROR api order A1001 failed"),
        (5, "INFO api order A10012 came"),
    )
    two = log((1, "INFO db 订单A1001已保存"), (2, "INFO db order XA1001 saved"))
    found = follow_of(reading(tmp_path, one, two), "A1001", Query(), limit=0, whole=True)
    assert lines(found) == [("0.log", 1), ("1.log", 1), ("0.log", 2)]
    assert (found["events"], found["files"], found["first_error"]["line"]) == (3, 2, 2)
    assert "note" not in found


def test_a_part_of_an_id_is_followed_where_it_stands_alone_nowhere_and_that_is_said(tmp_path: Path) -> None:
    text = log((0, "INFO api id=8f3a0c1e9b7d came"), (1, "INFO api id=8f3a0c1e9b7d went"))
    found = follow_of(reading(tmp_path, text), "8f3a0c1e", Query())
    assert len(found["lines"]) == 2
    assert "a part of something longer" in found["note"]


def test_an_event_that_says_its_id_below_its_first_line_is_followed_once(tmp_path: Path) -> None:
    text = log(
        (0, "ERROR api broke\n\tat X.java:1 order A1001\n\tat Y.java:2 order A1001"), (1, "INFO api went on")
    )
    assert lines(follow_of(reading(tmp_path, text), "A1001", Query())) == [("0.log", 1)]


def test_lines_of_a_time_alone_are_followed(tmp_path: Path) -> None:
    text = log(*((n, f"INFO api order A1001 step {n}") for n in range(5)))
    read_ = reading(tmp_path, text)
    asked = Query(since=START + 1, until=START + 3)
    assert [line for _, line in lines(follow_of(read_, "A1001", asked))] == [2, 3, 4]
    with pytest.raises(Correctable, match="no line of the time asked about carries"):
        follow_of(read_, "A1001", Query(since=START + 60))


def test_more_events_than_are_followed_are_not_told_as_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "_FOLLOWED", 3)
    text = log(*((n, f"INFO api order A1001 step {n}") for n in range(5)))
    found = follow_of(reading(tmp_path, text), "A1001", Query())
    assert found["events"] == 3
    assert found["note"] == "more than 3 events carry it: only the first are followed"


def test_pages_are_for_models_and_all_is_for_people(tmp_path: Path) -> None:
    read_ = reading(tmp_path, log(*((n, f"INFO api order A1001 step {n}") for n in range(80))))
    assert follow_of(read_, "A1001", Query(), limit=80)["cursor"] == "50"
    whole = follow_of(read_, "A1001", Query(), limit=0, whole=True)
    assert (len(whole["lines"]), "cursor" in whole) == (80, False)
