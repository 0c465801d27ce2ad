"""A histogram for people: no empty part is left out without a word, and one that the window cuts is marked."""

from __future__ import annotations

from typing import Any

import pytest

from coordinator.cli.logs_view import every_bucket, print_histogram


def _found(*counts: int, partial: int = -1) -> dict[str, Any]:
    times = [f"2026-11-30T10:{n:02}:00.000Z" for n in range(len(counts))]
    rows = [
        {"from": times[n], "count": c, **({"partial": True} if n == partial else {})}
        for n, c in enumerate(counts)
        if c or n == partial
    ]
    return {"from": times[0], "to": times[-1], "bucket_seconds": 60.0, "buckets": rows, "total": sum(counts)}


def test_empty_buckets_are_between_the_others() -> None:
    assert [row["count"] for row in every_bucket(_found(0, 3, 0, 0, 5, 0))] == [0, 3, 0, 0, 5, 0]


def test_many_empty_buckets_are_counted_and_a_part_is_marked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")  # a row a line
    print_histogram(_found(4, *[0] * 9, 2, partial=10), utc=True)
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.strip()][2:]
    assert [row[1][:5] for row in rows] == ["10:00", "10:01", "10:02", "5", "10:08", "10:09", "10:10"]
    assert rows[3][:3] == ["…", "5", "more"]
    assert "part" in rows[-1]
    assert "part" not in rows[0]
