"""Filling of argument vectors, and what a value may be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.action_execution.argv import fill, fill_argv, placeholders, plain
from kernel.errors import Correctable


def test_a_value_is_not_expanded_again() -> None:
    assert fill("x={a} {b}", {"a": "{b}", "b": "{a.__class__}"}) == "x={b} {a.__class__}"


def test_an_inventory_list_becomes_elements_only_when_it_stands_alone() -> None:
    values = {"s.control": ["/bin/ctl", "a b"], "x": "1"}
    assert fill_argv(["{s.control}", "go", "{x}"], values) == ["/bin/ctl", "a b", "go", "1"]
    assert fill_argv(["--c={s.control}"], values) == ["--c=/bin/ctl a b"]


def test_format_syntax_is_plain_text() -> None:
    assert placeholders(["{0} {a!r} {a:>3} {A} {}"]) == set()


@given(st.text())
def test_a_value_fills_exactly_one_element(value: str) -> None:
    assert fill_argv(["go", "--", "{x}"], {"x": value}) == ["go", "--", value]


@given(st.text())
def test_a_plain_value_is_the_value_itself_or_refused(value: str) -> None:
    try:
        text = plain("x", value, {"type": "string", "maxLength": 10})
    except Correctable:
        return
    assert text == value
    assert not text.startswith("-")
    assert not set(text) & set("\0\r\n\x1b\x85\u2028\u2029\u202e")
    text.encode()


@pytest.mark.parametrize(
    "value", ["-rf", "--help", "a\nb", "a\rb", "a\0", "\x1b[0m", "a\x85b", "\u202eb", "\ud800"]
)
def test_values_that_are_not_plain_are_refused(value: str) -> None:
    with pytest.raises(Correctable, match="'x' is refused"):
        plain("x", value, {"type": "string"})


@pytest.mark.parametrize(
    "value", ["$(id)", "; rm -rf /", "中文：值", "a'b\"c", "{python}", "%s", "*", "👩‍🔧"]
)
def test_shell_text_is_plain(value: str) -> None:
    assert plain("x", value, {"type": "string"}) == value


def test_a_pattern_must_match_as_a_whole() -> None:
    with pytest.raises(Correctable, match="as a whole"):
        plain("x", "abc; id", {"type": "string", "pattern": "[a-z]+"})
    assert plain("x", "abc", {"type": "string", "pattern": "[a-z]+"}) == "abc"


def test_an_enum_of_the_operator_may_hold_options() -> None:
    assert plain("x", "-rss", {"enum": ["-rss"]}) == "-rss"


def test_numbers_and_truth_have_one_spelling() -> None:
    assert plain("x", True, {"type": "boolean"}) == "true"
    assert plain("x", 42, {"type": "integer"}) == "42"
    with pytest.raises(Correctable):
        plain("x", -1, {"type": "integer"})
