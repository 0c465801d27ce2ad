from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_service.domain import Status
from memory_service.forgetting.fading import (
    ARCHIVE,
    DAY,
    GRACE_SECONDS,
    HOT,
    NEVER,
    RETENTION_SECONDS,
    UNUSED_SECONDS,
    Fading,
    falls_to,
    stage,
    strength,
)

T = 1_800_000_000.0


def fading(importance: float = 0.8, **fields: float) -> Fading:
    values = {
        "weight": 1,
        "emotion": 0.0,
        "access_count": 0,
        "half_life": 30 * DAY,
        "last_access": T,
        **fields,
    }
    return Fading(importance=importance, **values)  # type: ignore[arg-type] # weight and count are whole here


fadings = st.builds(
    Fading,
    importance=st.floats(0.3, 1),
    weight=st.integers(1, 50),
    emotion=st.floats(0, 1),
    access_count=st.integers(0, 1000),
    half_life=st.floats(DAY, 400 * DAY),
    last_access=st.just(T),
    expires=st.none() | st.floats(T, T + 400 * DAY),
)


def test_strength_halves_with_each_half_life() -> None:
    assert [round(strength(fading(), T + n * 30 * DAY), 6) for n in range(4)] == [0.8, 0.4, 0.2, 0.1]


@pytest.mark.parametrize("boost", [{"access_count": 5}, {"emotion": 0.5}, {"weight": 4}])
def test_use_emotion_and_being_told_again_make_stronger(boost: dict[str, float]) -> None:
    assert strength(fading(0.5, **boost), T + DAY) > strength(fading(0.5), T + DAY)


@given(fadings, st.floats(0, 2000 * DAY))
def test_strength_is_between_0_and_1_and_never_grows_by_waiting(memory: Fading, idle: float) -> None:
    assert 0 <= strength(memory, T + idle + DAY) <= strength(memory, T + idle) <= 1


@given(fadings, st.sampled_from([HOT, ARCHIVE]))
def test_the_closed_form_and_its_inverse_agree(memory: Fading, threshold: float) -> None:
    moment = falls_to(memory, threshold)
    if moment > T:
        assert strength(memory, moment) == pytest.approx(threshold, rel=1e-6)


@given(fadings, st.floats(0, 2000 * DAY))
def test_a_due_memory_has_always_moved_so_no_night_visits_it_twice(memory: Fading, idle: float) -> None:
    now_at = stage(memory, T + idle)
    if now_at.status is Status.active:
        assert now_at.next_at > T + idle
        later = stage(memory, now_at.next_at)
        assert (later.status, later.tier) != (now_at.status, now_at.tier)


def test_stages_in_order() -> None:
    memory = fading(0.8)
    assert stage(memory, T).tier == "hot"
    assert stage(memory, T + 30 * DAY).tier == "cold"
    archived = stage(memory, T + 60 * DAY)
    assert (archived.status, archived.next_at) == (Status.archived, T + 60 * DAY + RETENTION_SECONDS)


def test_the_unimportant_leave_after_90_days_without_use() -> None:
    memory = fading(0.4, half_life=3650 * DAY)
    assert stage(memory, T + UNUSED_SECONDS - 1).status is Status.active
    assert stage(memory, T + UNUSED_SECONDS).status is Status.archived


def test_what_expired_leaves_the_index_and_is_deleted_after_its_grace() -> None:
    memory = fading(1.0, half_life=3650 * DAY, expires=T + DAY)
    assert stage(memory, T + DAY - 1).status is Status.active
    left = stage(memory, T + DAY)
    assert (left.status, left.next_at) == (Status.archived, T + DAY + GRACE_SECONDS)
    gone = stage(memory, T + DAY + GRACE_SECONDS)
    assert (gone.status, gone.next_at) == (Status.deleted, NEVER)
