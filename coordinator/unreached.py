"""Work on a source whose last worker has gone: it waits as long as for a missing agent, then ends with that reason."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import timedelta

from sqlmodel import col, select

from coordinator import assignments
from coordinator.planner import AGENT_GRACE
from coordinator.routing import unreached_reason
from coordinator.store import Store
from kernel import logs
from kernel.broker import Doorbell
from kernel.cards import Cards
from kernel.clock import monotonic
from kernel.contracts import Card
from kernel.records import AssignmentRow
from kernel.sharing import sources_of
from kernel.source_queues import MARK
from kernel.states import AssignmentState
from kernel.streams import EventLog

log = logs.get(__name__)

_BATCH = 200


@dataclass(kw_only=True)
class Unreached:
    """Looks at the queues of sources; two of these at the same time do no harm."""

    store: Store
    cards: Cards
    doorbell: Doorbell
    events: EventLog
    grace: timedelta = AGENT_GRACE
    #: When each queue was first seen without a worker; a coordinator that begins anew counts anew.
    _since: dict[str, float] = field(default_factory=dict, init=False)

    async def end_once(self) -> None:
        """End queued work that nobody has been there for, the whole grace long."""
        rows = await asyncio.to_thread(self._queued)
        cards = await self.cards.live() if rows else []
        consumed = {queue for card in cards for queue in card.queues}
        absent = {row.queue for row in rows} - consumed
        self._since = {queue: self._since.get(queue, monotonic()) for queue in absent}
        limit = monotonic() - self.grace.total_seconds()
        for row in rows:
            if self._since.get(row.queue, limit + 1) <= limit:
                await self._end(row, cards)

    async def _end(self, row: AssignmentRow, cards: list[Card]) -> None:
        reason = unreached_reason(sources_of(row.inputs), cards)
        ended = await self.events.told(
            assignments.stop, self.store.database, [row.id], AssignmentState.failed, reason
        )
        if ended:
            log.warning("source_unreached", assignment=row.id, queue=row.queue)
            await asyncio.to_thread(self.doorbell.ring_run, row.run_id)

    def _queued(self) -> list[AssignmentRow]:
        queued = AssignmentRow.state == AssignmentState.queued.value
        with self.store.database.reading() as db:
            wanted = select(AssignmentRow).where(queued, col(AssignmentRow.queue).contains(MARK))
            return list(db.exec(wanted.order_by(col(AssignmentRow.created_at)).limit(_BATCH)).all())
