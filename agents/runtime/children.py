"""Children of calls: recorded before they may start, looked for and stopped by whoever takes the call over."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from sqlmodel import Session, col, select

from agents.runtime.journal import Journal
from agents.runtime.processes import MARK, Named, boot, look, name, stop_group
from agents.runtime.spec import DoneCall, DoneTurn
from kernel import logs
from kernel.clock import now
from kernel.contracts import Effect
from kernel.database import Database
from kernel.errors import NightdeskError
from kernel.ledgers import ChildRow
from kernel.records import AssignmentRow, CallRow
from kernel.states import ASSIGNMENT_ENDED, CALL_ENDED, CallState

log = logs.get(__name__)


@dataclass(frozen=True)
class _Found:
    note: str
    runs_on: bool = False


@dataclass(frozen=True)
class CallChildren:
    """The record of the program of one call under one fence."""

    journal: Journal
    call_id: str

    @property
    def mark(self) -> dict[str, str]:
        """Return what the program carries in its environment."""
        return {MARK: _mark(self.call_id, self.journal.fence)}

    async def started(self, pid: int) -> None:
        """Commit who the program will be; it must not start before this returns."""
        named = await asyncio.to_thread(name, pid, _mark(self.call_id, self.journal.fence))

        def change(session: Session) -> None:
            session.merge(  # a repeat under the same fence takes the place of the one before, which has ended
                ChildRow(
                    call_id=self.call_id,
                    fence=self.journal.fence,
                    host=named.host,
                    boot_id=named.boot,
                    pid=pid,
                    start_ticks=named.start_ticks,
                )
            )

        await self.journal.write("child.record", change, durable=True)

    async def ended(self, exit_code: int) -> None:
        """Note how the program ended; what the call came to does not hang on it."""
        try:
            await _end(self.journal, self.call_id, self.journal.fence, exit_code)
        except NightdeskError as error:
            log.warning("end_of_child_not_noted", call=self.call_id, reason=str(error))


async def stop_earlier(database: Database, journal: Journal, turn: DoneTurn) -> DoneTurn:
    """Stop what earlier attempts at a turn's calls left running on this host; the calls say what is known of it.

    After this no program of an earlier attempt runs or starts here: one that is not recorded yet needs the old
    fence to be. Raise what the database raises.
    """
    return turn.model_copy(
        update={"calls": list(await asyncio.gather(*(_after(database, journal, c) for c in turn.calls)))}
    )


async def _after(database: Database, journal: Journal, call: DoneCall) -> DoneCall:
    if call.state in CALL_ENDED or call.fence in (0, journal.fence):
        return call
    rows = await asyncio.to_thread(_rows, database, call.id, journal.fence)
    found = [await _settle(journal, row) for row in rows]
    runs_on = call.effect != Effect.read.value and any(one.runs_on for one in found)
    return call.model_copy(update={"earlier": "; ".join(one.note for one in found), "runs_on": runs_on})


async def stop_strays(database: Database) -> int:
    """Stop programs of this host whose assignments have ended without them, and return how many there were.

    A run that was stopped after its worker had died is taken over by nobody, and what its program left would stay.
    """
    stopped = 0
    for row in await asyncio.to_thread(_strays, database):
        sight = await asyncio.to_thread(look, _named(row))
        if sight.gone is False:
            log.warning("stray_program", call=row.call_id, pids=sight.pids)
            if not await stop_group(row.pid):
                continue
            stopped += 1
        if sight.gone is not None:
            await asyncio.to_thread(_forget, database, row)
    return stopped


def _strays(database: Database) -> list[ChildRow]:
    with database.reading() as session:
        query = (
            select(ChildRow)
            .join(CallRow, col(CallRow.id) == col(ChildRow.call_id))
            .join(AssignmentRow, col(AssignmentRow.id) == col(CallRow.assignment_id))
            .where(
                col(ChildRow.ended_at).is_(None),
                col(ChildRow.boot_id) == boot(),
                # what a program that was seen to end left running is meant to stay
                col(CallRow.state).not_in([CallState.done.value, CallState.failed.value]),
                # while it is open, whoever takes it over does this and says what was found
                col(AssignmentRow.state).in_([state.value for state in ASSIGNMENT_ENDED]),
            )
        )
        return list(session.exec(query).all())


def _forget(database: Database, row: ChildRow) -> None:
    with database.writing("child.stray") as session:
        child = session.get_one(ChildRow, (row.call_id, row.fence))
        child.ended_at = now()
        session.add(child)


def _rows(database: Database, call_id: str, fence: int) -> list[ChildRow]:
    with database.reading() as session:
        query = select(ChildRow).where(ChildRow.call_id == call_id, ChildRow.fence < fence)
        return list(session.exec(query.order_by(col(ChildRow.fence))).all())


async def _settle(journal: Journal, row: ChildRow) -> _Found:
    """Find out what became of one recorded program; where it still runs here, stop its group."""
    it = f"its program (pid {row.pid} on {row.host}, started {row.started_at:%Y-%m-%d %H:%M:%S} UTC)"
    if row.ended_at is not None:
        how = f"ended at {row.ended_at:%H:%M:%S} UTC" + (
            "" if row.exit_code is None else f" with exit code {row.exit_code}"
        )
        return _Found(note=f"{it} {how}")
    sight = await asyncio.to_thread(look, _named(row))
    if sight.gone is None:
        return _Found(note=f"whether {it} still runs cannot be told: {sight.why}")
    if sight.gone:
        await _end(journal, row.call_id, row.fence, None)
        return _Found(note=f"{it} was gone at {now():%H:%M:%S} UTC")
    log.warning("earlier_program_runs", call=row.call_id, pids=sight.pids)
    if not await stop_group(row.pid):
        return _Found(note=f"{it} still runs and could not be stopped", runs_on=True)
    await _end(journal, row.call_id, row.fence, None)
    return _Found(note=f"{it} still ran, and was stopped at {now():%H:%M:%S} UTC")


async def _end(journal: Journal, call_id: str, fence: int, exit_code: int | None) -> None:
    def change(session: Session) -> None:
        row = session.get(ChildRow, (call_id, fence))
        if row is not None:
            row.ended_at, row.exit_code = now(), exit_code
            session.add(row)

    await journal.write("child.end", change)


def _named(row: ChildRow) -> Named:
    return Named(
        host=row.host,
        boot=row.boot_id,
        pid=row.pid,
        start_ticks=row.start_ticks,
        mark=_mark(row.call_id, row.fence),
    )


def _mark(call_id: str, fence: int) -> str:
    return f"{call_id}/{fence}"
