"""A Qdrant server through qdrant-client: for more than one memory worker."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from kernel.errors import Fatal, Retryable
from memory_service.embed.port import cosine
from memory_service.index.port import (
    DENSE_VECTOR,
    INDEXED,
    SPARSE_VECTOR,
    Among,
    Condition,
    Found,
    IndexHit,
    Point,
    Search,
)
from memory_service.lexical import Sparse
from memory_service.scoring import Const, Expr, Var

_SCROLL = 1000
_TIMEOUT_SECONDS = 10
_SERVER_ERRORS = 500


def connect(url: str, api_key: str | None) -> QdrantClient:
    """Return a client; the server is asked on first use."""
    # the check would run in a thread of its own and warn where nobody reads it
    return QdrantClient(url=url, api_key=api_key, timeout=_TIMEOUT_SECONDS, check_compatibility=False)


class ServerIndex:
    """One collection. `payload_indexes` is off only for the client's in-memory mode, which has none."""

    def __init__(
        self, client: QdrantClient, collection: str, dimensions: int, *, payload_indexes: bool = True
    ) -> None:
        self._client = client
        self._collection = collection
        self._graph = payload_indexes  # the in-memory mode has neither, and warns of what it cannot do
        with _sorted_errors():
            if not client.collection_exists(collection):
                self._create(dimensions, payload_indexes=payload_indexes)

    def upsert(self, points: list[Point]) -> None:
        """Insert points, or replace those of a lower `rev`; a late message changes nothing."""
        by_rev: dict[int, list[models.PointStruct]] = {}
        for point in points:
            vectors: dict[str, Any] = {DENSE_VECTOR: point.dense}
            if point.sparse:
                vectors[SPARSE_VECTOR] = _sparse(point.sparse)
            struct = models.PointStruct(id=point.id, vector=vectors, payload=point.payload)
            by_rev.setdefault(int(point.payload["rev"]), []).append(struct)
        for rev, group in by_rev.items():
            older = models.Filter(must=[models.FieldCondition(key="rev", range=models.Range(lt=float(rev)))])
            with _sorted_errors():
                self._client.upsert(self._collection, group, wait=True, update_filter=older)

    def delete(self, ids: list[str]) -> None:
        """Remove points; unknown ids are no error."""
        if ids:
            with _sorted_errors():
                self._client.delete(self._collection, models.PointIdsList(points=list(ids)), wait=True)

    def search(self, search: Search) -> Found:
        """Return the best memories in scope: each leg is searched once, then one query ranks the candidates."""
        legs = _Legs(search, graph=self._graph)
        with _sorted_errors():
            requests = [legs.candidates(leg) for leg in legs.all()]
            answers = self._client.query_batch_points(self._collection, requests)
            dense, *sparse = [answer.points for answer in answers]
            ids = {point.id for leg in (dense, *sparse) for point in leg}
            if not ids:
                return Found(hits=[], complete=True)
            [ranked] = self._client.query_batch_points(self._collection, [legs.ranked(list(ids))])
        full = search.candidates
        return Found(
            hits=[IndexHit(str(p.id), p.score, _cosine(search, p), p.payload or {}) for p in ranked.points],
            dense_floor=dense[-1].score if len(dense) == full else 0.0,
            sparse_floor=sparse[0][-1].score if sparse and len(sparse[0]) == full else 0.0,
            complete=len(dense) < full,
        )

    def count(self, namespace: str | None = None) -> int:
        """Return how many points there are."""
        only = _filter([Among("ns", (namespace,))]) if namespace is not None else None
        with _sorted_errors():
            return self._client.count(self._collection, count_filter=only, exact=namespace is None).count

    def revisions(self) -> dict[str, int]:
        """Return `rev` of every point by id."""
        found: dict[str, int] = {}
        offset: Any = None
        while True:
            with _sorted_errors():
                records, offset = self._client.scroll(
                    self._collection, limit=_SCROLL, offset=offset, with_payload=["rev"], with_vectors=False
                )
            found.update({str(record.id): int((record.payload or {})["rev"]) for record in records})
            if offset is None:
                return found

    def flush(self) -> None:
        """Do nothing: the server sees to its own disk, and every write waited for it."""

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def _create(self, dimensions: int, *, payload_indexes: bool) -> None:
        self._client.create_collection(
            self._collection,
            vectors_config={
                DENSE_VECTOR: models.VectorParams(size=dimensions, distance=models.Distance.COSINE)
            },
            sparse_vectors_config={SPARSE_VECTOR: models.SparseVectorParams(modifier=models.Modifier.IDF)},
        )
        if not payload_indexes:
            return
        tenant = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
        self._client.create_payload_index(self._collection, "ns", tenant)
        for name, kind in INDEXED.items():
            self._client.create_payload_index(self._collection, name, models.PayloadSchemaType(kind))


@contextmanager
def _sorted_errors() -> Iterator[None]:
    try:
        yield
    except ResponseHandlingException as error:
        raise Retryable("Qdrant did not answer", why=str(error)) from error
    except UnexpectedResponse as error:
        if (error.status_code or 0) >= _SERVER_ERRORS:
            raise Retryable("Qdrant is in trouble", why=str(error)) from error
        raise Fatal("Qdrant refused a request", why=str(error)) from error
    except ApiException as error:
        raise Retryable("Qdrant did not answer", why=str(error)) from error


class _Legs:
    """The parts of one search as the client's requests."""

    def __init__(self, search: Search, *, graph: bool) -> None:
        self._search = search
        self._graph = graph
        self._filter = _filter(search.scope.conditions())
        corpus = _filter([Among("ns", (search.scope.namespace,))])
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
            {"query": _sparse(self._search.sparse), "using": SPARSE_VECTOR, "params": self._params},
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
            with_payload=True,
            with_vector=[DENSE_VECTOR],
        )


def _cosine(search: Search, point: models.ScoredPoint) -> float:
    vector = point.vector[DENSE_VECTOR] if isinstance(point.vector, dict) else None
    return cosine(search.dense, [float(x) for x in vector]) if isinstance(vector, list) else 0.0  # type: ignore[arg-type] # one vector, not many


def _sparse(sparse: Sparse) -> models.SparseVector:
    return models.SparseVector(indices=sparse.indices, values=sparse.values)


def _filter(conditions: list[Condition]) -> models.Filter:
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
