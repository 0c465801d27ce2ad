from __future__ import annotations

import math

import pytest

from agents.log_analysis.judging.rates import (
    adjusted,
    beta_share,
    binomial_above,
    chi_above,
    dispersion,
    fold,
    two_rates,
)


def test_a_binomial_tail_is_counted_as_by_hand() -> None:
    # three heads or more of four: (4 + 1) / 16
    assert binomial_above(3, 4, 0.5) == pytest.approx(5 / 16)
    assert binomial_above(0, 4, 0.5) == 1.0
    assert binomial_above(2, 10, 0.1) == pytest.approx(1 - 0.9**10 - 10 * 0.1 * 0.9**9)


@pytest.mark.parametrize(
    ("k", "n", "share"), [(1, 7, 0.3), (20, 50, 0.42), (3, 400, 0.001), (390, 400, 0.99)]
)
def test_the_beta_function_is_the_sum_of_the_binomial(k: int, n: int, share: float) -> None:
    exact = sum(math.comb(n, i) * share**i * (1 - share) ** (n - i) for i in range(k, n + 1))
    assert beta_share(k, n - k + 1, share) == pytest.approx(exact, rel=1e-6)


def test_two_rates_know_how_much_was_looked_at() -> None:
    assert two_rates(10, 10, (1.0, 1.0)) == 1.0
    assert two_rates(0, 12, (1.0, 1.0)) == pytest.approx(2 * 0.5**12)
    assert two_rates(100, 10, (10.0, 1.0)) > 0.5
    assert two_rates(100, 40, (10.0, 1.0)) < 1e-6


def test_lines_that_come_in_bursts_are_fewer_observations() -> None:
    assert two_rates(20, 60, (1.0, 1.0)) < 1e-4
    assert two_rates(20, 60, (1.0, 1.0), dispersion=20.0) > 0.1
    assert dispersion([5, 5, 5, 5, 5, 5]) == 1.0
    assert dispersion([0, 0, 30, 0, 0, 0]) == pytest.approx(30.0)


def test_the_effect_is_a_fold_per_exposure() -> None:
    assert fold(9.5, 19.5, (1.0, 1.0)) == pytest.approx(1.0)
    assert fold(99.5, 9.5, (10.0, 1.0)) == pytest.approx(0.0)


def test_q_values_are_those_of_benjamini_and_hochberg() -> None:
    assert adjusted([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.02, 0.04, 0.04, 0.02])
    assert adjusted([]) == []


def test_chi_squared_has_its_known_quantile() -> None:
    assert chi_above(3.841) == pytest.approx(0.05, abs=1e-4)
