"""A sieve lets everything pass that a pattern fits: what it holds back is never asked for again."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.log_analysis.kinds import KINDS, Kind, kind_of
from agents.log_analysis.sieves import Sieve


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.key)
def test_the_first_kind_whose_pattern_fits_is_found(kind: Kind) -> None:
    @settings(
        max_examples=8,
        deadline=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    @given(st.from_regex(kind.pattern))
    def hold(text: str) -> None:
        assert kind_of(text[:600]) is next((k for k in KINDS if k.pattern.search(text[:600])), None)

    hold()


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(?<![\d.])(\d{2}):\d(?!\d)", "１２:3"),
        (r"\bfail\w*\b", "支付 fail失败"),
        (r"^[\w ]{2}\s[^\]]$", "支 \u3000x"),
        (r"(?i)a(?=[)\]])", "xA]"),
        (r"(?!com|org\.)[a-z]+\.io", "x.io"),
    ],
)
def test_looks_and_classes_of_other_scripts_let_more_pass_never_less(pattern: str, text: str) -> None:
    assert re.search(pattern, text)
    assert Sieve(["never", pattern]).passing(text) == [1]
    assert Sieve([pattern]).passing("\ud800 nothing 界") == []
