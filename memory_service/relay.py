"""The relay: brings the index to where SQL is. Content comes from the current row, so order does not matter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import RLock

from sqlalchemy import bindparam, delete, update
from sqlalchemy import select as columns  # SQLModel's knows four at most
from sqlmodel import Session, col, select

from kernel import logs
from kernel.clock import now
from kernel.database import Database
from kernel.errors import Fatal, NightdeskError
from memory_service import lexical
from memory_service.audit import take_turn
from memory_service.consistency.drift import WINDOW, Differences, Drift, by_id, window, windows
from memory_service.consistency.space import CURRENT, SHADOW
from memory_service.consistency.targets import Target
from memory_service.consistency.vectors import Stock, keep_alive
from memory_service.domain import Memory, Status
from memory_service.embed.port import Vector
from memory_service.forgetting.fading import NEVER
from memory_service.index.folder import IndexDamaged
from memory_service.index.port import Point, audience
from memory_service.learning.dialogue import words_of
from memory_service.reading import COLUMNS, memory_of
from memory_service.state import enqueue
from memory_service.tables import EmbedSpaceRow, JobRunRow, MemoryOutboxRow, MemoryRow, MemoryStateRow

log = logs.get(__name__)

#: Memories per round; of those whose text was never embedded fewer: at 26 ms each they take under two seconds.
_BATCH, _UNKNOWN = 512, 64
#: When so many are refused one by one, it is not for what they say.
_REFUSED_MOST = 3
#: The job under which comparisons are noted, and its two kinds.
RECONCILE, FULL, SAMPLE = "reconcile", "full", "sample"

_SETTLED = delete(MemoryOutboxRow).where(
    col(MemoryOutboxRow.pk) == bindparam("of"), col(MemoryOutboxRow.rev) <= bindparam("up_to")
)


class Relay:
    """Empties the outbox into every target; one drain at a time in a process, any number of processes."""

    def __init__(self, database: Database, targets: Callable[[], list[Target]]) -> None:
        self._database = database
        self._targets = targets
        #: Held by whoever writes to an index, so that a late write of a build cannot undo a newer one.
        self.writing = RLock()

    def drain(self) -> int:
        """Bring everything waiting into the indexes; return how many memories were looked at.

        One that is refused for what it says (a text too long for the model) holds up no other: it waits by itself.
        """
        done, size, refused = 0, _BATCH, list[int]()
        with self.writing:
            while batch := self._next(size, without=refused):
                targets = self._targets()
                try:
                    batch, stocks = self._apply(batch, targets)
                except NightdeskError as error:
                    if _for_what_it_says(error) and len(batch) > 1:
                        size = len(batch) // 2  # which of them is it?
                        continue
                    self._postpone(batch, str(error))
                    refused.append(batch[0].pk)
                    others = done or self._next(1, without=refused)
                    if not others or len(refused) > _REFUSED_MOST or not _for_what_it_says(error):
                        raise
                    log.warning("memory_not_indexed", id=batch[0].id, reason=str(error))
                    size = _BATCH
                    continue
                if self._settle(batch, stocks):
                    done += len(batch)
        return done

    def flush(self) -> None:
        """Put the indexes on the disk.

        It is costly, so it comes with the tick and not with each write: a kill loses nothing (the engine has a log),
        and what a power cut takes the comparison at start brings back.
        """
        for target in self._targets():
            target.index.flush()

    def reconcile(self) -> Drift:
        """Compare every point of the served index with SQL, in windows, and mend what differs through the outbox."""
        target = self._targets()[0]
        if target.embedder is None:  # it takes known vectors only: what it lacks is no news
            return Drift()
        drift = self.mend(target)
        self._note(FULL, drift, "")
        return drift

    def sample(self) -> Drift:
        """Compare the next window of ids, which moves on from call to call."""
        target = self._targets()[0]
        if target.embedder is None:
            return Drift()
        with self._database.reading() as session:
            noted = session.get(JobRunRow, (RECONCILE, SAMPLE))
        found = window(self._database, target.index, noted.cursor if noted else "", WINDOW)
        self.correct(target, found)
        self._note(SAMPLE, found.drift(), found.after)
        return found.drift()

    def mend(self, target: Target) -> Drift:
        """Compare one index with SQL and mend what differs; return what did."""
        drift = Drift()
        for found in windows(self._database, target.index):
            self.correct(target, found)
            drift += found.drift()
        if drift.total:
            log.info("memory_index_drift", space=target.space.id, **drift.counts())
        return drift

    def correct(self, target: Target, found: Differences) -> None:
        """Send what differs in one window through the outbox."""
        if not found.ids():
            return
        with self.writing:
            # what SQL does not know goes for good; a point that is ahead (a restored backup) or somebody else's
            # goes first, since its revision would refuse the right one
            target.index.delete([*found.ahead, *found.misplaced, *found.orphaned])
            with self._database.writing("memory.relay.drift") as session:
                rows = by_id(session, found.ids())
                enqueue(session, [(row.pk, row.rev) for row in rows.values()], now())

    def _note(self, kind: str, drift: Drift, cursor: str) -> None:
        with self._database.writing("memory.relay.noted") as session:
            noted = session.get(JobRunRow, (RECONCILE, kind)) or JobRunRow(job=RECONCILE, epoch=kind)
            noted.state, noted.cursor, noted.counts, noted.ended_at = "done", cursor, drift.counts(), now()
            session.add(noted)

    def _next(self, size: int, *, without: Sequence[int]) -> list[Memory]:
        query = (
            columns(*COLUMNS)
            .join(MemoryStateRow, col(MemoryStateRow.pk) == col(MemoryRow.pk))
            .join(MemoryOutboxRow, col(MemoryOutboxRow.pk) == col(MemoryRow.pk))
            .order_by(col(MemoryOutboxRow.attempts), col(MemoryOutboxRow.pk))
            .where(col(MemoryOutboxRow.pk).not_in(without))
            .limit(size)
        )
        with self._database.reading() as session:
            return [memory_of(row) for row in session.connection().execute(query)]

    def _apply(self, batch: list[Memory], targets: list[Target]) -> tuple[list[Memory], list[Stock]]:
        """Write as much of a batch as can be embedded at once; return it, and the vectors made for it."""
        with self._database.reading() as session:
            stocks = [Stock(target, session, batch) for target in targets]
        batch = batch[: min((stock.affordable(batch, _UNKNOWN) for stock in stocks), default=len(batch))]
        gone = [m.id for m in batch if m.status is not Status.active]
        for stock in stocks:
            stock.make(batch)
            stock.target.index.upsert(stock.points(batch, point_of))
            stock.target.index.delete(gone)
        return batch, stocks

    def _settle(self, batch: list[Memory], stocks: list[Stock]) -> bool:
        """Take a batch out of the outbox, except what changed meanwhile; False where a space is written to since.

        Of what changed another process may have brought the new state before our old one: it is looked at again.
        """
        with self._database.writing("memory.relay.settle") as session:
            if any(stock.fresh for stock in stocks):
                # nobody forgets a text between our look at it and the keeping of its vector
                take_turn(session)
            if _written(session) - {stock.target.space.id for stock in stocks}:
                return False
            enqueue(session, _changed(session, batch), now())
            settled = [{"of": memory.pk, "up_to": memory.rev} for memory in batch]
            session.connection().execute(_SETTLED, settled)
            for stock in stocks:
                keep_alive(session, stock)
        return True

    def _postpone(self, batch: list[Memory], why: str) -> None:
        with self._database.writing("memory.relay.postpone") as session:
            session.execute(
                update(MemoryOutboxRow)
                .where(col(MemoryOutboxRow.pk).in_([m.pk for m in batch]))
                .values(attempts=MemoryOutboxRow.attempts + 1, last_error=why[:500])
            )


def _for_what_it_says(error: NightdeskError) -> bool:
    return isinstance(error, Fatal) and not isinstance(error, IndexDamaged)


def _changed(session: Session, batch: list[Memory]) -> list[tuple[int, int]]:
    query = select(MemoryStateRow.pk, MemoryStateRow.rev).where(
        col(MemoryStateRow.pk).in_([memory.pk for memory in batch])
    )
    brought = {memory.pk: memory.rev for memory in batch}
    return [(pk, rev) for pk, rev in session.exec(query) if rev > brought[pk]]


def _written(session: Session) -> set[str]:
    return set(session.exec(select(EmbedSpaceRow.id).where(col(EmbedSpaceRow.state).in_([CURRENT, SHADOW]))))


def point_of(memory: Memory, vector: Vector) -> Point:
    """Return what the index holds of a memory; the text stays in SQL."""
    return Point(
        id=memory.id,
        dense=vector,
        sparse=lexical.document(
            f"{memory.key} {memory.text}" if memory.kind == "fact" else words_of(memory.text, memory.slots),
            memory.context,
        ),
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
