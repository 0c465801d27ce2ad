"""Who has how many: a page for a model, all for people; the status of an answer is one of the kinds."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.log_analysis.asking.entities import entities_of
from agents.log_analysis.asking.searching import Query, read_query
from agents.log_analysis.formats.levels import Level
from agents.log_analysis.reading import Reading
from kernel.errors import Correctable
from kernel.redaction import Redactor
from tests.support.log_scans import log, read


def reading(folder: Path, text: str) -> Reading:
    return Reading(read(folder, text)[0], Redactor([], salt=b"t"))


def test_all_are_told_to_people_and_a_page_to_a_model(tmp_path: Path) -> None:
    read_ = reading(tmp_path, log(*((n, f"INFO api user=u{n} came") for n in range(60))))
    assert entities_of(read_, "user", Query(), limit=60)["cursor"] == "40"
    assert len(entities_of(read_, "user", Query(), limit=0, whole=True)["entities"]) == 60
    assert len(entities_of(read_, "user", Query(), limit=5, whole=True)["entities"]) == 5


def test_the_status_of_an_answer_is_read_where_logs_write_it(tmp_path: Path) -> None:
    texts = [
        'INFO api 10.0.0.1 "GET /pay HTTP/1.1" 503 12',
        'INFO api {"status": 503, "path": "/a"}',
        "INFO api status_code=503 took 7 ms",
        "INFO api upstream said HTTP/1.1 503 in 210 ms",
        "INFO api exit code=137, 404 files seen, status of 12 jobs",
        "INFO api status=failed",
    ]
    found = entities_of(reading(tmp_path, log(*enumerate(texts))), "status", Query())
    assert {row["entity"]: row["count"] for row in found["entities"]} == {"503": 4, "failed": 1}


def test_one_of_many_is_told_as_the_one(tmp_path: Path) -> None:
    rows = [
        (n, f"{'ERROR' if n % 3 == 0 and n > 30 else 'INFO'} api pod=web-{n % 3} step") for n in range(90)
    ]
    found = entities_of(reading(tmp_path, log(*rows)), "pod", Query(level=Level.error))
    assert found["statement"].startswith("only web-0 (19 of 19 lines; pod with 33% of all lines)")


def test_the_lines_of_one_and_of_one_level_alone(tmp_path: Path) -> None:
    levels = ("INFO", "WARN", "ERROR")
    rows = [(n, f"{levels[n % 3]} api pod=web-{n % 2} user=u{n % 4} step") for n in range(60)]
    read_ = reading(tmp_path, log(*rows))
    alone = read_query(read_, "", "", "=warning", "", "")
    assert entities_of(read_, "pod", alone)["events"] == 20
    found = entities_of(read_, "user", alone, of="pod=web-1")
    assert (found["events"], {row["entity"] for row in found["entities"]}) == (10, {"u1", "u3"})
    assert found["without"] == ["u0", "u2"]
    with pytest.raises(Correctable, match="names no entity"):
        entities_of(read_, "user", alone, of="web-1")
