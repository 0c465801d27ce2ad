"""Qdrant Edge: the real engine in this process, on a folder that one process owns."""

from __future__ import annotations

import shutil
from pathlib import Path
from threading import Event, Lock
from typing import Any

import qdrant_edge as edge

from kernel.errors import Retryable
from memory_service.index.candidates import Candidates
from memory_service.index.edge_query import Legs, filter_of, vectors
from memory_service.index.folder import IndexDamaged, attempt, mark, marked, own, set_aside
from memory_service.index.port import (
    DENSE_VECTOR,
    HELD,
    INDEXED,
    SPARSE_VECTOR,
    Among,
    Found,
    Held,
    Point,
    Search,
    all_revisions,
    held_of,
)

#: What Linux calls ENOSPC, as the engine passes it on.
_FULL = "No space left on device"
_TYPES = {"keyword": edge.PayloadSchemaType.Keyword, "integer": edge.PayloadSchemaType.Integer}


class EdgeIndex:
    """One shard in `folder`; a second owner is refused."""

    def __init__(self, folder: Path, dimensions: int) -> None:
        self._folder = folder
        self._owner = own(folder)
        self._closing = Lock()
        self._ended = Event()
        self._writing = Lock()
        #: Points by namespace since the last write: each question asks, and a call of the engine waits for its threads.
        self._counts: dict[str, int] = {}
        self._shard: Any = _opened(folder, dimensions, self._ended)

    def upsert(self, points: list[Point]) -> None:
        """Insert points, or replace those of a lower `rev`; a late message changes nothing."""
        # looked up and compared here: the engine's condition holds for a whole operation, so that it would take
        # one for each revision (a look-up costs a fifteenth of a write)
        with self._writing, _Told(self._folder, self._ended):
            known = {held.id: held.rev for held in self._held([point.id for point in points])}
            newer = {p.id: p for p in points if known.get(p.id, -1) < int(p.payload["rev"])}
            if newer:
                made = [edge.Point(p.id, vectors(p), p.payload) for p in newer.values()]
                self._update(edge.UpdateOperation.upsert_points(made))

    def delete(self, ids: list[str]) -> None:
        """Remove points; unknown ids are no error."""
        if ids:
            with self._writing, _Told(self._folder, self._ended):
                self._update(edge.UpdateOperation.delete_points(list(ids)))

    def _update(self, operation: Any) -> None:
        try:
            self._shard.update(operation)
        finally:
            self._counts = {}

    def search(self, search: Search) -> Found:
        """Return the best memories in scope: each leg is searched once, then one query ranks the candidates."""
        with _Told(self._folder, self._ended):
            return self._search(search)

    def _search(self, search: Search) -> Found:
        legs = Legs(search)
        requests = [legs.candidates(leg) for leg in legs.all()]
        dense, *sparse = self._shard.query_batch(edge.QueryBatchRequest(requests))
        candidates = Candidates(search, dense, sparse[0] if sparse else [])
        return candidates.found(self._shard.query(legs.ranked(candidates.ids)) if candidates.ids else [])

    def count(self, namespace: str | None = None) -> int:
        """Return how many points there are."""
        if namespace is None:
            return int(self._shard.count(edge.CountRequest(exact=True, filter=None)))
        counts = self._counts  # a write that ends while we count puts others in their place
        if namespace not in counts:
            # an estimate is enough to weigh keywords by
            request = edge.CountRequest(exact=False, filter=filter_of([Among("ns", (namespace,))]))
            counts[namespace] = int(self._shard.count(request))
        return counts[namespace]

    def page(self, after: str, limit: int) -> list[Held]:
        """Return the next points in the order of their ids."""
        with _Told(self._folder, self._ended):
            # the offset is the first id of the page, not the last of the one before
            request = edge.ScrollRequest(
                offset=after or None, limit=limit + bool(after), with_payload=list(HELD), with_vector=False
            )
            records, _ = self._shard.scroll(request)
            return [held_of(r.id, r.payload) for r in records if str(r.id) != after][:limit]

    def held(self, ids: list[str]) -> list[Held]:
        """Return what there is of these ids."""
        with _Told(self._folder, self._ended):
            return self._held(ids)

    def _held(self, ids: list[str]) -> list[Held]:
        found = self._shard.retrieve(list(ids), list(HELD), False) if ids else []
        return [held_of(record.id, record.payload) for record in found]

    def revisions(self) -> dict[str, int]:
        """Return `rev` of every point by id."""
        return all_revisions(self)

    def broken(self) -> bool:
        """Return whether its content turned out to be unreadable; opened anew it starts empty."""
        return marked(self._folder)

    def flush(self) -> None:
        """Put everything on the disk; until then the write-ahead log holds it."""
        with _Told(self._folder, self._ended):
            self._shard.flush()

    def close(self) -> None:
        """Release the folder; a second call does nothing."""
        with self._closing:
            if not self._owner.closed:
                self._ended.set()
                self._shard.close()
                self._owner.close()


def _opened(folder: Path, dimensions: int, ended: Event) -> Any:
    """Open the shard; one that cannot be read is set aside, and an empty one takes its place."""
    shard = folder / "shard"
    with attempt(folder, shard):
        try:
            with _Told(folder, ended):
                return _open(shard, dimensions)
        except IndexDamaged as error:
            set_aside(folder, shard, error.why)
            with _Told(folder, ended):
                return _open(shard, dimensions)


class _Told:
    """Gives the engine's errors a name: it raises `Exception` itself, or panics outside that tree."""

    def __init__(self, folder: Path, ended: Event) -> None:
        self._folder = folder
        self._ended = ended

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _trace: object) -> None:
        if kind is Exception or (kind is not None and kind.__name__ == "PanicException"):
            if self._ended.is_set():  # the folder may have a new owner by now: nothing of it is damaged
                raise Retryable("the memory index was closed meanwhile", why=str(error)[:500]) from error
            if _FULL in str(error):  # nor is it here; a new one would need even more
                raise Retryable(
                    f"there is no room for the memory index in {self._folder}",
                    why=str(error)[:500],
                    next_step="Free some space; what waits is indexed then.",
                ) from error
            mark(self._folder, str(error))
            raise IndexDamaged(
                f"the memory index in {self._folder} is in trouble",
                why=str(error)[:500],
                next_step="Run `nightdesk memory rebuild` to build it anew from SQL.",
            ) from error


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
