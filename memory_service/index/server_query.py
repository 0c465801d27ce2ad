"""Searches, filters and scores as a Qdrant server takes them."""

from __future__ import annotations

from typing import Any

from qdrant_client import models

from memory_service.index.port import DENSE_VECTOR, RANKED, SPARSE_VECTOR, Among, Condition, Search
from memory_service.lexical import Sparse
from memory_service.scoring import Const, Expr, Var


class Legs:
    """The parts of one search as the client's requests."""

    def __init__(self, search: Search, *, graph: bool) -> None:
        self._search = search
        self._graph = graph
        self._filter = filter_of(search.scope.conditions())
        corpus = filter_of([Among("ns", (search.scope.namespace,))])
        # keyword weights of one namespace must not depend on what others store
        self._params = models.SearchParams(idf=models.IdfCorpusParams(corpus=corpus))

    def all(self) -> list[dict[str, Any]]:
        """Return the dense leg and, where the question has words, the sparse one."""
        dense: dict[str, Any] = {"query": self._search.dense, "using": DENSE_VECTOR}
        if self._graph:
            dense["params"] = models.SearchParams(exact=self._search.exact)
        if not self._search.sparse:
            return [dense]
        return [
            dense,
            {"query": sparse_of(self._search.sparse), "using": SPARSE_VECTOR, "params": self._params},
        ]

    def candidates(self, leg: dict[str, Any]) -> models.QueryRequest:
        """Return the query for the candidates of one leg."""
        return models.QueryRequest(limit=self._search.candidates, filter=self._filter, **leg)

    def ranked(self, ids: list[Any]) -> models.QueryRequest:
        """Return the query that ranks candidates; every one gets its true score of both legs."""
        return models.QueryRequest(
            limit=self._search.limit,
            filter=models.Filter(must=[models.HasIdCondition(has_id=ids)]),
            prefetch=[models.Prefetch(limit=len(ids), **leg) for leg in self.all()],
            query=models.FormulaQuery(
                formula=_expression(self._search.score), defaults=self._search.defaults
            ),
            with_payload=list(RANKED),
        )


def sparse_of(sparse: Sparse) -> models.SparseVector:
    return models.SparseVector(indices=sparse.indices, values=sparse.values)


def filter_of(conditions: list[Condition]) -> models.Filter:
    """Return a filter with everything in `must`: Qdrant ORs the `should` of a query and its prefetches."""
    return models.Filter(must=[_condition(condition) for condition in conditions])


def _condition(condition: Condition) -> models.FieldCondition:
    if isinstance(condition, Among):
        return models.FieldCondition(key=condition.key, match=models.MatchAny(any=list(condition.values)))
    between = models.Range(gt=condition.above, lte=condition.at_most, lt=condition.below)
    return models.FieldCondition(key=condition.key, range=between)


def _expression(expr: Expr) -> Any:
    if isinstance(expr, Const):
        return expr.value
    if isinstance(expr, Var):
        return expr.name
    operands = [_expression(operand) for operand in expr.operands]
    match expr.operation:
        case "sum":
            return models.SumExpression(sum=operands)
        case "mult":
            return models.MultExpression(mult=operands)
        case "max":
            return models.MaxExpression(max=operands)
        case "div":
            return models.DivExpression(
                div=models.DivParams(left=operands[0], right=operands[1], by_zero_default=0.0)
            )
        case "pow":
            return models.PowExpression(pow=models.PowParams(base=operands[0], exponent=operands[1]))
