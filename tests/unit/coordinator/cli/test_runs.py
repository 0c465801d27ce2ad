"""The table of runs stays one line for each in a terminal of 80 columns, and whole in a pipe."""

from __future__ import annotations

from typing import Any

from rich.console import Console

from coordinator.cli.runs import _table

RUN: dict[str, Any] = {
    "run_id": "50c4c4a1-9acc-4858",
    "state": "succeeded",
    "marks": ["taken over"],
    "reason": "a reason that is long enough to need a second line where there is little room",
    "text": "why does checkout return 503 since the deploy of this evening?",
    "created_local": "2026-11-30 01:23:55 +0000",
    "seconds": 31.7,
}


def shown(width: int, room: int | None) -> list[str]:
    console = Console(width=width, color_system=None, highlight=False)
    with console.capture() as capture:
        console.print(_table([RUN, RUN], room))
    return capture.get().rstrip().splitlines()


def test_a_narrow_terminal_has_a_line_for_each_run() -> None:
    lines = shown(80, 80)
    assert len(lines) == 4  # the heads, a rule and two runs
    begins = "50c4c4a1 succeeded, taken over 2026-11-30 01:23:55 +0000 31.7 s why"
    assert " ".join(lines[2].split()).startswith(begins)
    assert lines[2].endswith("…")


def test_a_pipe_keeps_the_reason() -> None:
    assert "little room)" in " ".join(shown(200, None))
