"""Calibration: from which relevance on an embedder's hits mean something, measured on pairs whose answer is known."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from memory_service import lexical
from memory_service.embed.port import Embedder, cosine
from memory_service.lexical import Sparse
from memory_service.scoring import (
    DENSE,
    SPARSE,
    Scale,
    Weights,
    compiled,
    keyword_half,
    relevance,
    score_parts,
)

#: Of the unrelated pairs so many may still pass as middle ("may have to do with it"): one in ten.
UNRELATED_SHOWN = 0.1
#: No unrelated pair passes as high, with so much to spare: the pairs are a sample.
MARGIN = 0.02
#: Between middle and high there is room for what is not sure.
_LEAST_BETWEEN = 0.05
#: Cosines below those of nearly every pair tell nothing; the floor of the rescale is set so far below them.
_FLOOR_SHARE, _FLOOR_MARGIN = 0.01, 0.02
_FEWEST_PAIRS = 20
_BARS = 20


@dataclass(frozen=True)
class Pair:
    """A question and the memory that answers it; those of one topic may answer each other's."""

    topic: str
    question: str
    memory: str


@dataclass(frozen=True, kw_only=True)
class Spread:
    """A distribution of relevance: its quantiles, and a histogram of 20 bars from 0 to 1."""

    count: int
    least: float
    quarter: float
    median: float
    three_quarters: float
    most: float
    bars: list[int]

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Return the distribution of values in 0..1."""
        bars = Counter(min(int(value * _BARS), _BARS - 1) for value in values)
        least, quarter, median, three, most = (_quantile(values, q) for q in (0, 0.25, 0.5, 0.75, 1))
        return cls(
            count=len(values),
            least=least,
            quarter=quarter,
            median=median,
            three_quarters=three,
            most=most,
            bars=[bars[bar] for bar in range(_BARS)],
        )


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Measured cut-offs, and what they rest on."""

    scale: Scale
    related: Spread
    unrelated: Spread
    #: Shares of the related pairs that pass as middle and as high, and of the unrelated ones that pass as middle.
    related_middle: float
    related_high: float
    unrelated_middle: float
    #: True where related and unrelated pairs cannot be told apart: such cut-offs are not worth storing.
    useless: bool = field(default=False)

    def told(self) -> dict[str, Any]:
        """Return everything as JSON."""
        return asdict(self)


def measure(embedder: Embedder, pairs: Sequence[Pair]) -> Calibration:
    """Return the cut-offs of an embedder by its relevance of pairs.

    `low`: just below the cosine that 99 of 100 pairs reach. `middle_cut`: at most UNRELATED_SHOWN of the unrelated
    pairs pass it. `high_cut`: none of them does, by MARGIN.
    """
    if len(pairs) < _FEWEST_PAIRS:
        raise ValueError(f"{len(pairs)} pairs say nothing of a model; {_FEWEST_PAIRS} are the least")
    questions = [embedder.question(pair.question) for pair in pairs]
    memories = embedder.passages([pair.memory for pair in pairs])
    cosines = [[cosine(question, memory) for memory in memories] for question in questions]
    low = _floor([value for row in cosines for value in row])
    told = _relevances(pairs, cosines, low)
    related = [told(i, i) for i in range(len(pairs))]
    unrelated = [
        told(i, j)
        for i, asked in enumerate(pairs)
        for j, known in enumerate(pairs)
        if asked.topic != known.topic
    ]
    scale = _cut(low, unrelated)
    passing = _share(related, scale.middle_cut)
    return Calibration(
        scale=scale,
        related=Spread.of(related),
        unrelated=Spread.of(unrelated),
        related_middle=passing,
        related_high=_share(related, scale.high_cut),
        unrelated_middle=_share(unrelated, scale.middle_cut),
        useless=passing < _USEFUL * UNRELATED_SHOWN,
    )


#: Related pairs must pass at least so many times as often as unrelated ones.
_USEFUL = 3


def _cut(low: float, unrelated: Sequence[float]) -> Scale:
    middle = _round_up(_quantile(unrelated, 1 - UNRELATED_SHOWN))
    high = _round_up(max(max(unrelated) + MARGIN, middle + _LEAST_BETWEEN))
    return Scale(low=low, middle_cut=middle, high_cut=min(high, 1.0))


def _floor(cosines: Sequence[float]) -> float:
    low = _quantile(cosines, _FLOOR_SHARE) - _FLOOR_MARGIN
    return max(0.0, math.floor(low * 100) / 100)


def _relevances(
    pairs: Sequence[Pair], cosines: Sequence[Sequence[float]], low: float
) -> Callable[[int, int], float]:
    """Return what gives the relevance of the memory of one pair to the question of another, as recall counts it."""
    stored = [lexical.document(pair.memory) for pair in pairs]
    asked = [lexical.query(pair.question) for pair in pairs]
    having = Counter(index for sparse in stored for index in sparse.indices)
    idf = {i: math.log(1 + (len(pairs) - n + 0.5) / (n + 0.5)) for i, n in having.items()}
    weights = Weights.of(1, 0, 0)
    scale = Scale(low=low, middle_cut=0, high_cut=0)
    parts = score_parts(weights, scale, now=0.0, half=keyword_half(len(pairs)))
    similarity, keywords = compiled(parts["similarity"]), compiled(parts["keywords"])

    def told(question: int, memory: int) -> float:
        values = {
            DENSE: cosines[question][memory],
            SPARSE: _bm25(asked[question], stored[memory], idf),
        }
        one_script = lexical.share_script(pairs[question].question, pairs[memory].memory)
        explain = {"similarity": similarity(values), "keywords": keywords(values)}
        return relevance(explain, weights, one_script=one_script)

    return told


def _bm25(asked: Sparse, stored: Sparse, idf: dict[int, float]) -> float:
    own = dict(zip(stored.indices, stored.values, strict=True))
    return sum(own[index] * idf[index] for index in asked.indices if index in own)


def _quantile(values: Sequence[float], share: float) -> float:
    """Return the value that `share` of the values do not exceed."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def _share(values: Sequence[float], cut: float) -> float:
    return sum(value >= cut for value in values) / len(values)


def _round_up(value: float) -> float:
    """Return the value to two digits, never below it: a cut-off must hold what it promises."""
    return math.ceil(value * 100 + 1e-9) / 100
