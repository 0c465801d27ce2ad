from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.log_analysis.formats.parsing import Parser
from agents.log_analysis.formats.times import Stamps, from_number, iso

REFERENCE = datetime(2026, 11, 29, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "moment"),
    [
        ("2026-11-29 19:52:38.776944 INFO: x", "2026-11-29T19:52:38.776Z"),
        ("2024-03-01 12:00:00,250 ERROR log4j", "2024-03-01T12:00:00.250Z"),
        ("2022-08-27T17:22:01.694554+03:00 space01", "2022-08-27T14:22:01.694Z"),
        ("2025-08-13 01:45:01.123 PDT [1] LOG: x", "2025-08-13T08:45:01.123Z"),
        ("2024/01/02 03:04:05 [error] 7#7: nginx", "2024-01-02T03:04:05.000Z"),
        ('1.2.3.4 - - [15/Feb/2013:06:00:31 +0100] "-" 400', "2013-02-15T05:00:31.000Z"),
        ("[Sun Dec 04 04:47:44 2005] [notice] w", "2005-12-04T04:47:44.000Z"),
        ("Wed May 19 08:00:01 EST 2021 line 1", "2021-05-19T13:00:01.000Z"),
        ("17/06/09 20:10:40 INFO e", "2017-06-09T20:10:40.000Z"),
        ("081109 203615 148 INFO d", "2008-11-09T20:36:15.000Z"),
        ("20171223-22:15:29:606|Step", "2017-12-23T22:15:29.606Z"),
        ("20120702.102240,672:DEBUG:", "2012-07-02T10:22:40.672Z"),
        ("2012-025T10:22:40,672:DEBUG", "2012-01-25T10:22:40.672Z"),
        ("1428634687123 Hello", "2015-04-10T02:58:07.123Z"),
        ("1428634687 Hello", "2015-04-10T02:58:07.000Z"),
        ("#+1162490366", "2006-11-02T17:59:26.000Z"),
        ("10-Feb-2023 10:20:30.123 SEVERE", "2023-02-10T10:20:30.123Z"),
        ("31/12/2023 10:11:12 day first", "2023-12-31T10:11:12.000Z"),
        ("12/31/2023 10:11:12 month first", "2023-12-31T10:11:12.000Z"),
        ("@4000000037c219bf2ef02e94 tai", "1999-08-24T04:03:43.787Z"),
        ("I0102 15:04:05.123456 1 x.go:1] glog", "2026-01-02T15:04:05.123Z"),
        ("Nov 29 11:00:00 host app[1]: today", "2026-11-29T11:00:00.000Z"),
        ("Dec 31 23:50:00 host app[1]: last year", "2025-12-31T23:50:00.000Z"),
        ("2024-01-01 ERROR a day", "2024-01-01T00:00:00.000Z"),
        ("nova.log.1.2017-05-16_13:53:08 2017-05-16 00:00:00.008 25746 INFO", "2017-05-16T00:00:00.008Z"),
    ],
)
def test_stamps(line: str, moment: str) -> None:
    found = Stamps(REFERENCE).find(line)
    assert found is not None
    assert iso(found[0]) == moment


def test_the_new_year_does_not_make_a_year_of_minutes() -> None:
    stamps = Stamps(datetime(2027, 1, 1, 1, tzinfo=UTC))
    before, after = stamps.find("Dec 31 23:59:00 h a: x"), stamps.find("Jan  1 00:01:00 h a: x")
    assert before
    assert after
    assert after[0] - before[0] == 120


def test_fields_of_all_units() -> None:
    stamps = Stamps(REFERENCE)
    seconds = 1_700_000_000
    for value in (
        seconds,
        seconds * 1000,
        seconds * 10**6,
        seconds * 10**9,
        str(seconds),
        {"$date": seconds * 1000},
    ):
        assert stamps.value(value) == pytest.approx(seconds)
    assert stamps.value("2023-11-14T22:13:20Z") == seconds
    assert not stamps.zoneless
    assert stamps.value("2023-11-14 22:13:20") == seconds
    assert stamps.zoneless


def test_what_is_no_time_is_none() -> None:
    stamps = Stamps(REFERENCE)
    assert stamps.find("2024-99-99 99:99:99 nonsense") is None
    assert stamps.find("no time, 3 of 4") is None
    assert from_number(42) is None
    assert stamps.value(True) is None
    assert iso(None) == iso(float("nan")) == ""


@given(st.text(max_size=200))
def test_no_text_breaks_it(text: str) -> None:
    found = Stamps(REFERENCE).find(text)
    assert found is None or 0 <= found[1] < found[2] <= len(text)


@pytest.mark.parametrize(
    ("line", "moment"),
    [
        ("2026年11月29日 10:20:00 支付失败", "2026-11-29T10:20:00.000Z"),
        ("2026年3月1日 下午 2:05:09.5 x", "2026-03-01T14:05:09.500Z"),
        ("2026年3月1日 星期日 上午12时05分09秒 x", "2026-03-01T00:05:09.000Z"),
        ("11/29/2026 1:02:03 PM x", "2026-11-29T13:02:03.000Z"),
        ("2/3/2026 12:02:03 AM x", "2026-02-03T00:02:03.000Z"),
        ("Nov 29, 2026 1:02:03 PM com.acme.A b", "2026-11-29T13:02:03.000Z"),
        ("[11/29/26 13:02:03:678 UTC] 0000001 SystemOut", "2026-11-29T13:02:03.678Z"),
        ("févr. 02 10:20:00 hôte app[1]: x", "2026-02-02T10:20:00.000Z"),
        ("29 Okt 2026 10:20:00 x", "2026-10-29T10:20:00.000Z"),
        ("11月 29 10:20:00 主机 app[1]: x", "2026-11-29T10:20:00.000Z"),
        ("Sun, 29 Nov 2026 10:20:00 +0800 x", "2026-11-29T02:20:00.000Z"),
        ("2026-W48-7T10:20:00Z x", "2026-11-29T10:20:00.000Z"),
        ("2026-11-29T10:20:00+08 x", "2026-11-29T02:20:00.000Z"),
        ("@40000000675bc7a50000000a x", "2024-12-13T05:34:56.000Z"),
        ("- 1764411600 2025.11.29 n1 x", "2025-11-29T10:20:00.000Z"),
        ("1764411600123456 micro", "2025-11-29T10:20:00.123Z"),
        ("1764411600123456789 nano", "2025-11-29T10:20:00.123Z"),
        ("110916 12:00:01 mysqld", "2011-09-16T12:00:01.000Z"),
    ],
)
def test_more_spellings(line: str, moment: str) -> None:
    found = Stamps(REFERENCE).find(line)
    assert found is not None
    assert iso(found[0]) == moment


@pytest.mark.parametrize(
    "line",
    [
        "2026-13-45 10:20:00 x",
        "a version 1.2.3.4 of b",
        "took 10:99:00",
        "99/99/2026 10:20:00",
        "12345 items",
        "2026",
    ],
)
def test_what_only_looks_like_a_time(line: str) -> None:
    assert Stamps(REFERENCE).find(line) is None


def moments(lines: list[str], zone: str = "UTC", reference: datetime = REFERENCE) -> list[str]:
    stamps = Stamps(reference, zone)
    found = [stamps.find(line) for line in lines]
    return [iso(f[0]) if f else "" for f in found]


def test_stamps_without_a_zone_take_the_given_one_and_say_so() -> None:
    assert moments(["2026-11-29 10:20:00 x", "2026-11-29 10:20:00Z x"], "Asia/Shanghai") == [
        "2026-11-29T02:20:00.000Z",
        "2026-11-29T10:20:00.000Z",
    ]
    assert moments(["2026-11-29 10:20:00 x"], "UTC-3:30") == ["2026-11-29T13:50:00.000Z"]
    stamps = Stamps(REFERENCE, "Asia/Shanghai")
    assert stamps.notes == []
    assert stamps.value("2026-11-29T10:20:00") == stamps.value("2026-11-29T02:20:00Z")
    assert stamps.notes == ["time stamps name no zone: taken as Asia/Shanghai"]


@pytest.mark.parametrize(
    ("zone", "name", "moment", "note"),
    [
        ("UTC", "CST", "2026-11-29T16:20:00.000Z", "the zone CST is ambiguous: taken as -06:00"),
        ("Asia/Shanghai", "CST", "2026-11-29T02:20:00.000Z", "the zone CST is ambiguous: taken as +08:00"),
        ("Asia/Kolkata", "IST", "2026-11-29T04:50:00.000Z", "the zone IST is ambiguous: taken as +05:30"),
        ("Asia/Jerusalem", "IST", "2026-11-29T08:20:00.000Z", "the zone IST is ambiguous: taken as +02:00"),
        (
            "Australia/Brisbane",
            "EST",
            "2026-11-29T00:20:00.000Z",
            "the zone EST is ambiguous: taken as +10:00",
        ),
    ],
)
def test_a_name_of_several_zones_is_taken_as_the_given_one_where_it_fits(
    zone: str, name: str, moment: str, note: str
) -> None:
    stamps = Stamps(REFERENCE, zone)
    found = stamps.find(f"2026-11-29 10:20:00 {name} x")
    assert found is not None
    assert iso(found[0]) == moment
    assert stamps.notes == [note]


def test_the_hour_told_twice_is_settled_by_the_order_of_lines() -> None:
    lines = [
        f"2026-10-25 {clock} x"
        for clock in ("01:59:00", "02:10:00", "02:59:59", "02:00:30", "02:59:00", "03:01:00")
    ]
    assert [m[11:19] for m in moments(lines, "Europe/Berlin")] == [
        "23:59:00",
        "00:10:00",
        "00:59:59",
        "01:00:30",
        "01:59:00",
        "02:01:00",
    ]


def test_a_log_that_passes_new_year_goes_on_in_the_next() -> None:
    lines = [
        "Nov 28 10:00:00 a",
        "Dec 31 23:59:59 a",
        "Jan  1 00:00:01 a",
        "Dec 31 23:59:59 late",
        "Feb 28 10:00:00 a",
    ]
    assert [m[:10] for m in moments(lines, reference=datetime(2026, 3, 1, tzinfo=UTC))] == [
        "2025-11-28",
        "2025-12-31",
        "2026-01-01",
        "2025-12-31",
        "2026-02-28",
    ]
    assert [
        m[:7]
        for m in moments(
            ["Oct 30 1:00:00 a", "Jul 27 1:00:00 a"], reference=datetime(2027, 7, 28, tzinfo=UTC)
        )
    ] == [
        "2026-10",
        "2027-07",
    ]
    assert moments(["Feb 29 10:00:00 a"], reference=datetime(2026, 3, 1, tzinfo=UTC)) == [
        "2024-02-29T10:00:00.000Z"
    ]


def test_the_last_line_settles_the_year_of_the_first() -> None:
    parser = Parser(datetime(2026, 11, 30, tzinfo=UTC))
    lines = ["Nov 28 10:00:00 h a[1]: x", "Dec  2 10:00:00 h a[1]: x"]
    parser.prepare(lines[:1], [lines[1], "no time"])
    assert [iso(parser.parse(line).time)[:10] for line in lines] == ["2025-11-28", "2025-12-02"]


def test_clear_dates_settle_the_others() -> None:
    parser = Parser(REFERENCE)
    parser.prepare(["03/04/2026 10:00:00 x", "03/25/2026 10:00:00 x"])
    assert iso(parser.parse("03/04/2026 10:00:00 x").time)[:10] == "2026-03-04"
    assert parser.notes == ["time stamps name no zone: taken as UTC"]
    unsure = Parser(REFERENCE)
    assert iso(unsure.parse("03/04/2026 10:00:00 x").time)[:10] == "2026-04-03"
    assert "day first" in unsure.notes[-1]


def test_a_clock_beside_dated_lines_takes_the_day_of_the_nearest() -> None:
    stamps = Stamps(REFERENCE)
    lines = [
        "2025-08-08 23:59:58 a",
        "23:59:59 b",
        "00:00:01 c",
        "2025-08-09 00:00:02 d",
        "23:59:57 late",
        "00:00:03 e",
    ]
    days = [iso(found[0])[:10] for line in lines if (found := stamps.find(line))]
    assert days == ["2025-08-08", "2025-08-08", "2025-08-09", "2025-08-09", "2025-08-08", "2025-08-09"]
    assert not any("no date" in note for note in stamps.notes)


def test_a_clock_alone_passes_midnight() -> None:
    assert [m[:10] for m in moments(["22:00:00 a", "23:59:59 a", "23:59:58 a", "00:00:01 a"])] == [
        "2026-11-29",
        "2026-11-29",
        "2026-11-29",
        "2026-11-30",
    ]


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        ("1612101112123", "2021-01-31T13:51:52.123Z"),
        ("0001-01-01T00:00:00Z", ""),
        ("20260101T102030Z", "2026-01-01T10:20:30.000Z"),
        ({"$date": {"$numberLong": "1764411600000"}}, "2025-11-29T10:20:00.000Z"),
        ("", ""),
        ("null", ""),
        (10**400, ""),
        (float("nan"), ""),
        ([1], ""),
    ],
)
def test_values_of_fields(value: object, moment: str) -> None:
    assert iso(Stamps(REFERENCE).value(value)) == moment


@pytest.mark.parametrize(
    ("zone", "line", "ordered"),
    [
        ("Europe/Berlin", "2026-10-25 02:10:00 x", True),
        ("Europe/Berlin", "2026-10-25T02:10:00Z x", False),
        ("Asia/Shanghai", "2026-10-25 02:10:00 x", False),
        ("UTC", "2026-10-25 02:10:00 x", False),
        ("+05:30", "2026-10-25 02:10:00 x", False),
    ],
)
def test_the_order_of_lines_matters_only_where_clocks_are_set_back(
    zone: str, line: str, ordered: bool
) -> None:
    stamps = Stamps(REFERENCE, zone)
    assert stamps.find(line) is not None
    assert stamps.ordered is ordered
