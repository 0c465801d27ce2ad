from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kernel.errors import Correctable
from memory_service.domain import (
    NAME_MAX,
    Candidate,
    Memory,
    Status,
    check_name,
    content_hash,
    decide,
    key_hash,
    question_keys,
)

NOW = datetime(2026, 11, 2, tzinfo=UTC)


def candidate(text: str = "checkout uses a pool of 20", **fields: Any) -> Candidate:
    values = {"namespace": "default", "kind": "fact", "importance": 0.7, "source_kind": "user", **fields}
    return Candidate(text=text, **values)


def memory(**fields: Any) -> Memory:
    values: dict[str, Any] = {
        "pk": 1,
        "id": "m",
        "namespace": "default",
        "user": "",
        "kind": "fact",
        "key": "",
        "text": "checkout uses a pool of 20",
        "trust": 0.9,
        "content_hash": content_hash("checkout uses a pool of 20"),
        "valid_from": NOW,
        "recorded_at": NOW,
        "status": Status.active,
        "rev": 1,
        "importance": 0.7,
        "weight": 1,
        "half_life_s": 1.0,
        "last_access_at": 0.0,
        **fields,
    }
    return Memory(**values)


def test_what_a_candidate_does_to_the_live_memory_of_its_key() -> None:
    assert decide(None, candidate(), NOW) == "insert"
    assert decide(memory(), candidate("Checkout uses  a pool of 20."), NOW) == "touch"
    assert decide(memory(), candidate("checkout uses a pool of 30"), NOW) == "supersede"
    assert decide(memory(), candidate("checkout uses a pool of 30", source_kind="agent"), NOW) == "history"
    for kind in ("preference", "episode", "procedure", "summary"):
        assert decide(memory(kind=kind), candidate("pool of 30", kind=kind), NOW) == "supersede"


def test_what_was_true_before_or_for_a_time_that_is_over_changes_nothing() -> None:
    day = timedelta(days=1)
    assert decide(memory(), candidate("pool of 30", valid_from=NOW - day), NOW) == "history"
    assert decide(memory(), candidate("pool of 30", valid_from=NOW + day), NOW) == "supersede"
    past = candidate("pool of 30", valid_from=NOW + day, valid_to=NOW + 2 * day)
    assert decide(memory(), past, NOW + 3 * day) == "history"


def test_what_was_written_by_a_clock_that_was_ahead_is_no_later_for_that() -> None:
    ahead = NOW + timedelta(days=1)
    assert decide(memory(valid_from=ahead, recorded_at=ahead), candidate("pool of 30"), NOW) == "supersede"
    planned = memory(valid_from=ahead, recorded_at=NOW)
    assert decide(planned, candidate("pool of 30"), NOW) == "history"


def test_a_procedure_that_is_confirmed_keeps_its_telling() -> None:
    remedy = {"action": "restart", "parameters": {"service": "checkout"}, "run_id": "r1"}
    known = memory(kind="procedure", slots=remedy)
    again = candidate("asked otherwise", kind="procedure", slots={**remedy, "run_id": "r2"})
    assert decide(known, again, NOW) == "touch"
    other = candidate("asked otherwise", kind="procedure", slots={**remedy, "parameters": {"service": "b"}})
    assert decide(known, other, NOW) == "supersede"


def test_keys_differ_from_texts_and_ignore_case_width_and_article() -> None:
    assert (
        key_hash("The Owner of billing") == key_hash("owner of  BILLING") == key_hash("ｏｗｎｅｒ of billing")
    )
    assert candidate("owner of billing").key_hash != candidate("x", key="owner of billing").key_hash


def test_a_question_names_every_key_inside_it_longest_first() -> None:
    hashes = question_keys("who is the owner of billing?")
    assert key_hash("owner of billing") in hashes
    assert key_hash("owner") in hashes
    assert hashes.index(key_hash("the owner of billing")) < hashes.index(key_hash("owner"))
    assert key_hash("值班电话") in question_keys("值班电话？")


@pytest.mark.parametrize("name", ["*", "%", "a/b:c&d=e", "租户", "ａ", "x" * NAME_MAX])
def test_names_are_literal(name: str) -> None:
    assert check_name("the namespace", name) == name


@pytest.mark.parametrize("name", ["", "a\0", "a\nb", "\x7f", "x" * (NAME_MAX + 1), "\ud800"])
def test_names_with_control_characters_are_refused(name: str) -> None:
    with pytest.raises(Correctable):
        check_name("the namespace", name)


def test_who_may_see_a_memory_and_when() -> None:
    day = timedelta(days=1)
    held = memory(user="ann", valid_to=NOW + day, expires_at=(NOW + 2 * day).timestamp())
    assert held.visible("default", "ann", NOW, NOW)
    assert not held.visible("other", "ann", NOW, NOW)
    assert not held.visible("default", "bob", NOW, NOW)
    assert not held.visible("default", "", NOW, NOW)
    assert not held.visible("default", "ann", NOW - day, NOW)
    assert not held.visible("default", "ann", NOW + day, NOW)
    assert not held.visible("default", "ann", NOW, NOW + 2 * day)
    assert not memory(status=Status.archived).visible("default", "", NOW, NOW)
