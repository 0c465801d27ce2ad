"""A role is vacant while all its programs are struck and none is back; outages that meet count once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.chaos.pulse import overlap
from tests.chaos.roles import vacancies


def deed(at: float, program: str, what: str = "kill", pid: int = 1) -> dict[str, Any]:
    return {"at": at, "program": program, "what": what, "pid": pid}


def test_one_of_two_is_enough() -> None:
    assert vacancies([deed(1, "coordinator"), deed(9, "coordinator-2")], {"coordinator": [4.0]}, 20) == []


def test_both_are_away_until_the_first_is_back() -> None:
    deeds = [deed(1, "coordinator"), deed(3, "coordinator-2"), deed(3, "worldly")]
    assert vacancies(deeds, {"coordinator": [0.5, 7.0], "coordinator-2": [9.0]}, 20) == [(3, 7.0)]


def test_a_frozen_one_is_back_when_it_is_woken() -> None:
    deeds = [deed(1, "maintenance", "zombie"), deed(2, "maintenance-2"), deed(5, "maintenance", "wake")]
    assert vacancies(deeds, {"maintenance-2": [8.0]}, 20) == [(2, 5)]


def test_one_that_never_comes_back_is_away_to_the_end() -> None:
    assert vacancies([deed(1, "coordinator"), deed(2, "coordinator-2")], {}, 20) == [(2, 20)]


@pytest.mark.parametrize(
    ("outages", "seconds"),
    [([], 0), ([(0, 2), (1, 3)], 2), ([(2, 3), (4, 6)], 2), ([(0, 9)], 4), ([(6, 9)], 0)],
)
def test_outages_that_meet_count_once(outages: list[tuple[float, float]], seconds: float) -> None:
    assert overlap(outages, 1, 5) == seconds
