"""Which tests go where, and bounds that a busy machine does not break and a fault does."""

from __future__ import annotations

import pytest

from tests.support.lanes import is_light, rank
from tests.support.promptness import quickest


def test_two_lanes_take_everything_and_every_further_one_what_starts_little() -> None:
    assert [is_light(name) for name in ("gw0", "gw1", "gw2", "gw3", "master", "")] == [
        False, False, True, True, False, False,
    ]  # fmt: skip


def test_long_files_come_first_and_what_starts_nothing_last() -> None:
    files = [
        "tests/unit/kernel/test_a.py::test",
        "tests/integration/kernel/test_a.py::test",
        "tests/integration/memory_service/test_fault_points.py::test",
        "tests/integration/symptoms/test_a.py::test",
        "tests/integration/test_fault_points.py::test",
        "tests/e2e/test_a.py::test",
    ]
    assert sorted(files, key=rank) == files[::-1]


def test_one_prompt_attempt_is_enough_and_none_is_a_fault() -> None:
    took = iter([3.0, 0.5, 9.0])
    quickest(lambda: next(took), within=1.0)
    assert next(took) == 9.0
    with pytest.raises(AssertionError, match="1.0, 1.0"):
        quickest(lambda: 1.0, within=1.0)
