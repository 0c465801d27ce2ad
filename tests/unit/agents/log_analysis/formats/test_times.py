from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
