"""The commands `memory recall` and `memory calibrate`, with the real memory worker behind the queue."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from sqlmodel import select

from kernel.database import Database
from kernel.settings import Settings
from memory_service.domain import Candidate
from memory_service.store import Store
from memory_service.tables import EmbedSpaceRow
from tests.support.desk import Desk
from tests.support.memory_desk import memory_desk

pytestmark = pytest.mark.integration

FIRST = datetime(2026, 11, 2, 2, 0, tzinfo=UTC)


def told(text: str, **fields: object) -> Candidate:
    values = {"namespace": "default", "kind": "fact", "importance": 0.7, "source_kind": "user"}
    return Candidate.model_validate({"text": text, "source_ref": "user:ann", **values, **fields})


def fill(database: Database) -> None:
    store = Store(database)
    for day, owner in enumerate(("Ann", "Bob", "陈")):
        candidate = told(f"the owner of billing is {owner}", key="owner of billing")
        store.write(candidate, "store", at=FIRST + timedelta(days=day), actor="test")
    own = told("checkout returned 503: pool exhausted", kind="episode", user="bob")
    store.write(own, "store", at=FIRST, actor="test")


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    with memory_desk(fill) as made:
        yield made


def test_recall_answers_for_a_moment_a_user_and_a_kind_and_says_why(desk: Desk) -> None:
    question = "who is the owner of billing?"
    [now] = desk.run("memory", "recall", question, "--json").json["memories"]
    assert (now["text"], now["tier"], now["certified"]) == ("the owner of billing is 陈", "high", True)
    assert set(now["explain"]) == {"similarity", "keywords", "importance", "recency"}

    # 10:00 in Singapore on the second day is 02:00 UTC, the very moment when Bob became the owner
    shown = desk.run("memory", "recall", question, "--as-of", "2026-11-03T10:00+08:00")
    for part in ("the owner of billing is Bob", "from user:ann", "high", "certified", "keywords", "recency"):
        assert part in shown.out, shown
    assert "陈" not in shown.out
    [before] = desk.run("memory", "recall", question, "--as-of", "2026-11-03T09:59+08:00", "--json").json[
        "memories"
    ]
    assert before["text"] == "the owner of billing is Ann"

    wrong = desk.run("memory", "recall", question, "--as-of", "the third", "--json")
    assert wrong.code == 2
    assert "is no time" in wrong.json["error"]["message"]

    found = desk.run("memory", "recall", "checkout 503 pool", "--user", "bob", "--kind", "episode", "--json")
    assert [hit["text"] for hit in found.json["memories"]] == ["checkout returned 503: pool exhausted"]
    assert desk.run("memory", "recall", "checkout 503 pool", "--json").json["memories"] == []


def test_calibrate_measures_stores_and_shows_both_distributions(desk: Desk) -> None:
    shown = desk.run("memory", "calibrate")
    assert shown.code == 0, shown
    assert "<- middle" in shown.out
    assert "<- high" in shown.out
    database = Database(Settings(data_dir=desk.data_dir).database)
    with database.reading() as session:
        kept = session.exec(select(EmbedSpaceRow.calibration)).one()
    database.close()
    assert kept["pairs"] >= 40
    again = desk.run("memory", "calibrate", "--dry-run", "--json").json
    assert again["stored"] is False
    assert again["before"] == again["scale"] == kept["scale"]
