"""Where the path of a request first leaves the usual way, and whom that points at."""

from __future__ import annotations

import pytest

from agents.log_analysis.judging.departures import Ways, departed, steps_of
from agents.log_analysis.judging.trails import Trail
from agents.log_analysis.scanning.table import Row

FRONT, CART, STORE, MAIL = 1, 2, 3, 4
#: The front calls the cart, which asks the store, and the front mails: each step is a service and a kind of line.
USUAL = [(FRONT, 0), (CART, 0), (STORE, 0), (STORE, 1), (CART, 1), (MAIL, 0), (FRONT, 1)]
FAILED = (CART, 9)


def path(number: int, steps: list[tuple[int, int]]) -> Trail:
    return Trail(
        f"t{number}", [Row(0, n, float(n), 3, kind, service) for n, (service, kind) in enumerate(steps, 1)]
    )


def paths(count: int, steps: list[tuple[int, int]]) -> list[Trail]:
    return [path(number, steps) for number in range(count)]


def ways(gone: tuple[int, ...] = ()) -> Ways:
    return Ways([USUAL] * 20, gone)


def test_a_usual_path_points_at_nobody() -> None:
    assert ways().departure(USUAL, own=False) == {}


def test_an_error_in_the_midst_of_its_own_work_points_at_the_one_that_has_it() -> None:
    found = ways().departure([*USUAL[:3], (STORE, 9), FAILED, (FRONT, 9)], own=False)
    assert found == {STORE: 1.0}


def test_an_answer_that_never_came_points_at_the_silent_callee_first() -> None:
    found = ways(gone=(STORE,)).departure([*USUAL[:2], *USUAL[4:]], own=False)
    assert found == pytest.approx({CART: 0.2, STORE: 0.8})


def test_a_caller_that_fails_in_its_own_words_is_as_likely_as_the_callee_that_is_gone() -> None:
    found = ways(gone=(STORE,)).departure([*USUAL[:2], FAILED, (FRONT, 9)], own=False)
    assert found == pytest.approx({CART: 0.5, STORE: 0.5})


def test_a_path_that_stops_short_points_at_the_one_that_should_have_gone_on() -> None:
    assert ways().departure(USUAL[:3], own=False) == {STORE: 1.0}


def test_a_move_that_is_hardly_known_says_nothing() -> None:
    few = Ways([USUAL] * 2)
    assert few.departure([*USUAL[:3], (STORE, 9)], own=False) == {}


def test_a_path_of_the_usual_side_is_judged_by_the_others() -> None:
    odd = [*USUAL[:3], (STORE, 9)]
    own = Ways([USUAL] * 20 + [odd])
    assert own.departure(odd, own=True) == {STORE: 1.0}


def test_steps_leave_out_lines_of_no_service() -> None:
    trail = path(1, [(FRONT, 0), (0, 5), (CART, 0)])
    assert steps_of(trail, lambda kind: kind + 10) == [(FRONT, 10), (CART, 10)]


def test_both_sides_are_counted_alike() -> None:
    broken = [*USUAL[:3], (STORE, 9), FAILED, (FRONT, 9)]
    after = [*paths(10, USUAL), *(path(100 + n, broken) for n in range(6))]
    usual, found = departed(paths(20, USUAL), after, lambda kind: kind)
    assert not usual.paths
    assert (found.at[STORE], found.at[CART], found.absent[STORE]) == (6, 0, 0)
    assert found.shares[STORE] == pytest.approx(6)


def test_a_service_that_is_in_no_path_any_more_is_counted_as_absent() -> None:
    without = [*USUAL[:2], *USUAL[4:]]
    _, found = departed(paths(20, USUAL), paths(8, without), lambda kind: kind)
    assert found.absent[STORE] == 8
    assert found.shares[STORE] > max(found.shares[CART], found.shares[FRONT])
