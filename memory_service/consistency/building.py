"""A shadow build: a second index is filled beside the served one, compared with SQL, and takes its place."""

from __future__ import annotations

import time
from threading import Event, Lock
from typing import Any

from sqlmodel import Session, col, func, select

from kernel import logs
from kernel.clock import now
from kernel.database import Database
from kernel.errors import Fatal, NightdeskError
from memory_service.audit import take_turn
from memory_service.consistency.drift import Drift
from memory_service.consistency.space import RETIRED, SHADOW, current_row
from memory_service.consistency.targets import Target, Targets
from memory_service.consistency.vectors import Stock, keep_alive
from memory_service.domain import Memory, Status
from memory_service.embed.port import Embedder
from memory_service.index.port import Scope, Search
from memory_service.lexical import Sparse
from memory_service.reading import to_memory
from memory_service.relay import Relay, point_of
from memory_service.scoring import DENSE, Var
from memory_service.tables import EmbedSpaceRow, JobRunRow, MemoryRow, MemoryStateRow

log = logs.get(__name__)

#: Memories per step; of those whose text is embedded now fewer, so that a step takes under a second.
_BATCH, _UNKNOWN = 512, 32
#: The part of a step's time that is left to recalls before the next.
_PAUSE = 0.2
#: Comparisons before we say that the new index does not come to rest.
_ROUNDS = 8
#: Questions asked of both indexes, and the neighbours compared.
_QUESTIONS, _NEIGHBOURS = 20, 10
#: The job under which a finished build is noted.
BUILD = "build"


class Build:
    """Goes on with the shadow of SQL, if there is one; any number of processes may, one thread in each does."""

    def __init__(self, database: Database, targets: Targets, relay: Relay) -> None:
        self._database = database
        self._targets = targets
        self._relay = relay
        self._at_work = Lock()
        self._never = Event()
        self._began: tuple[str, float, int] = ("", 0.0, 0)
        #: Why the last step failed; "" where it did not.
        self.trouble = ""

    def run(self, *, seconds: float | None = None, stop: Event | None = None) -> bool:
        """Build until the shadow is served, the time is over or `stop` is set; return whether there is none left."""
        if not self._at_work.acquire(blocking=False):
            return False
        try:
            stop = stop or self._never
            until = time.monotonic() + seconds if seconds is not None else None
            while (row := self._shadow()) is not None:
                began = time.monotonic()
                if not self._step(row):
                    self._finish(row)
                    continue
                self.trouble = ""
                if stop.is_set() or (until is not None and time.monotonic() > until):
                    return False
                stop.wait((time.monotonic() - began) * _PAUSE)
            return True
        except NightdeskError as error:
            self.trouble = str(error)
            raise
        finally:
            self._at_work.release()

    def progress(self, row: EmbedSpaceRow) -> dict[str, Any]:
        """Return how far a shadow is: rows done and in all, and rows a second since this process took it up."""
        with self._database.reading() as session:
            total = session.exec(_active()).one()
            done = session.exec(_active().where(col(MemoryStateRow.pk) <= row.built_to)).one()
        space, since, at_first = self._began
        took = time.monotonic() - since
        rate = (done - at_first) / took if space == row.id and took > 0 else 0.0
        return {"done": done, "total": total, "rate": round(rate, 1)}

    def _shadow(self) -> EmbedSpaceRow | None:
        with self._database.reading() as session:
            return session.exec(select(EmbedSpaceRow).where(col(EmbedSpaceRow.state) == SHADOW)).first()

    def _step(self, row: EmbedSpaceRow) -> bool:
        """Bring the next memories into the shadow; return whether there were any."""
        if self._began[0] != row.id:
            self._began = (row.id, time.monotonic(), self.progress(row)["done"])
        target = self._targets.of(row)
        if target.embedder is None:
            raise Fatal(
                f"the embedder of {row.id} cannot be made",
                next_step="Mend its settings, or give up with `nightdesk memory migrate --rollback`.",
            )
        with self._database.reading() as session:
            batch = _next(session, row.built_to)
            if not batch:
                return False
            stock = Stock(target, session, batch)
        batch = batch[: stock.affordable(batch, _UNKNOWN)]
        stock.make(batch)  # outside the lock: those who remember something now need not wait for it
        with self._relay.writing:
            same = self._unchanged(batch)
            target.index.upsert(stock.points(same, point_of))
            with self._database.writing("memory.build.step") as session:
                take_turn(session)  # as the relay does: see its settling
                keep_alive(session, stock)
                mine = session.get(EmbedSpaceRow, row.id)
                if mine is not None and mine.state == SHADOW:
                    mine.built_to = max(mine.built_to, batch[-1].pk)
                    session.add(mine)
        return True

    def _unchanged(self, batch: list[Memory]) -> list[Memory]:
        """Return what is still as it was read; the relay brings the rest."""
        query = select(MemoryStateRow.pk, MemoryStateRow.rev).where(
            col(MemoryStateRow.pk).in_([m.pk for m in batch])
        )
        with self._database.reading() as session:
            revisions = dict(session.exec(query).all())
        return [m for m in batch if revisions.get(m.pk) == m.rev]

    def _finish(self, row: EmbedSpaceRow) -> None:
        """Compare the shadow with SQL until nothing differs, then serve it."""
        target, served = self._targets.of(row), self._targets.current()
        drift = Drift()
        for _ in range(_ROUNDS):
            self._relay.drain()
            drift = self._relay.mend(target)
            if drift.total:
                continue
            alike = self._overlap(served, target)
            target.index.flush()
            with self._relay.writing:
                self._relay.drain()
                if self._complete(target):
                    self._swap(row, alike)
                    return
        raise Fatal(
            f"the new index {row.id} does not come to agree with SQL",
            why=f"after {_ROUNDS} comparisons {drift.total} memories still differ",
            next_step="Run `nightdesk memory doctor`; the old index is still served.",
        )

    def _overlap(self, served: Target, target: Target) -> float | None:
        """Return what the two indexes have in common; an old one that cannot be asked holds nothing up."""
        try:
            return overlap(self._database, served, target)
        except NightdeskError as error:
            log.warning("overlap_not_measured", space=target.space.id, reason=str(error))
            return None

    def _complete(self, target: Target) -> bool:
        with self._database.reading() as session:
            return int(session.exec(_active()).one()) == target.index.count()

    def _swap(self, row: EmbedSpaceRow, alike: float | None) -> None:
        """Serve the shadow instead of what was served, in one transaction; the pointer in SQL is what counts."""
        with self._database.writing("memory.spaces.swap") as session:
            take_turn(session)  # whoever gives it up at this moment must not take it for a shadow afterwards
            shadow = session.get(EmbedSpaceRow, row.id)
            before = current_row(session)
            if shadow is None or shadow.state != SHADOW:
                return  # given up meanwhile, or swapped by another worker
            if before is not None:
                before.state, before.retired_at = RETIRED, now()
                session.add(before)
            shadow.state, shadow.retired_at = "current", None
            session.add(shadow)
            session.merge(
                JobRunRow(
                    job=BUILD,
                    epoch=row.id,
                    state="done",
                    counts={"rows": session.exec(_active()).one(), "overlap": alike},
                    ended_at=now(),
                )
            )
        self._targets.serve(self._targets.of(row).space)
        log.info("memory_space_served", space=row.id, before=before.id if before else "", overlap=alike)


def overlap(database: Database, old: Target, new: Target) -> float | None:
    """Return the share of nearest memories that two indexes have in common; None where one cannot be asked."""
    if old.embedder is None or new.embedder is None or old.index.broken():
        return None
    with database.reading() as session:
        asked = _some(session)
    shares = [
        len(ids & _nearest(new, new.embedder, memory)) / len(ids)
        for memory in asked
        if (ids := _nearest(old, old.embedder, memory))
    ]
    return round(sum(shares) / len(shares), 3) if shares else None


def _nearest(target: Target, embedder: Embedder, memory: Memory) -> set[str]:
    search = Search(
        scope=Scope(namespace=memory.namespace, user=memory.user),
        dense=embedder.question(memory.text),
        sparse=Sparse([], []),
        score=Var(DENSE),
        candidates=_NEIGHBOURS,
        limit=_NEIGHBOURS,
    )
    return {hit.id for hit in target.index.search(search).hits}


def _some(session: Session) -> list[Memory]:
    """Return memories from the whole range, evenly, so that old and new ones are asked about."""
    last = session.exec(select(func.max(MemoryStateRow.pk))).one() or 0
    starts = [last * number // _QUESTIONS for number in range(_QUESTIONS)]
    found = {memory.pk: memory for pk in starts for memory in _next(session, pk, limit=1)}
    return [memory for memory in found.values() if memory.text]


def _next(session: Session, after: int, *, limit: int = _BATCH) -> list[Memory]:
    query = (
        select(MemoryRow, MemoryStateRow)
        .join(MemoryStateRow, col(MemoryStateRow.pk) == col(MemoryRow.pk))
        .where(col(MemoryRow.pk) > after, col(MemoryStateRow.status) == Status.active.value)
        .order_by(col(MemoryRow.pk))
        .limit(limit)
    )
    return [to_memory(row, state) for row, state in session.exec(query)]


def _active() -> Any:
    return select(func.count()).where(col(MemoryStateRow.status) == Status.active.value)
