"""Equal parts of time: an event that a part begins with is in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.log_analysis.asking.histogram import histogram_of
from agents.log_analysis.asking.searching import Query
from agents.log_analysis.reading import Reading
from kernel.redaction import Redactor
from tests.support.log_scans import START, log, read


@pytest.mark.parametrize(("bucket", "seconds"), [("100ms", 0.1), ("1ms", 0.001), ("300ms", 0.3), ("1s", 1.0)])
def test_an_event_is_in_the_part_that_begins_with_it(tmp_path: Path, bucket: str, seconds: float) -> None:
    # a second in floating point is a little more or less than ten tenths
    scan, _ = read(tmp_path, log(*((n * 3, f"INFO api tick {n}") for n in range(40))))
    found = histogram_of(Reading(scan, Redactor([], salt=b"t")), Query(), bucket, most=200_000)
    times = [row["from"] for row in found["buckets"]]
    assert times[:2] == ["2025-11-30T00:00:00.000Z", "2025-11-30T00:00:03.000Z"]
    assert [row["count"] for row in found["buckets"]] == [1] * 40
    assert found["bucket_seconds"] == seconds


def test_a_bucket_that_the_window_cuts_is_told_as_a_part(tmp_path: Path) -> None:
    scan, _ = read(tmp_path, log(*((n * 6, f"INFO api tick {n}") for n in range(40))))
    reading = Reading(scan, Redactor([], salt=b"t"))
    found = histogram_of(reading, Query(since=START + 30, until=START + 150), "1m")
    assert [(row["count"], "partial" in row) for row in found["buckets"]] == [
        (5, True),
        (10, False),
        (6, True),
    ]
    assert (found["from"], found["to"]) == ("2025-11-30T00:00:00.000Z", "2025-11-30T00:02:00.000Z")
    whole = histogram_of(
        reading, Query(since=START - 7, until=START + 999), "1m"
    )  # the log itself begins and ends
    assert [(row["count"], "partial" in row) for row in whole["buckets"]] == [(10, False)] * 4
    edges = histogram_of(reading, Query(since=START + 60, until=START + 119.9), "1m")
    assert [row["count"] for row in edges["buckets"]] == [10]
