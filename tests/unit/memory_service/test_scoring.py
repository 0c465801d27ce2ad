from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_service.scoring import (
    DENSE,
    SPARSE,
    Bound,
    Scale,
    Weights,
    bound,
    compiled,
    evaluate,
    keyword_half,
    relevance,
    score_parts,
    tier,
    total,
)

WEIGHTS = Weights.of(0.6, 0.25, 0.15)
SCALE = Scale(low=0.7, middle_cut=0.3, high_cut=0.55)
NOW = 1_800_000_000.0
unit = st.floats(0, 1)
bm25 = st.floats(0, 60)


def parts_of(values: dict[str, float], half: float = 8.0) -> dict[str, float]:
    parts = score_parts(WEIGHTS, SCALE, now=NOW, half=half)
    return {name: evaluate(part, values) for name, part in parts.items()}


def test_weights_sum_to_one_whatever_is_set() -> None:
    made = Weights.of(6, 2.5, 1.5)
    assert made.keywords == pytest.approx(Weights.of(0.6, 0.25, 0.15).keywords)
    assert made.similarity + made.keywords + made.importance + made.recency == pytest.approx(1)


@given(unit, bm25, unit, st.floats(-1e6, 1e8), st.floats(3600, 1e8))
def test_every_part_stays_within_its_weight(
    cosine: float, sparse: float, importance: float, idle: float, half_life: float
) -> None:
    values = {DENSE: cosine, SPARSE: sparse, "importance": importance, "last_ts": NOW - idle, "hl": half_life}
    told = parts_of(values)
    for name, part in told.items():
        assert -1e-12 <= part <= getattr(WEIGHTS, name) + 1e-9
    assert 0 <= relevance(told, WEIGHTS) <= 1 + 1e-9


@given(unit, bm25, unit, st.floats(-1e6, 1e8), st.floats(3600, 1e8))
def test_a_compiled_expression_gives_what_evaluating_gives(
    cosine: float, sparse: float, importance: float, idle: float, half_life: float
) -> None:
    values = {DENSE: cosine, SPARSE: sparse, "importance": importance, "last_ts": NOW - idle, "hl": half_life}
    parts = score_parts(WEIGHTS, SCALE, now=NOW, half=8.0)
    for given_values in (values, {}):
        for part in (*parts.values(), total(parts)):
            assert compiled(part)(given_values) == pytest.approx(evaluate(part, given_values), abs=1e-12)


def test_recency_halves_with_each_half_life_of_the_memory() -> None:
    day = 86_400.0
    fresh, old = (parts_of({"last_ts": NOW - idle, "hl": 10 * day})["recency"] for idle in (0, 10 * day))
    assert fresh == pytest.approx(0.15)
    assert old == pytest.approx(0.075)


def test_a_memory_from_the_future_counts_as_new() -> None:
    assert parts_of({"last_ts": NOW + 1e6, "hl": 60.0})["recency"] == pytest.approx(0.15)


@given(unit, bm25, unit, unit, unit, bm25)
def test_nothing_below_the_floors_exceeds_the_bound(
    cosine: float, sparse: float, importance: float, lower: float, lower_dense: float, floor: float
) -> None:
    dense_floor = max(cosine, lower_dense)
    sparse_floor = max(sparse, floor * lower)
    limit = bound(WEIGHTS, SCALE, dense_floor=dense_floor, sparse_floor=sparse_floor, half=8.0)
    values = {DENSE: cosine, SPARSE: sparse, "importance": importance, "last_ts": NOW, "hl": 3600.0}
    told = parts_of(values)
    assert sum(told.values()) <= limit.score + 1e-9
    assert relevance(told, WEIGHTS) <= limit.relevance + 1e-9
    assert relevance(told, WEIGHTS, one_script=False) <= limit.relevance + 1e-9


def test_there_is_no_bound_where_nothing_is_outside() -> None:
    assert Bound() == Bound(relevance=0.0, score=0.0)


def test_keyword_evidence_means_the_same_in_a_young_and_an_old_memory() -> None:
    for count in (1, 10, 1000, 100_000):
        one_rare_word = math.log(1 + (count - 0.5) / 1.5)
        share = parts_of({SPARSE: one_rare_word}, half=keyword_half(count))["keywords"] / WEIGHTS.keywords
        assert share == pytest.approx(1 / 2.4)


def test_missing_fields_count_as_nothing_and_fail_nothing() -> None:
    assert evaluate(total(score_parts(WEIGHTS, SCALE, now=NOW, half=1.0)), {}) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("of", "trust", "expected"),
    [
        (0.55, 0.9, "high"),
        (0.54, 0.9, "middle"),
        (0.3, 0.9, "middle"),
        (0.29, 0.9, "low"),
        (0.9, 0.2, "middle"),
    ],
)
def test_tiers(of: float, trust: float, expected: str) -> None:
    assert tier(of, SCALE, trust) == expected
