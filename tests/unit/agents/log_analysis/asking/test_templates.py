"""What is told of the numbers at a wildcard: nothing that its own figures deny."""

from __future__ import annotations

from typing import Any

import pytest

from agents.log_analysis.asking.templates import trend
from agents.log_analysis.mining.parameters import Parameter


@pytest.mark.parametrize(
    ("parts", "told"),
    [
        ({"kind": "rising", "first": 1.0, "last": 9.0, "unit": "ms"}, "rising: 1 to 9 ms"),
        ({"kind": "falling", "first": 9.0, "last": 1.0}, "falling: 9 to 1"),
        ({"kind": "rising", "first": 7.0, "last": 5.0}, "mostly rising: between 1 and 9"),
        ({"kind": "falling", "first": 5.0, "last": 5.0}, "mostly falling: between 1 and 9"),
    ],
)
def test_a_trend_is_told_as_its_ends_are(parts: dict[str, Any], told: str) -> None:
    number = {"place": 0, "label": "n", "looked": 20, "distinct": 20, "top": (), "low": 1.0, "high": 9.0}
    assert trend(Parameter(**{**number, **parts})) == told
