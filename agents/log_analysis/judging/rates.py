"""Tests whether counts of two windows differ, robust against bursts, and corrects for many tests; pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

#: Terms of the continued fraction; it converges in far fewer for the counts a log has.
_TERMS = 400
_TINY = 1e-300
#: Smallest p told: below it the figure says more about the model than about the log.
SMALLEST = 1e-12


def two_rates(before: float, after: float, exposure: tuple[float, float], dispersion: float = 1.0) -> float:
    """Return the two-sided p of two Poisson rates being one, given how much was looked at on each side.

    Conditional on their sum the counts are binomial. `dispersion` (variance by mean, at least 1) shrinks the
    counts: lines that come in bursts of ten are a tenth as many observations.
    """
    scale = max(1.0, dispersion)
    k, n = after / scale, (before + after) / scale
    total = exposure[0] + exposure[1]
    if n <= 0 or total <= 0 or not 0 < exposure[1] < total:
        return 1.0
    share = exposure[1] / total
    upper = beta_share(k, n - k + 1, share) if k > 0 else 1.0
    lower = 1.0 - (beta_share(k + 1, n - k, share) if n - k > 0 else 0.0)
    return min(1.0, max(SMALLEST, 2 * min(upper, lower)))


def fold(before: float, after: float, exposure: tuple[float, float]) -> float:
    """Return the effect: the binary logarithm of after by before per exposure, shrunk for small counts."""
    return math.log2((after + 0.5) / (before + 0.5) * (exposure[0] / exposure[1]))


def dispersion(counts: Sequence[float], expected: Sequence[float] | None = None) -> float:
    """Return variance by mean of counts over equal (or `expected`) buckets, at least 1: how bursty they are."""
    total = float(sum(counts))
    if total <= 1 or len(counts) < 3:  # noqa: PLR2004 - one bucket has no variance
        return 1.0
    shares = expected or [1.0] * len(counts)
    whole = float(sum(shares)) or 1.0
    means = [total * share / whole for share in shares]
    chi = sum((x - m) ** 2 / m for x, m in zip(counts, means, strict=True) if m > 0)
    return max(1.0, chi / (len(counts) - 1))


def adjusted(ps: Sequence[float]) -> list[float]:
    """Return Benjamini and Hochberg's q for each p: the share of false ones among all that are told."""
    order = sorted(range(len(ps)), key=lambda i: ps[i], reverse=True)
    found = [1.0] * len(ps)
    least = 1.0
    for position, index in enumerate(order):
        least = min(least, ps[index] * len(ps) / (len(ps) - position))
        found[index] = least
    return found


def binomial_above(hits: int, looks: int, share: float) -> float:
    """Return the chance of so many hits or more in so many looks."""
    if hits <= 0:
        return 1.0
    if share <= 0 or hits > looks:
        return SMALLEST
    return max(SMALLEST, beta_share(hits, looks - hits + 1, min(share, 1.0)))


def shares_above(before: tuple[int, int], after: tuple[int, int]) -> float:
    """Return the chance (Fisher's) of as large a share after or a larger one; both sides are (hits, of so many)."""
    (hits, of), (more, of_more) = before, after
    whole, every = of + of_more, hits + more
    if every <= 0 or more <= 0:
        return 1.0
    ways = _ways(whole, every)
    tail = sum(
        math.exp(_ways(of_more, k) + _ways(of, every - k) - ways)
        for k in range(more, min(every, of_more) + 1)
        if every - k <= of
    )
    return min(1.0, max(SMALLEST, tail))


def _ways(of: int, some: int) -> float:
    """Return the logarithm of how many ways there are to choose some of so many."""
    return math.lgamma(of + 1) - math.lgamma(some + 1) - math.lgamma(of - some + 1)


def ranks_above(before: Sequence[float], after: Sequence[float]) -> float:
    """Return the chance that values after lie so far above those before (rank-sum test, allowing for ties)."""
    one, two = len(before), len(after)
    if not one or not two:
        return 1.0
    ordered = sorted([(v, 0) for v in before] + [(v, 1) for v in after])
    ranks, ties, place = 0.0, 0.0, 0
    while place < len(ordered):
        end = place
        while end < len(ordered) and ordered[end][0] == ordered[place][0]:
            end += 1
        ranks += sum(side for _, side in ordered[place:end]) * (place + end + 1) / 2
        ties += (end - place) ** 3 - (end - place)
        place = end
    whole = one + two
    spread = one * two / 12 * (whole + 1 - ties / (whole * (whole - 1)))
    if spread <= 0:
        return 1.0
    away = (ranks - two * (whole + 1) / 2 - 0.5) / math.sqrt(spread)
    return min(1.0, max(SMALLEST, math.erfc(away / math.sqrt(2)) / 2))


def chi_above(value: float) -> float:
    """Return the upper tail of chi-squared with one degree of freedom."""
    return max(SMALLEST, math.erfc(math.sqrt(max(0.0, value) / 2)))


def beta_share(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function, which is a binomial's upper tail for real counts too."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - beta_share(b, a, 1 - x)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    return min(1.0, front * _fraction(a, b, x) / a)


def _fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function (Lentz)."""
    c, d = 1.0, 1.0 / _far(1.0 - (a + b) * x / (a + 1))
    whole = d
    for m in range(1, _TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        d, c = 1.0 / _far(1.0 + even * d), _far(1.0 + even / c)
        whole *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        d, c = 1.0 / _far(1.0 + odd * d), _far(1.0 + odd / c)
        whole *= d * c
        if abs(d * c - 1.0) < 1e-10:  # noqa: PLR2004 - more digits than any p is read with
            break
    return whole


def _far(value: float) -> float:
    """Return a value that can be divided by."""
    return value if abs(value) > _TINY else _TINY
