"""What is shrunk stays JSON, keeps what came first, says how much went, and fits."""

from __future__ import annotations

from typing import Any

import pytest

from agents.runtime.shrinking import dumped, shrunk

ROWS = [{"line": n, "quote": f"行 {n} {'x' * 80}"} for n in range(50)]


def test_what_fits_is_left_alone() -> None:
    value = {"hits": ROWS}
    assert shrunk(value, len(dumped(value))) is value


def test_the_last_list_gives_way_first_and_says_so() -> None:
    value = {"total": 50, "problems": ROWS[:5], "rare": ROWS, "rare_left_out": 7}
    less = shrunk(value, 1500)
    assert less["problems"] == ROWS[:5]
    assert less["total"] == 50
    assert less["rare"] == ROWS[: len(less["rare"])]
    assert len(less["rare"]) >= 1
    assert less["rare_left_out"] == 57 - len(less["rare"])
    assert len(value["rare"]) == 50  # the journal's own value is not touched


@pytest.mark.parametrize("room", [200, 400, 1500, 4000])
@pytest.mark.parametrize(
    "value",
    [
        {"hits": ROWS},
        ROWS,
        "结果" * 3000,
        {"text": "y" * 9000, "more": {"deep": ["z" * 4000] * 4}},
        {str(n): n for n in range(2000)},
    ],
)
def test_any_room_holds(value: Any, room: int) -> None:
    assert len(dumped(shrunk(value, room))) <= room + 120


def test_a_list_keeps_its_first_rows_and_a_long_text_both_ends() -> None:
    rows = shrunk(ROWS, 1000)
    assert rows[:-1] == ROWS[: len(rows) - 1]
    assert rows[-1] == {"left_out": 50 - (len(rows) - 1)}
    assert shrunk("HEAD" + "x" * 9000 + "TAIL", 400).startswith("HEAD")
    assert shrunk("HEAD" + "x" * 9000 + "TAIL", 400).endswith("TAIL")
