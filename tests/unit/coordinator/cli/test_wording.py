"""One line, ages and times as people read them."""

from __future__ import annotations

import time

import pytest

from coordinator.cli.wording import age, elapsed, event_time, one_line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        (" a\n b ", "a b"),
        ("0123456789", "0123456789"),
        ("aaaa bbbb c", "aaaa bbbb…"),
        ("aaaa bb cccc", "aaaa bb…"),
        ("0123456789a", "012345678…"),
        ("连接池的大小对于这个服务太小了", "连接池的大小对于这…"),
        ("a 0123456789", "a 0123456…"),
    ],
)
def test_one_line_is_cut_at_a_word(text: str, line: str) -> None:
    assert one_line(text, 10) == line


@pytest.mark.parametrize(
    ("days", "said"),
    [(0, "just now"), (0.0005, "just now"), (0.004, "6 min"), (0.125, "3 h"), (2.2, "2 d"), (400, "400 d")],
)
def test_ages_are_readable(days: float, said: str) -> None:
    assert age(days) == said


def test_the_time_of_an_event_is_local_with_its_offset(monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        for zone, said in (("UTC", "22:15:55 +0000"), ("Asia/Shanghai", "06:15:55 +0800")):
            monkeypatch.setenv("TZ", zone)
            time.tzset()
            assert event_time("2026-11-29T22:15:55.170000+00:00") == said
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_clock_never_runs_below_zero() -> None:
    assert (elapsed(-3), elapsed(119.6)) == ("0 s", "120 s")
