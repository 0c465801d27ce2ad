"""The windows requests speak of, in the log's own time."""

from __future__ import annotations

import pytest

from agents.log_analysis.spans import Span, span_of

START, END = "2026-11-28T08:00:00.000Z", "2026-11-29T11:00:00.000Z"


def at(text: str) -> str:
    return f"2026-11-{text}.000Z"


@pytest.mark.parametrize(
    ("request_text", "since", "until"),
    [
        ("errors since 10:20", "29T10:20:00", ""),
        ("what changed after 2026-11-28 09:00", "28T09:00:00", ""),
        ("errors since 23:30", "28T23:30:00", ""),
        ("how many between 10:00 and 10:30?", "29T10:00:00", "29T10:30:00"),
        ("from 9:00 to 9:05:30", "29T09:00:00", "29T09:05:30"),
        ("10:00到10:30之间", "29T10:00:00", "29T10:30:00"),
        ("10:20 以来有多少错误", "29T10:20:00", ""),
        ("errors before 09:00", "", "29T09:00:00"),
        ("the last hour", "29T10:00:00", ""),
        ("in the past 30 minutes", "29T10:30:00", ""),
        ("最近一小时", "29T10:00:00", ""),
        ("过去15分钟", "29T10:45:00", ""),
        ("what happened at 10:20", "29T10:19:00", "29T10:21:00"),
        ("since 2026-11-29T12:00:00+02:00", "29T10:00:00", ""),
        ("the last 10 lines that contain ERROR", "", ""),
        ("why does it fail?", "", ""),
        ("at 25:99 nothing", "", ""),
    ],
)
def test_spans(request_text: str, since: str, until: str) -> None:
    found = span_of(request_text, START, END)
    assert found.since == (at(since) if since else "")
    assert found.until == (at(until) if until else "")


def test_a_log_without_times_has_no_span() -> None:
    assert span_of("since 10:20", "", "") == Span()
    assert not Span()
