from __future__ import annotations

from coordinator.cli.memory_audit import cells, lines
from coordinator.cli.memory_forgetting import histogram, said


def test_the_longest_bar_is_that_of_the_most_memories_and_one_of_many_is_seen_too() -> None:
    bars = [{"from": 0.0, "to": 0.1, "memories": 1}, {"from": 0.1, "to": 0.2, "memories": 1000}]
    few, many = histogram(bars).splitlines()
    assert few.split() == ["0.0-0.1", "█", "1"]
    assert many.count("█") == 40


def test_a_night_is_said_in_a_line() -> None:
    night = {"epoch": "2026-11-30", "ran": True, "counts": {"cold": 3, "archived": 1, "batches": 1}}
    assert said(night) == "the night of 2026-11-30: 1 archived, 3 cold"
    assert "another worker" in said({**night, "ran": False, "counts": {}, "done_at": None})
    done = said({**night, "ran": False, "counts": {}, "done_at": "2026-11-30T12:10:00+00:00"})
    assert "was done at 2026-11-" in done
    assert "once a night" in done
    assert "nothing was due" in said({**night, "counts": {}})


def test_an_entry_of_the_audit_is_read_by_a_person() -> None:
    entry = {
        "seq": 7,
        "at": "2026-11-30T03:00:00.123+00:00",
        "actor": "ann",
        "action": "forget",
        "memory_id": "0123456789ab",
        "before": {"content": "f" * 64, "status": "active"},
        "after": {"status": "deleted", "user": None, "with": "0123456789ab"},
        "reason": "asked",
    }
    assert lines(entry).splitlines() == [
        "    7 2026-11-30 03:00:00 forget 01234567 by ann",
        "      before: content ffffffff, status active",
        "      after: status deleted",
        "      why: asked",
    ]
    run = "run:0fdaf2ba-7f3a-4000-8000-000000000001"
    assert cells({**entry, "actor": run})[2] == "run:0fdaf2ba"
    assert cells(entry) == [
        *("7", "2026-11-30 03:00:00", "ann", "forget", "01234567"),
        *("content ffffffff, status active", "status deleted", "asked"),
    ]
