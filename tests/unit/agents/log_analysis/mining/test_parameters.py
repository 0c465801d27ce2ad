"""Summaries of values: what they say, that they stay small, and that two halves are the whole."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.log_analysis.mining.parameters import TOP, Parameter, Values


def seen(*values: str) -> Values:
    made = Values()
    for value in values:
        made.add(value)
    return made


def told(values: Values) -> Parameter:
    return values.parameter(0, "took")


def test_one_value() -> None:
    one = told(seen(*["db-1"] * 5))
    assert (one.kind, one.looked, one.distinct, one.top, one.low) == (
        "one value",
        5,
        1,
        (("db-1", 5),),
        None,
    )


def test_few_values_are_all_listed_most_frequent_first() -> None:
    one = told(seen("a", "b", "b", "c", "b", "a"))
    assert one.kind == "few"
    assert one.top == (("b", 3), ("a", 2), ("c", 1))


def test_many_values_are_estimated_and_the_frequent_one_is_kept() -> None:
    numbers = random.Random(4)
    values = [f"v{numbers.randrange(10**9)}" for _ in range(2000)]
    values[::4] = ["hot"] * 500
    one = told(seen(*values))
    assert one.kind == "many"
    assert 700 < one.distinct < 3200
    assert one.top[0] == ("hot", 500)
    assert len(one.top) == 1


def test_values_that_all_differ_have_no_frequent_ones() -> None:
    assert told(seen(*(f"v{n}" for n in range(500)))).top == ()


def test_numbers_that_rise_or_fall_say_so() -> None:
    up = told(seen(*(f"{n * 7}ms" for n in range(20))))
    assert (up.kind, up.low, up.high, up.first, up.last, up.unit) == ("rising", 0, 133, 0, 133, "ms")
    assert told(seen(*(str(500 - n) for n in range(20)))).kind == "falling"


def test_a_noisy_rise_is_a_rise_and_noise_is_none() -> None:
    noise = random.Random(2)
    assert told(seen(*(str(n + noise.randrange(-9, 9)) for n in range(60)))).kind == "rising"
    assert told(seen(*(str(noise.randrange(1000)) for n in range(60)))).kind == "many"


@pytest.mark.parametrize("last", ["12s", "10.0.0.1", "x", "nan", "1e999"])
def test_what_is_no_number_of_the_same_unit_ends_the_numbers(last: str) -> None:
    one = told(seen("1", "2", "3", last))
    assert (one.low, one.high, one.unit) == (None, None, "")


def test_a_value_is_cut_and_stays_countable() -> None:
    one = told(seen("x" * 5000, "x" * 6000))
    assert one.top == (("x" * 64, 2),)


@given(
    st.lists(st.integers(-50, 50).map(str), max_size=40), st.lists(st.integers(-50, 50).map(str), max_size=40)
)
def test_two_halves_merged_know_what_one_pass_knows(first: list[str], second: list[str]) -> None:
    whole, merged = seen(*first, *second), seen(*first)
    merged.merge(seen(*second))
    assert (merged.count, merged.distinct()) == (whole.count, whole.distinct())
    if whole.distinct() <= TOP:
        assert merged.top == whole.top
    if whole.count:
        one, two = told(merged), told(whole)
        assert (one.kind, one.low, one.high, one.last) == (two.kind, two.low, two.high, two.last)


@given(st.lists(st.text(max_size=90), max_size=60))
def test_state_is_json_and_comes_back_the_same(values: list[str]) -> None:
    made = seen(*values)
    again = Values.from_state(json.loads(json.dumps(made.state())))
    assert again.state() == made.state()
    assert len(made.top) <= TOP
