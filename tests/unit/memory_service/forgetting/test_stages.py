from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Connection, create_engine, text

from memory_service.forgetting.fading import DAY, Fading, stage
from memory_service.forgetting.stages import staged
from tests.unit.memory_service.forgetting.test_fading import T, fadings

_ROW = (
    "SELECT 1 AS pk, :status AS status, 'hot' AS tier, :importance AS importance, :emotion AS emotion, "
    ":access_count AS access_count, :weight AS weight, :half_life AS half_life_s, :last_access AS last_access_at, "
    ":expires AS expires_at"
)


@pytest.fixture(scope="module")
def sqlite() -> Iterator[Connection]:
    engine = create_engine("sqlite://")
    with engine.connect() as connection:
        yield connection
    engine.dispose()


def by_sql(connection: Connection, memory: Fading, at: float, status: str = "active") -> tuple[str, float]:
    values = {name: getattr(memory, name) for name in Fading.__slots__}
    row = connection.execute(text(staged("sqlite", _ROW)), {**values, "status": status, "at": at}).one()
    return row.tier, row.next


@given(fadings, st.floats(0, 2000 * DAY))
def test_the_database_stages_as_the_rule_does(sqlite: Connection, memory: Fading, idle: float) -> None:
    at = T + idle
    tier, due = by_sql(sqlite, memory, at)
    # the two may round a moment differently: then it is as good a moment a little earlier or later
    assert tier in {stage(memory, at + tremble).tier for tremble in (-1e-4, 0.0, 1e-4)}
    if tier == stage(memory, at).tier:
        assert due == pytest.approx(stage(memory, at).next_at, abs=1e-4)


@given(fadings)
def test_what_the_rule_calls_due_has_moved_for_the_database(sqlite: Connection, memory: Fading) -> None:
    due = stage(memory, T).next_at
    if stage(memory, T).status == "active":
        assert by_sql(sqlite, memory, due)[0] != stage(memory, T).tier


@pytest.mark.parametrize("status", ["archived", "quarantined"])
def test_what_is_due_outside_the_index_is_deleted(sqlite: Connection, status: str) -> None:
    memory = Fading(importance=0.9, weight=3, emotion=0.1, access_count=2, half_life=30 * DAY, last_access=T)
    assert by_sql(sqlite, memory, T, status)[0] == "deleted"


def test_a_memory_without_any_importance_is_staged_too(sqlite: Connection) -> None:
    memory = Fading(importance=0.0, weight=1, emotion=0.0, access_count=0, half_life=30 * DAY, last_access=T)
    assert by_sql(sqlite, memory, T + 1)[0] == stage(memory, T + 1).tier == "archived"
