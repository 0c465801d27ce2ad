"""The store of memories: every write is one transaction of row, state, audit and outbox."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session, col, select

from kernel.database import Database
from memory_service.audit import record, take_turn
from memory_service.domain import Candidate, Status, key_hash
from memory_service.forgetting.erasure import forget
from memory_service.forgetting.fading import REINFORCEMENT
from memory_service.learning.gate import Verdict
from memory_service.learning.rates import Limits
from memory_service.state import changed, cited_again, enqueue
from memory_service.tables import JobRunRow, MemoryAccessRow, MemoryRow, MemoryStateRow
from memory_service.upsert import Written, upsert

#: What a citation strengthens; of archived memories it brings back those that still hold.
_STRENGTHENED = {Status.active.value, Status.archived.value}


@dataclass(frozen=True, kw_only=True)
class Lesson:
    """What one run taught, past the gate; `setbacks` are keys of procedures that did not help this time."""

    run_id: str
    namespace: str
    passed: Sequence[tuple[Candidate, Verdict, str]]
    setbacks: list[str]


class Store:
    """Writes of memories; readers are in `reading`."""

    def __init__(self, database: Database, limits: Limits | None = None) -> None:
        self.database = database
        self._limits = limits or Limits()

    def write(
        self, candidate: Candidate, verdict: Verdict, *, at: datetime, actor: str, reason: str = ""
    ) -> Written:
        """Store a candidate that passed the gate, by the rules of its key."""
        with self.database.writing("memory.write", durable=True) as session:
            return self.upsert(session, candidate, verdict, at, actor, reason)

    def upsert(
        self, session: Session, candidate: Candidate, verdict: Verdict, at: datetime, actor: str, reason: str
    ) -> Written:
        """Do the same inside a transaction of the caller's."""
        return upsert(session, candidate, verdict, at, actor, reason, limits=self._limits)

    def learn(self, lesson: Lesson, at: datetime) -> list[Written]:
        """Store what one run taught and mark the run as learnt, all or nothing; [] where it was learnt before."""
        with self.database.writing("memory.learn", durable=True) as session:
            return self._learn(session, lesson, at)

    def _learn(self, session: Session, lesson: Lesson, at: datetime) -> list[Written]:
        take_turn(session)  # where another process learns the same run, its row is there once it is our turn
        if session.get(JobRunRow, ("learn", lesson.run_id)) is not None:
            return []
        actor = f"run:{lesson.run_id}"
        written = [
            self.upsert(session, made, verdict, at, actor, why) for made, verdict, why in lesson.passed
        ]
        for key in lesson.setbacks:
            _set_back(session, lesson, key, at)
        counts = Counter("dropped" if done.outcome == "dropped" else "written" for done in written)
        session.add(
            JobRunRow(
                job="learn",
                epoch=lesson.run_id,
                state="done",
                counts={"written": counts["written"], "dropped": counts["dropped"]},
                started_at=at,
                ended_at=at,
            )
        )
        return [done for done in written if done.outcome != "dropped"]

    def forget(
        self, namespace: str, memory_id: str, *, at: datetime, actor: str, reason: str = ""
    ) -> str | None:
        """Erase a memory and return its id; None where the namespace has no such memory.

        An id may be cut to its first 8 or more characters where that names one memory.
        """
        with self.database.writing("memory.forget", durable=True) as session:
            take_turn(session)
            return forget(session, namespace, memory_id, at=at, actor=actor, reason=reason)

    def look_again(self, behind: Sequence[tuple[int, int]], at: datetime) -> None:
        """Ask the relay to look at memories (pk and revision) again."""
        with self.database.writing("memory.look_again") as session:
            enqueue(session, behind, at)

    def cite(self, namespace: str, ids: Sequence[str], *, cited_by: str, at: datetime) -> int:
        """Note that a run or session cited memories; each counts once per run or session."""
        with self.database.writing("memory.cite") as session:
            known = select(MemoryRow.pk).where(
                col(MemoryRow.id).in_(ids), col(MemoryRow.namespace) == namespace
            )
            noted = select(MemoryAccessRow.pk).where(col(MemoryAccessRow.cited_by) == cited_by)
            already = set(session.exec(noted))
            fresh = [pk for pk in session.exec(known) if pk is not None and pk not in already]
            for pk in fresh:
                session.add(MemoryAccessRow(pk=pk, cited_by=cited_by, at=at.timestamp()))
            return len(fresh)

    def reinforce(self, at: datetime) -> int:
        """Apply the citations noted since the last time; return how many memories grew stronger."""
        with self.database.writing("memory.reinforce") as session:
            take_turn(session)  # a memory may be told again at this moment
            pending = select(MemoryAccessRow).where(col(MemoryAccessRow.flushed).is_(False))
            noted: dict[int, list[float]] = {}
            for access in session.exec(pending):
                access.flushed = True
                noted.setdefault(access.pk, []).append(access.at)
            for pk, moments in noted.items():
                state = session.get(MemoryStateRow, pk)
                if state is not None and state.status in _STRENGTHENED:
                    state.access_count += len(moments)
                    state.last_access_at = max(state.last_access_at, *moments)
                    for _ in moments:
                        state.importance += REINFORCEMENT * (1 - state.importance)
                    cited_again(session, state, at)
            return len(noted)


def _set_back(session: Session, lesson: Lesson, key: str, at: datetime) -> None:
    """Halve the importance of a remedy that was tried again and did not help."""
    query = select(MemoryRow).where(
        MemoryRow.namespace == lesson.namespace,
        MemoryRow.kind == "procedure",
        MemoryRow.key_hash == key_hash(key),
        col(MemoryRow.live),
    )
    for row in session.exec(query).all():
        state = session.get(MemoryStateRow, row.pk)
        if state is None:
            continue
        row.slots = {**row.slots, "failures": int(row.slots.get("failures", 0)) + 1}
        before = {"importance": state.importance}
        state.importance /= 2
        changed(session, state, at)
        record(
            session,
            at=at,
            actor=f"run:{lesson.run_id}",
            action="set_back",
            memory_id=row.id,
            namespace=lesson.namespace,
            before=before,
            after={"importance": state.importance},
            reason="the remedy was tried and did not help",
        )
