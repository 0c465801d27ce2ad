"""Text and times of logs as a terminal may get them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from coordinator.cli.logs_text import asked_span, asked_time, asked_window, plain, print_document, when
from kernel.errors import Correctable

HOSTILE = "a\x1b[31m\x07\x9b1mb\u202egnp\u200b\u2028c\x00\n\u0085d"


@pytest.fixture
def _shanghai(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_what_a_terminal_would_obey_stands_as_an_escape() -> None:
    assert plain("错误 💥 ok") == "错误 💥 ok"
    shown = plain(HOSTILE)
    assert shown.isprintable()
    assert "\\x1b" in shown
    assert "\\u202e" in shown


def test_a_document_holds_nothing_raw_and_reads_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    print_document({HOSTILE: [HOSTILE, "错误"]})
    out = capsys.readouterr().out
    assert [c for c in out if not c.isprintable() and c != "\n"] == []
    assert json.loads(out) == {HOSTILE: [HOSTILE, "错误"]}
    assert "错误" in out


@pytest.mark.usefixtures("_shanghai")
def test_times_stand_in_the_readers_zone_with_the_offset() -> None:
    assert when("2026-11-29T10:20:30.000Z", utc=False) == "2026-11-29 18:20:30 +0800"
    assert when("2026-11-29T10:20:30.250Z", utc=True) == "2026-11-29 10:20:30.250 +0000"
    assert when("", utc=False) == ""


@pytest.mark.usefixtures("_shanghai")
def test_a_time_without_a_zone_is_in_the_zone_that_is_shown() -> None:
    assert asked_time("2026-11-29T18:20:30", utc=False) == "2026-11-29T18:20:30+08:00"
    assert asked_time("2026-11-29T18:20:30", utc=True) == "2026-11-29T18:20:30+00:00"
    assert asked_time("2026-11-29T18:20:30Z", utc=False) == "2026-11-29T18:20:30+00:00"
    assert asked_time("", utc=False) == ""
    assert (
        asked_span("2026-11-29..2026-11-30", utc=True)
        == "2026-11-29T00:00:00+00:00..2026-11-30T00:00:00+00:00"
    )


@pytest.mark.parametrize("text", ["soon", "10:20:30:40", "25:00", "-999999w", "yesterday10:20", "\x1b[31m"])
def test_what_is_no_time_says_how_to_write_one(text: str) -> None:
    with pytest.raises(Correctable) as caught:
        asked_time(text, utc=False)
    assert caught.value.what.isprintable()
    assert "2026-11-29T10:20:00" in caught.value.next_step


@pytest.mark.usefixtures("_shanghai")
@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("now", "2026-11-30T01:00:00+00:00"),
        ("-90m", "2026-11-29T23:30:00+00:00"),
        ("2h ago", "2026-11-29T23:00:00+00:00"),
        ("8:30", "2026-11-30T08:30:00+08:00"),
        ("10:20", "2026-11-29T10:20:00+08:00"),  # at 09:00 the clock said so yesterday
        ("yesterday", "2026-11-29T00:00:00+08:00"),
        ("today 10:20:30", "2026-11-30T10:20:30+08:00"),
    ],
)
def test_a_time_may_be_said_as_people_say_it(text: str, moment: str) -> None:
    assert asked_time(text, utc=False, now=datetime(2026, 11, 30, 1, tzinfo=UTC)) == moment


def test_a_clock_time_may_name_its_zone() -> None:
    noon = datetime(2026, 11, 30, 12, tzinfo=UTC)  # 20:00 in Shanghai
    assert asked_time("10:12:00Z", utc=False, now=noon) == "2026-11-30T10:12:00+00:00"
    assert asked_time("18:12+08:00", utc=True, now=noon) == "2026-11-30T18:12:00+08:00"
    assert asked_time("13:00Z", utc=False, now=noon) == "2026-11-29T13:00:00+00:00"
    assert asked_time("yesterday 01:30+0800", utc=True, now=noon) == "2026-11-29T01:30:00+08:00"


def test_a_time_that_comes_twice_opens_a_window_early_and_closes_it_late(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        assert asked_window("2026-10-25 02:30", "2026-10-25 02:30", utc=False) == (
            "2026-10-25T02:30:00+02:00",
            "2026-10-25T02:30:00+01:00",
        )
    finally:
        monkeypatch.undo()
        time.tzset()


def test_a_clock_time_that_ends_a_window_comes_after_its_beginning(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, last = asked_window("2026-11-28T23:50", "0:10", utc=True)
    assert (first, last) == ("2026-11-28T23:50:00+00:00", "2026-11-29T00:10:00+00:00")
    assert capsys.readouterr().err == "until 0:10 is 2026-11-29 00:10:00 +0000\n"


@pytest.mark.parametrize("text", ["2026-11-29", "..", "2026-11-29..", "..2026-11-29"])
def test_what_is_no_window_says_how_to_write_one(text: str) -> None:
    with pytest.raises(Correctable, match="is no window"):
        asked_span(text, utc=True)
