"""When the trouble began and whether it is over, in words."""

from __future__ import annotations

from typing import Any

from agents.log_analysis.recovery import recovered, started
from kernel.wording import ENGLISH


def spot(line: int, time: str) -> dict[str, Any]:
    return {"source": "a.log", "line": line, "quote": f"line {line}", "time": f"2026-01-01T{time}.000Z"}


def overview(**more: Any) -> dict[str, Any]:
    row = {
        "id": 1,
        "kind": "error",
        "score": 1.0,
        "first": spot(10, "10:00:00"),
        "last": spot(10, "10:00:00"),
    }
    trouble = {
        "first": spot(10, "10:00:00"),
        "last": spot(90, "10:01:10"),
        "events_after": 675,
        "errors_after": 0,
        "until": "2026-01-01T17:00:00.000Z",
        "lasting": "6.98 h",
    }
    return {"problems": [{**row, **more.pop("row", {})}], "trouble": {**trouble, **more}}


def test_it_stopped_with_the_trouble_as_a_whole_and_not_with_the_first_line() -> None:
    quiet = {"told": "6.98 h", **spot(700, "17:00:00")}
    told = recovered(overview(row={"quiet": quiet}), ENGLISH)
    assert told == (
        "It stopped: the last line of the trouble came at 2026-01-01T10:01:10.000Z (a.log:90)."
        " 675 events followed without it, until 2026-01-01T17:00:00.000Z (6.98 h later)."
    )


def test_what_followed_is_told_where_no_line_says_that_it_is_over() -> None:
    told = recovered(overview(ordinary=spot(765, "10:02:00"), errors_after=3), ENGLISH)
    assert told.startswith(
        "No line says so: the last line of the trouble came at 2026-01-01T10:01:10.000Z (a.log:90)."
    )
    assert "675 events followed without it, until" in told
    assert "; 3 of them are other errors." in told
    assert "a.log:765" in told
    assert "the log ends at" in recovered(overview(events_after=0), ENGLISH)


def test_trouble_from_before_the_cause_is_told_with_its_own_line() -> None:
    assert started(overview(), ENGLISH) == (
        "It began at 2026-01-01T10:00:00.000Z; the first line of trouble is a.log:10."
    )
    told = started(overview(first=spot(75, "09:00:00")), ENGLISH)
    assert told.startswith(
        "It began at 2026-01-01T10:00:00.000Z (a.log:10);"
        " the first line of other trouble is a.log:75, at 2026-01-01T09:00:00.000Z."
    )
