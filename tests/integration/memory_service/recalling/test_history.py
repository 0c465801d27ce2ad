"""What was held of a key over time, and one memory with all its fields."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.errors import Correctable
from memory_service.recalling.history import History
from tests.integration.memory_service.world import START, World

KEY = "checkout pool size"


def history(desk: World) -> History:
    return History(desk.database, lambda: desk.now)


def tell(desk: World, text: str, **fields: Any) -> str:
    return desk.remember(text, **{"key": KEY, "source_ref": "user:ann", **fields})


def test_three_values_of_one_key_stand_newest_first_with_their_times(desk: World) -> None:
    ids = []
    for text in ("it is 2", "it is 20", "it is 40"):
        ids.append(tell(desk, text))
        desk.pass_days(1)
    told = history(desk).versions({"of": "The Checkout  pool size"})
    assert told["key"] == KEY
    versions = told["versions"]
    assert [(v["text"], v["in_force"]) for v in versions] == [
        ("it is 40", True),
        ("it is 20", False),
        ("it is 2", False),
    ]
    assert versions[2]["valid_from"] == START.isoformat()
    assert versions[2]["valid_to"] == versions[1]["valid_from"]
    assert versions[0]["valid_to"] is None
    assert versions[2]["superseded_by"] == ids[1]
    assert history(desk).versions({"of": ids[0][:12]}) == told  # the start of the id of any version


def test_what_a_less_trusted_source_said_is_told_with_its_trust(desk: World) -> None:
    tell(desk, "it is 20")
    tell(desk, "it is 3", source_kind="log", source_ref="log:app")
    versions = history(desk).versions({"of": KEY})["versions"]
    assert [(v["text"], v["trust"], v["source"]) for v in versions] == [
        ("it is 20", 0.9, "user:ann"),
        ("it is 3", 0.2, "log:app"),
    ]


def test_no_other_namespace_and_nothing_forgotten_is_shown(desk: World) -> None:
    foreign = tell(desk, "it is 7", namespace="other")
    mine = tell(desk, "it is 20")
    desk.memory.forget({"id": mine})
    assert history(desk).versions({"of": KEY})["versions"] == []
    assert history(desk).versions({"of": foreign})["versions"] == []
    assert history(desk).show({"of": foreign}) == {"memory": None}
    assert history(desk).show({"of": mine}) == {"memory": None}


def test_a_user_asks_for_what_that_user_sees(desk: World) -> None:
    tell(desk, "it is 20")
    tell(desk, "it is mine", user="bob")
    found = [
        len(history(desk).versions({"of": KEY, "user": user})["versions"]) for user in (None, "ann", "bob")
    ]
    assert found == [2, 1, 2]


def test_one_memory_is_shown_with_its_run_and_how_strong_it_is_now(desk: World) -> None:
    made = tell(
        desk,
        "it is 20",
        source_ref="run:run-7:analyse",
        source_kind="agent",
        importance=0.8,
        tags=["service"],
    )
    first = history(desk).show({"of": made})["memory"]
    desk.pass_days(180)
    later = history(desk).show({"of": made})["memory"]
    assert (first["run"], first["tier"], first["strength"], first["tags"]) == (
        "run-7",
        "hot",
        0.8,
        ["service"],
    )
    assert later["strength"] == pytest.approx(0.4)  # a fact's half-life is 180 days
    assert later["last_access_at"] == START.isoformat()


@pytest.mark.parametrize("question", [{}, {"of": ""}, {"of": 7}, {"of": "x", "colour": "red"}, {"of": "a\0"}])
def test_what_cannot_be_read_is_refused(desk: World, question: dict[str, Any]) -> None:
    with pytest.raises(Correctable):
        history(desk).versions(question)
