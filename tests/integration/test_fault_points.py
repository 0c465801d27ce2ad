"""Every fault point of runs, kill -9 and exception: the run ends, effects happen at most once, events have no gap."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.fault_desk import SCENARIOS
from tests.support.fault_matrix import OF_RUNS, Case, Matrix, matrix_of, unreached
from tests.support.fault_memory import STORIES

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def matrix(request: pytest.FixtureRequest) -> Iterator[Matrix]:
    with matrix_of(request, OF_RUNS, [name for name in SCENARIOS if name not in STORIES]) as made:
        yield made


def test_there_are_enough_fault_points_and_a_scenario_reaches_each(matrix: Matrix) -> None:
    assert len(OF_RUNS) >= 100
    assert unreached(matrix, OF_RUNS) == []


@pytest.mark.parametrize("case", OF_RUNS, ids=["-".join(case) for case in OF_RUNS])
def test_a_fault_breaks_no_promise(matrix: Matrix, case: Case) -> None:
    verdict = matrix.verdicts[case].result()
    assert verdict.problems == []
    assert verdict.struck
