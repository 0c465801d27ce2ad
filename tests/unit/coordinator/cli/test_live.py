"""What is shown while a run goes on: never more than the screen, lines with a time, one ticking line."""

from __future__ import annotations

from datetime import timedelta

import pytest
from rich.console import Console, Group
from rich.text import Text

from coordinator.cli.following import Followed
from coordinator.cli.live import Show, Tail, ticking_line
from kernel.events import StatusChange, TextDelta
from kernel.streams import LoggedEvent


def printed(count: int, height: int) -> list[str]:
    console = Console(width=40, height=height)
    with console.capture() as capture:
        console.print(Tail(Group(*(Text(f"line {n}") for n in range(count)))))
    return [line.rstrip() for line in capture.get().rstrip("\n").splitlines()]


def test_what_fits_is_shown_whole() -> None:
    assert printed(5, 6) == [f"line {n}" for n in range(5)]


def test_of_what_is_taller_the_first_and_the_last_lines_are_shown() -> None:
    lines = printed(100, 24)
    assert len(lines) == 23
    assert lines[:3] == ["line 0", "… 78 lines above …", "line 79"]
    assert lines[-1] == "line 99"


def test_lines_begin_with_the_time_and_the_id_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    with Show("r", drawn=False, lines=True, ticking=False, after="0") as show:
        show.take(LoggedEvent("1-0", StatusChange(run_id="r", state="working")), Followed())
        show.take(LoggedEvent("1-1", TextDelta(run_id="r", text="x")), Followed())
    (line,) = capsys.readouterr().out.splitlines()
    assert line.endswith("  run: working")
    assert show.last_id == "1-1"


def test_the_ticking_line_says_the_state_the_seconds_and_who_works() -> None:
    line = ticking_line(Followed(state="working"), timedelta(seconds=12.3), ["log_analysis: search"])
    assert line.plain == "working  12 s  log_analysis: search"
