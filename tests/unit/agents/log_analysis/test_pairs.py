"""Two questions asked in one breath."""

from __future__ import annotations

import pytest

from agents.log_analysis.pairs import asked_of
from agents.log_analysis.questions import Question

ERRORS = Question("count", level="error")


@pytest.mark.parametrize(
    ("request_text", "asked"),
    [
        (
            "How many errors are there and which host has the most?",
            Question("count", level="error", then=Question("most", level="error", entity="host")),
        ),
        (
            "一共有多少错误？哪个节点最多？",
            Question("count", level="error", then=Question("most", level="error", entity="host")),
        ),
        (
            "How many 404s are there, and which IP sent the most?",
            Question("count", "404", then=Question("most", "404", entity="ip")),
        ),
        (
            "how many errors, how many warnings?",
            Question("count", level="error", then=Question("count", level="warning")),
        ),
        ("How many 401s were there and when was the first?", Question("count", "401")),
        ("how many errors are there?", ERRORS),
        ("how many 500 errors", Question("count", "500")),
        ("哪台主机有问题？一共有多少错误？", Question("count", level="error", why=True)),
        ("Why did it break? How many errors are there?", Question("count", level="error", why=True)),
        ("how many times did search and replace fail?", Question("count", "search replace fail")),
        ("Was there an outage, from when to when?", Question("start", also=("recovered",))),
        ("有没有故障，从几点到几点？", Question("start", also=("recovered",))),
        ("Is there a fault in this log?", None),
        ("有没有问题？", None),
        (
            "which host has the most errors and when did it start?",
            Question("most", level="error", entity="host", also=("start",)),
        ),
        ("how many errors, did it recover?", Question("count", level="error", also=("recovered",))),
        ("有没有恢复？为什么失败？", Question("recovered", why=True)),
        (
            "which pod is affected, and how many errors in billing?",
            Question("each", level="error", entity="pod", then=Question("count", "billing", "error")),
        ),
    ],
)
def test_pairs(request_text: str, asked: Question | None) -> None:
    assert asked_of(request_text) == asked
