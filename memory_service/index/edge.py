"""Qdrant Edge: the real engine in this process, on a folder that one process owns."""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path
from threading import Lock
from typing import IO, Any

import qdrant_edge as edge

from kernel.errors import Fatal
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
_TYPES = {"keyword": edge.PayloadSchemaType.Keyword, "integer": edge.PayloadSchemaType.Integer}


class EdgeIndex:
    """One shard in `folder`; a second owner is refused."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._owner = _own(folder)
        self._closing = Lock()
        self._shard: Any = _open(folder / "shard", dimensions)

    def upsert(self, points: list[Point]) -> None:
        """Insert points, or replace those of a lower `rev`; a late message changes nothing."""
        # the condition holds for a whole operation, so one operation per revision
        by_rev: dict[int, list[Any]] = {}
        for point in points:
            vectors: dict[str, Any] = {DENSE_VECTOR: point.dense}
            if point.sparse:
                vectors[SPARSE_VECTOR] = _sparse(point.sparse)
            by_rev.setdefault(int(point.payload["rev"]), []).append(
                edge.Point(point.id, vectors, point.payload)
            )
        for rev, group in by_rev.items():
            older = edge.Filter(must=[edge.FieldCondition("rev", range=edge.RangeFloat(lt=float(rev)))])
            self._shard.update(edge.UpdateOperation.upsert_points(group, condition=older))

    def delete(self, ids: list[str]) -> None:
        """Remove points; unknown ids are no error."""
        if ids:
            self._shard.update(edge.UpdateOperation.delete_points(list(ids)))

    def search(self, search: Search) -> Found:
        """Return the best memories in scope: each leg is searched once, then one query ranks the candidates."""
        legs = _Legs(search)
        requests = [legs.candidates(leg) for leg in legs.all()]
        dense, *sparse = self._shard.query_batch(edge.QueryBatchRequest(requests))
        ids = {point.id for leg in (dense, *sparse) for point in leg}
        if not ids:
            return Found(hits=[], complete=True)
        full = search.candidates
        ranked = self._shard.query(legs.ranked(ids))
        cosines = {point.id: point.score for point in dense}
        found_by_words = {point.id for point in ranked} - cosines.keys()
        if found_by_words:
            alike = self._shard.query(legs.alike(found_by_words))
            cosines.update({point.id: point.score for point in alike})
        return Found(
            hits=[IndexHit(str(p.id), p.score, cosines[p.id], p.payload) for p in ranked],
            dense_floor=dense[-1].score if len(dense) == full else 0.0,
            sparse_floor=sparse[0][-1].score if sparse and len(sparse[0]) == full else 0.0,
            complete=len(dense) < full,
        )

    def count(self, namespace: str | None = None) -> int:
        """Return how many points there are."""
        only = _filter([Among("ns", (namespace,))]) if namespace is not None else None
        # an estimate is enough to weigh keywords by, and costs nothing
        return int(self._shard.count(edge.CountRequest(exact=namespace is None, filter=only)))

    def revisions(self) -> dict[str, int]:
        """Return `rev` of every point by id."""
        found: dict[str, int] = {}
        offset: Any = None
        while True:
            request = edge.ScrollRequest(
                offset=offset, limit=_SCROLL, with_payload=["rev"], with_vector=False
            )
            records, offset = self._shard.scroll(request)
            found.update({str(record.id): int(record.payload["rev"]) for record in records})
            if offset is None:
                return found

    def flush(self) -> None:
        """Put everything on the disk; until then the write-ahead log holds it."""
        self._shard.flush()

    def close(self) -> None:
        """Release the folder; a second call does nothing."""
        with self._closing:
            if not self._owner.closed:
                self._shard.close()
                self._owner.close()


def _own(folder: Path) -> IO[str]:
    """Lock the folder for this process, or raise Fatal; the lock goes when the process does."""
    owner = (folder / "owner").open("a+", encoding="utf-8")
    try:
        fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        owner.seek(0)
        holder = owner.read().strip() or "another process"
        owner.close()
        raise Fatal(
            f"the memory index in {folder} is open in {holder}",
            why="Qdrant Edge has one owner process",
            next_step="Stop the other memory worker, or set NIGHTDESK_QDRANT_URL to a Qdrant server for more than one.",
        ) from error
    owner.truncate(0)
    owner.write(f"process {os.getpid()}")
    owner.flush()
    return owner


def _open(folder: Path, dimensions: int) -> Any:
    config = edge.EdgeConfig(
        vectors={DENSE_VECTOR: edge.EdgeVectorParams(size=dimensions, distance=edge.Distance.Cosine)},
        sparse_vectors={SPARSE_VECTOR: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)},
    )
    if folder.exists():
        return edge.EdgeShard.load(str(folder), config)
    # made beside and renamed, so that a kill half way leaves no half shard
    made = folder.with_suffix(".new")
    shutil.rmtree(made, ignore_errors=True)
    shard = edge.EdgeShard.create(str(made), config)
    shard.update(edge.UpdateOperation.create_field_index("ns", edge.KeywordIndexParams(is_tenant=True)))
    for name, kind in INDEXED.items():
        kind_of_edge = _TYPES.get(kind, edge.PayloadSchemaType.Float)
        shard.update(edge.UpdateOperation.create_field_index(name, kind_of_edge))
    shard.flush()
    shard.close()
    made.rename(folder)
    return edge.EdgeShard.load(str(folder), config)


class _Legs:
    """The parts of one search as Edge's requests."""

    def __init__(self, search: Search) -> None:
        self._search = search
        self._filter = _filter(search.scope.conditions())
        corpus = _filter([Among("ns", (search.scope.namespace,))])
        # keyword weights of one namespace must not depend on what others store
        self._params = edge.SearchParams(idf=edge.IdfParams(corpus=corpus))
        self._dense: dict[str, Any] = {
            "query": edge.Query.Nearest(search.dense, DENSE_VECTOR),
            "params": edge.SearchParams(exact=search.exact),
        }

    def all(self) -> list[dict[str, Any]]:
        """Return the dense leg and, where the question has words, the sparse one."""
        if not self._search.sparse:
            return [self._dense]
        sparse = {
            "query": edge.Query.Nearest(_sparse(self._search.sparse), SPARSE_VECTOR),
            "params": self._params,
        }
        return [self._dense, sparse]

    def candidates(self, leg: dict[str, Any]) -> Any:
        """Return the query for the candidates of one leg."""
        return edge.QueryRequest(
            limit=self._search.candidates, filter=self._filter, with_payload=False, **leg
        )

    def alike(self, ids: set[Any]) -> Any:
        """Return the query for the cosines of some points."""
        only = edge.Filter(must=[edge.HasIdCondition(ids)])
        return edge.QueryRequest(limit=len(ids), filter=only, with_payload=False, **self._dense)

    def ranked(self, ids: set[Any]) -> Any:
        """Return the query that ranks candidates; every one gets its true score of both legs."""
        return edge.QueryRequest(
            limit=self._search.limit,
            filter=edge.Filter(must=[edge.HasIdCondition(ids)]),
            prefetches=[edge.Prefetch(limit=len(ids), **leg) for leg in self.all()],
            query=edge.Formula(_expression(self._search.score), self._search.defaults),
            with_payload=True,
        )


def _sparse(sparse: Sparse) -> Any:
    return edge.SparseVector(sparse.indices, sparse.values)


def _filter(conditions: list[Condition]) -> Any:
    """Return a filter with everything in `must`: Qdrant ORs the `should` of a query and its prefetches."""
    return edge.Filter(must=[_condition(condition) for condition in conditions])


def _condition(condition: Condition) -> Any:
    if isinstance(condition, Among):
        return edge.FieldCondition(condition.key, match=edge.MatchAny(list(condition.values)))
    return edge.FieldCondition(
        condition.key, range=edge.RangeFloat(gt=condition.above, lte=condition.at_most, lt=condition.below)
    )


def _expression(expr: Expr) -> Any:
    if isinstance(expr, Const):
        return edge.Expression.Constant(expr.value)
    if isinstance(expr, Var):
        return edge.Expression.Variable(expr.name)
    operands = [_expression(operand) for operand in expr.operands]
    match expr.operation:
        case "sum":
            return edge.Expression.Sum(operands)
        case "mult":
            return edge.Expression.Mult(operands)
        case "max":
            return edge.Expression.Max(operands)
        case "div":
            return edge.Expression.Div(operands[0], operands[1], 0.0)
        case "pow":
            return edge.Expression.Pow(operands[0], operands[1])
