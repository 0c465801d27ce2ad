"""Leases on assignments: claim by compare-and-swap, renewal from a side thread, fenced writes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import case, func, or_, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session, col

from kernel import logs
from kernel.clock import monotonic, now
from kernel.database import Database
from kernel.errors import LostLease, NightdeskError
from kernel.events import Event
from kernel.outbox import record
from kernel.records import AssignmentRow, RunRow
from kernel.shapes import present
from kernel.states import AssignmentState

log = logs.get(__name__)

_A = AssignmentState


def claim(
    database: Database,
    assignment_id: str,
    *,
    worker: str,
    seconds: float,
    tell: Callable[[Session, AssignmentRow], list[Event]] = lambda _session, _row: [],
) -> AssignmentRow | None:
    """Take a queued assignment, or one whose lease ran out, and tell of it; None where somebody else has it."""
    with database.writing("lease.claim") as session:
        clock = database.now(session)
        free = or_(
            col(AssignmentRow.state) == _A.queued.value,
            (col(AssignmentRow.state) == _A.running.value) & (col(AssignmentRow.lease_until) < clock),
        )
        taken = session.execute(
            update(AssignmentRow)
            .where(col(AssignmentRow.id) == assignment_id, free)
            .values(
                state=_A.running.value,
                fence=AssignmentRow.fence + 1,
                # a lost worker is an attempt, whoever notices it first
                attempts=AssignmentRow.attempts
                + case((col(AssignmentRow.state) == _A.running.value, 1), else_=0),
                lease_until=clock + seconds,
                worker=worker,
                # of the part, not of the attempt: what was lost is part of how long it took
                started_at=func.coalesce(AssignmentRow.started_at, now()),
            )
        )
        if taken.rowcount != 1:  # type: ignore[attr-defined] # an UPDATE's result has it
            return None
        row = present(session.get_one(AssignmentRow, assignment_id), store=True)
        record(session, *tell(session, row))
        return row


def renew(database: Database, held: dict[str, int], *, seconds: float) -> dict[str, str]:
    """Extend the leases held (id → fence); return why to cut the ones that were lost or whose run was stopped."""
    cut: dict[str, str] = {}
    with database.writing("lease.renew") as session:
        until = database.now(session) + seconds
        for assignment_id, fence in held.items():
            kept = session.execute(
                update(AssignmentRow)
                .where(
                    col(AssignmentRow.id) == assignment_id,
                    col(AssignmentRow.fence) == fence,
                    col(AssignmentRow.state) == _A.running.value,
                )
                .values(lease_until=until)
            )
            if kept.rowcount != 1:  # type: ignore[attr-defined] # an UPDATE's result has it
                cut[assignment_id] = "lost"
        stopped = session.execute(
            select(col(AssignmentRow.id), col(RunRow.stop))
            .join(RunRow, col(RunRow.id) == col(AssignmentRow.run_id))
            .where(col(AssignmentRow.id).in_(held), col(RunRow.stop) != "")
        )
        for assignment_id, stop in stopped:
            cut.setdefault(assignment_id, stop)
    return cut


def hold(session: Session, assignment_id: str, fence: int) -> AssignmentRow:
    """Return the assignment inside a write, or raise LostLease where the fence is old."""
    # locked: on PostgreSQL a fence could otherwise move between this look and the commit
    row = session.get(AssignmentRow, assignment_id, with_for_update=True)
    if row is None or row.fence != fence or row.state != _A.running.value:
        raise LostLease(
            f"assignment {assignment_id!r} is no longer ours", why="another worker or a stop took it"
        )
    return row


@dataclass
class _Held:
    fence: int
    on_cut: Callable[[str], object]
    renewed_at: float


class LeaseKeeper:
    """Renews leases from its own thread, so that a tool that hogs the CPU or the loop cannot starve them."""

    def __init__(self, database: Database, *, seconds: float) -> None:
        self._database = database
        self._seconds = seconds
        self._held: dict[str, _Held] = {}
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None

    def keep(self, assignment_id: str, fence: int, on_cut: Callable[[str], object]) -> None:
        """Renew from now on; `on_cut(why)` is called from the side thread."""
        with self._lock:
            self._held[assignment_id] = _Held(fence, on_cut, monotonic())
            if self._thread is None or not self._thread.is_alive():  # a bug may have ended it
                self._thread = threading.Thread(target=self._run, name="lease-keeper", daemon=True)
                self._thread.start()

    def release(self, assignment_id: str, fence: int) -> None:
        """Stop renewing, unless a newer fence of ours holds it by now."""
        with self._lock:
            held = self._held.get(assignment_id)
            if held is not None and held.fence == fence:
                del self._held[assignment_id]

    def _run(self) -> None:
        while not self._wake.wait(self._seconds / 3):
            with self._lock:
                held = dict(self._held)
            for assignment_id, why in self._renew(held).items() if held else ():
                self.release(assignment_id, held[assignment_id].fence)
                held[assignment_id].on_cut(why)

    def _renew(self, held: dict[str, _Held]) -> dict[str, str]:
        """Renew all; where the database does not let us, cut what has surely run out by our own clock."""
        began = monotonic()
        try:
            cut = renew(self._database, {id_: h.fence for id_, h in held.items()}, seconds=self._seconds)
        except (NightdeskError, SQLAlchemyError) as error:
            log.warning("leases_not_renewed", reason=str(error))
            now = monotonic()
            return {id_: "lost" for id_, h in held.items() if now - h.renewed_at >= self._seconds}
        for held_one in held.values():
            held_one.renewed_at = began
        return cut
