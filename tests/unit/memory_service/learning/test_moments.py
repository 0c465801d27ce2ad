from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from memory_service.learning.moments import Span, iso, told, words

#: A Monday.
AT = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("I went yesterday", ["2023-05-07"]),
        ("the day before yesterday", ["2023-05-06"]),
        ("last night it failed", ["2023-05-07"]),
        ("see you tomorrow", ["2023-05-09"]),
        ("two days ago", ["2023-05-06"]),
        ("10 days ago", ["2023-04-28"]),
        ("in three days", ["2023-05-11"]),
        ("last Friday", ["2023-05-05"]),
        ("Last Tues was fine", ["2023-05-02"]),
        ("last Monday", ["2023-05-01"]),
        ("next Monday", ["2023-05-15"]),
        ("this Wednesday", ["2023-05-10"]),
        ("last weekend", ["2023-05-06", "2023-05-07"]),
        ("3 months ago", ["2023-02"]),
        ("six months ago", ["2022-11"]),
        ("last year", ["2022"]),
        ("a couple of years ago", ["2021"]),
        ("on December 31", ["2022-12-31"]),  # the nearest one
        ("by March 5", ["2023-03-05"]),
        ("since March", ["2023-03"]),
        ("昨天重启过", ["2023-05-07"]),
        ("大前天", ["2023-05-05"]),
        ("上周五", ["2023-05-05"]),
        ("下个月", ["2023-06"]),
        ("三个月前", ["2023-02"]),
        ("十二天前", ["2023-04-26"]),
        ("两天后", ["2023-05-10"]),
        ("前年", ["2021"]),
        ("5月8日", ["2023-05-08"]),
    ],
)
def test_relative_dates_are_reckoned_from_the_day_they_were_told_on(text: str, days: list[str]) -> None:
    assert iso(told(text, AT)) == days


def test_a_week_is_its_seven_days() -> None:
    assert iso(told("last week", AT)) == [f"2023-05-0{day}" for day in range(1, 8)]
    assert told("上周", AT) == told("last week", AT) == [Span(date(2023, 5, 1), date(2023, 5, 7))]


@pytest.mark.parametrize(
    "text", ["you may go", "they march on", "31 April", "Sat next to me", "version 1.2.3"]
)
def test_what_is_no_date_gives_none(text: str) -> None:
    assert told(text, AT) == []
    assert words(text) == []


def test_years_before_the_first_are_left_out() -> None:
    assert told("999 years ago", AT.replace(year=500)) == []
    assert told("999 weeks ago", AT.replace(year=2)) == []
    assert told("in 5 days", datetime(9999, 12, 30, tzinfo=UTC)) == []
    assert told("in 5 months", datetime(9999, 12, 30, tzinfo=UTC)) == []


def test_yesterday_is_that_of_the_speakers_zone() -> None:
    late = datetime(
        2023, 5, 7, 19, 30, tzinfo=UTC
    )  # 01:00 of the 8th in Kolkata, noon of the 7th in Los Angeles
    assert iso(told("yesterday", late.astimezone(ZoneInfo("Asia/Kolkata")))) == ["2023-05-07"]
    assert iso(told("yesterday", late.astimezone(ZoneInfo("America/Los_Angeles")))) == ["2023-05-06"]
    assert iso(told("today", late.astimezone(timezone(timedelta(hours=14))))) == ["2023-05-08"]


def test_the_night_of_the_clock_change_has_one_yesterday() -> None:
    after = datetime(2023, 3, 26, 3, 30, tzinfo=ZoneInfo("Europe/Berlin"))
    assert iso(told("gestern? yesterday!", after)) == ["2023-03-25"]


@pytest.mark.parametrize(
    "text",
    [
        "on 8 May, 2023",
        "May 8th 2023",
        "the 8th of May, 2023",
        "2023-05-08 13:00",
        "2023年5月8日",
        "May 8, 2023",
    ],
)
def test_one_day_is_told_by_the_same_words_in_every_form(text: str) -> None:
    assert words(text) == ["2023-05-08", "--05-08", "2023-05", "--05"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in May", ["--05"]),
        ("May 2023", ["2023-05", "--05"]),
        ("5月", ["--05"]),
        ("8 May", ["--05-08", "--05"]),
    ],
)
def test_what_is_not_told_of_a_date_is_left_open(text: str, expected: list[str]) -> None:
    assert words(text) == expected
