"""The relay: brings the index to where SQL is. Content comes from the current row, so order does not matter."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

from sqlalchemy import delete, update
from sqlmodel import Session, col, select

from kernel import logs
from kernel.clock import now
from kernel.database import Database
from kernel.errors import NightdeskError
from memory_service import lexical
from memory_service.domain import Memory, Status
from memory_service.embed.port import Embedder, Vector
from memory_service.fading import NEVER
from memory_service.index.port import MemoryIndex, Point, audience
from memory_service.reading import to_memory
from memory_service.space import Space, VectorCache
from memory_service.tables import MemoryOutboxRow, MemoryRow, MemoryStateRow
from memory_service.upsert import enqueue

log = logs.get(__name__)

#: Memories per round: at 26 ms an embedding a round of new ones takes under two seconds.
_BATCH = 64
#: Ids in one IN list; SQLite allows 32,766 variables.
_CHUNK = 5000


@dataclass(frozen=True)
class Drift:
    """What differed between SQL and the index; all of it is on its way to be mended."""

    missing: int = 0
    stale: int = 0
    orphaned: int = 0

    @property
    def total(self) -> int:
        """Return how many points differed."""
        return self.missing + self.stale + self.orphaned


class Relay:
    """Empties the outbox into the index; one drain at a time in a process, any number of processes."""

    def __init__(self, database: Database, index: MemoryIndex, embedder: Embedder, space: Space) -> None:
        self._database = database
        self._index = index
        self._embedder = embedder
        self._cache = VectorCache(space)
        self._lock = Lock()

    def drain(self) -> int:
        """Bring everything waiting into the index; return how many memories were looked at."""
        done = 0
        with self._lock:
            while batch := self._next():
                try:
                    vectors = self._apply(batch)
                except NightdeskError as error:
                    self._postpone(batch, str(error))
                    raise
                self._settle(batch, vectors)
                done += len(batch)
            if done:
                self._index.flush()
        return done

    def reconcile(self) -> Drift:
        """Compare every point with SQL and send what differs through the outbox."""
        indexed = self._index.revisions()
        with self._database.writing("memory.relay.drift") as session:
            at = now()
            wanted = _active(session)
            missing = [id_ for id_ in wanted if id_ not in indexed]
            stale = [id_ for id_ in wanted if id_ in indexed and indexed[id_] != wanted[id_][1]]
            orphaned = [id_ for id_ in indexed if id_ not in wanted]
            for id_ in missing + stale:
                enqueue(session, *wanted[id_], at)
            known = _known(session, orphaned)
            for pk, rev in known.values():
                enqueue(session, pk, rev, at)
        # SQL went back (a restored backup): a higher revision in the index would refuse the right one
        ahead = [id_ for id_ in stale if indexed[id_] > wanted[id_][1]]
        self._index.delete(ahead + [id_ for id_ in orphaned if id_ not in known])
        drift = Drift(len(missing), len(stale), len(orphaned))
        if drift.total:
            log.info("memory_index_drift", missing=drift.missing, stale=drift.stale, orphaned=drift.orphaned)
        return drift

    def _next(self) -> list[Memory]:
        query = (
            select(MemoryRow, MemoryStateRow)
            .join(MemoryStateRow, col(MemoryStateRow.pk) == col(MemoryRow.pk))
            .join(MemoryOutboxRow, col(MemoryOutboxRow.pk) == col(MemoryRow.pk))
            .order_by(col(MemoryOutboxRow.attempts), col(MemoryOutboxRow.pk))
            .limit(_BATCH)
        )
        with self._database.reading() as session:
            return [to_memory(row, state) for row, state in session.exec(query)]

    def _apply(self, batch: list[Memory]) -> dict[str, Vector]:
        """Write a batch to the index and return the vectors that were not known before."""
        active = [m for m in batch if m.status is Status.active]
        with self._database.reading() as session:
            known = self._cache.known(session, [m.content_hash for m in active])
        unknown = {m.content_hash: m.text for m in active if m.content_hash not in known}
        fresh = (
            dict(zip(unknown, self._embedder.passages(list(unknown.values())), strict=True))
            if unknown
            else {}
        )
        vectors = {**known, **fresh}
        if active:
            self._index.upsert([point_of(m, vectors[m.content_hash]) for m in active])
        self._index.delete([m.id for m in batch if m.status is not Status.active])
        return fresh

    def _settle(self, batch: list[Memory], fresh: dict[str, Vector]) -> None:
        """Take a batch out of the outbox, except what changed meanwhile."""
        with self._database.writing("memory.relay.settle") as session:
            for memory in batch:
                session.execute(
                    delete(MemoryOutboxRow).where(
                        col(MemoryOutboxRow.pk) == memory.pk, col(MemoryOutboxRow.rev) <= memory.rev
                    )
                )
            # not the vector of a text that was forgotten while we embedded it
            alive = select(MemoryRow.content_hash).where(
                col(MemoryRow.content_hash).in_(list(fresh)), col(MemoryRow.text) != ""
            )
            still = set(session.exec(alive))
            self._cache.keep(session, {hash_: vector for hash_, vector in fresh.items() if hash_ in still})

    def _postpone(self, batch: list[Memory], why: str) -> None:
        with self._database.writing("memory.relay.postpone") as session:
            session.execute(
                update(MemoryOutboxRow)
                .where(col(MemoryOutboxRow.pk).in_([m.pk for m in batch]))
                .values(attempts=MemoryOutboxRow.attempts + 1, last_error=why[:500])
            )


def point_of(memory: Memory, vector: Vector) -> Point:
    """Return what the index holds of a memory; the text stays in SQL."""
    return Point(
        id=memory.id,
        dense=vector,
        sparse=lexical.document(f"{memory.key} {memory.text}" if memory.kind == "fact" else memory.text),
        payload={
            "ns": memory.namespace,
            "audience": audience(memory.namespace, memory.user, past=memory.valid_to is not None),
            "kind": memory.kind,
            "importance": memory.importance,
            "last_ts": memory.last_access_at,
            "hl": memory.half_life_s,
            "valid_from": memory.valid_from.timestamp(),
            "valid_to": memory.valid_to.timestamp() if memory.valid_to else NEVER,
            "rev": memory.rev,
        },
    )


def _active(session: Session) -> dict[str, tuple[int, int]]:
    query = select(MemoryRow.id, MemoryStateRow.pk, MemoryStateRow.rev).where(
        col(MemoryRow.pk) == col(MemoryStateRow.pk), col(MemoryStateRow.status) == Status.active.value
    )
    return {id_: (pk, rev) for id_, pk, rev in session.exec(query)}


def _known(session: Session, ids: list[str]) -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for start in range(0, len(ids), _CHUNK):
        query = select(MemoryRow.id, MemoryStateRow.pk, MemoryStateRow.rev).where(
            col(MemoryRow.pk) == col(MemoryStateRow.pk), col(MemoryRow.id).in_(ids[start : start + _CHUNK])
        )
        found.update({id_: (pk, rev) for id_, pk, rev in session.exec(query)})
    return found
