"""A Qdrant server through qdrant-client: for more than one memory worker."""

from __future__ import annotations

from typing import Any

from qdrant_client import QdrantClient, models

from kernel.errors import NightdeskError
from memory_service.index.candidates import Candidates
from memory_service.index.port import (
    DENSE_VECTOR,
    HELD,
    SPARSE_VECTOR,
    Among,
    Found,
    Held,
    Point,
    Search,
    all_revisions,
    held_of,
)
from memory_service.index.server_collection import UPSERT_MOST, ensure, sorted_errors
from memory_service.index.server_query import Legs, filter_of, sparse_of


class ServerIndex:
    """One collection. `payload_indexes` is off only for the client's in-memory mode, which has none."""

    def __init__(
        self, client: QdrantClient, collection: str, dimensions: int, *, payload_indexes: bool = True
    ) -> None:
        self._client = client
        self._collection = collection
        # the in-memory mode has no graph either, and warns of what would steer one
        self._graph = payload_indexes
        try:
            ensure(client, collection, dimensions, payload_indexes=payload_indexes)
        except NightdeskError:
            client.close()  # nobody gets an index that could close it
            raise

    def upsert(self, points: list[Point]) -> None:
        """Insert points, or replace those of a lower `rev`; a late message changes nothing."""
        by_rev: dict[int, list[models.PointStruct]] = {}
        for point in points:
            vectors: dict[str, Any] = {DENSE_VECTOR: point.dense}
            if point.sparse:
                vectors[SPARSE_VECTOR] = sparse_of(point.sparse)
            struct = models.PointStruct(id=point.id, vector=vectors, payload=point.payload)
            by_rev.setdefault(int(point.payload["rev"]), []).append(struct)
        for rev, group in by_rev.items():
            older = models.Filter(must=[models.FieldCondition(key="rev", range=models.Range(lt=float(rev)))])
            for start in range(0, len(group), UPSERT_MOST):
                some = group[start : start + UPSERT_MOST]
                with sorted_errors():
                    self._client.upsert(self._collection, some, wait=True, update_filter=older)

    def delete(self, ids: list[str]) -> None:
        """Remove points; unknown ids are no error."""
        if ids:
            with sorted_errors():
                self._client.delete(self._collection, models.PointIdsList(points=list(ids)), wait=True)

    def search(self, search: Search) -> Found:
        """Return the best memories in scope: each leg is searched once, then one query ranks the candidates."""
        legs = Legs(search, graph=self._graph)
        with sorted_errors():
            requests = [legs.candidates(leg) for leg in legs.all()]
            answers = self._client.query_batch_points(self._collection, requests)
            dense, *sparse = [answer.points for answer in answers]
            candidates = Candidates(search, dense, sparse[0] if sparse else [])
            if not candidates.ids:
                return candidates.found([])
            [ranked] = self._client.query_batch_points(self._collection, [legs.ranked(list(candidates.ids))])
        return candidates.found(ranked.points)

    def count(self, namespace: str | None = None) -> int:
        """Return how many points there are."""
        only = filter_of([Among("ns", (namespace,))]) if namespace is not None else None
        with sorted_errors():
            return self._client.count(self._collection, count_filter=only, exact=namespace is None).count

    def page(self, after: str, limit: int) -> list[Held]:
        """Return the next points in the order of their ids."""
        with sorted_errors():
            # the offset is the first id of the page, not the last of the one before
            records, _ = self._client.scroll(
                self._collection,
                limit=limit + bool(after),
                offset=after or None,
                with_payload=list(HELD),
                with_vectors=False,
            )
        return [held_of(r.id, r.payload) for r in records if str(r.id) != after][:limit]

    def held(self, ids: list[str]) -> list[Held]:
        """Return what there is of these ids."""
        if not ids:
            return []
        with sorted_errors():
            found = self._client.retrieve(
                self._collection, list(ids), with_payload=list(HELD), with_vectors=False
            )
        return [held_of(record.id, record.payload) for record in found]

    def revisions(self) -> dict[str, int]:
        """Return `rev` of every point by id."""
        return all_revisions(self)

    def broken(self) -> bool:
        """Return False: a server mends its own disk, or says what is wrong with it."""
        return False

    def flush(self) -> None:
        """Do nothing: the server sees to its own disk, and every write waited for it."""

    def close(self) -> None:
        """Close the connection."""
        self._client.close()
