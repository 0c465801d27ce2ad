"""Logs are cut at lines that begin an event whatever stands before them, or not at all."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.log_analysis.scanning.opened import Opened
from agents.log_analysis.scanning.segments import SHARE, readers_for, share
from agents.log_analysis.sources.bodies import Body

TRACE = "2026-03-01T06:00:00Z ERROR shop boom\njava.lang.IllegalStateException: x\n\tat a.B.c(B.java:1)\n\tat a.C.d(C.java:2)\n"


@pytest.fixture
def opened(tmp_path: Path):
    files = []

    def make(text: str, number: int = 0) -> Opened:
        path = tmp_path / f"{number}.log"
        path.write_text(text, encoding="utf-8")
        files.append(path.open("rb"))
        body = Body(files[-1], path.stat().st_size)
        return Opened(number, path.name, body, datetime(2026, 11, 30, tzinfo=UTC), "", "UTC", "")

    yield make
    for file in files:
        file.close()


def test_a_trace_stays_with_its_event(opened) -> None:
    log = opened(TRACE * 200)
    shares = share([log], 4)
    assert len(shares) == 4
    edges = [part.start for parts in shares for part in parts] + [log.body.size]
    assert edges == [0, *(part.end for parts in shares for part in parts)]
    assert all(edge % len(TRACE) == 0 for edge in edges)


def test_bytes_are_shared_over_files(opened) -> None:
    logs = [opened(TRACE * 50, 0), opened(TRACE * 300, 1), opened(TRACE * 50, 2)]
    shares = share(logs, 2)
    assert [[part.file for part in parts] for parts in shares] == [[0, 1], [1, 2]]
    sizes = [sum(part.end - part.start for part in parts) for parts in shares]
    assert abs(sizes[0] - sizes[1]) <= 2 * len(TRACE)


@pytest.mark.parametrize(
    "line",
    ["Mar  1 06:00:00 web app[1]: tick\n", "06:00:00.123 tick\n", "I0301 06:00:00.123456 1 a.go:1] tick\n"],
)
def test_a_log_whose_stamps_leave_something_out_is_not_cut(opened, line: str) -> None:
    assert len(share([opened(line * 500)], 2)) == 1


def test_a_log_of_one_line_is_not_cut(opened) -> None:
    assert len(share([opened("x" * 10_000)], 3)) == 1


def test_a_cut_stands_between_whole_container_lines(opened) -> None:
    line = "2026-03-01T06:00:00.1Z stdout {} {}\n"
    event = (
        line.format("P", "first half,")
        + line.format("F", " second half")
        + line.format("F", "\tat a.B.c(B.java:1)")
    )
    for parts in share([opened(event * 300)], 3):
        assert parts[0].start % len(event.encode()) == 0


def test_processes_are_started_only_where_they_pay() -> None:
    assert readers_for(SHARE - 1, 4) == 1
    assert readers_for(SHARE * 3, 2) == 2
    assert readers_for(SHARE * 3, 8) == 3
    assert readers_for(SHARE * 100, 0) >= 1
