"""What a request counts by."""

from __future__ import annotations

import pytest

from agents.log_analysis.groups import asks_who_is_hit, each_of


@pytest.mark.parametrize(
    ("request_text", "entity"),
    [
        ("how many errors per host?", "host"),
        ("errors by service", "service"),
        ("how many lines does each node have", "host"),
        ("how many errors per tenant?", "tenant"),
        ("每台主机有多少错误？", "host"),
        ("各服务的错误数", "service"),
        ("each node reports an error", ""),
        ("caused by clients", ""),
    ],
)
def test_a_number_for_each(request_text: str, entity: str) -> None:
    assert each_of(request_text)[0] == entity


def test_who_is_hit() -> None:
    assert asks_who_is_hit("which pod is affected")
    assert asks_who_is_hit("哪台主机受影响")
    assert not asks_who_is_hit("the pod is affected")
