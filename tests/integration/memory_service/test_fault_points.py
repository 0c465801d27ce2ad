"""Every fault point of the memory, kill -9 and exception: what was told is known once, what was forgotten is gone, the index equals SQL."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.fault_matrix import OF_MEMORY, Case, Matrix, matrix_of, unreached
from tests.support.fault_memory import STORIES

pytestmark = pytest.mark.integration


@pytest.fixture(scope="module")
def matrix(request: pytest.FixtureRequest) -> Iterator[Matrix]:
    with matrix_of(request, OF_MEMORY, STORIES) as made:
        yield made


def test_there_are_enough_fault_points_and_a_scenario_reaches_each(matrix: Matrix) -> None:
    assert len(OF_MEMORY) >= 100
    assert unreached(matrix, OF_MEMORY) == []


@pytest.mark.parametrize("case", OF_MEMORY, ids=["-".join(case) for case in OF_MEMORY])
def test_a_fault_breaks_no_promise(matrix: Matrix, case: Case) -> None:
    verdict = matrix.verdicts[case].result()
    assert verdict.problems == []
    assert verdict.struck
