"""The part of a worker that reaches only some of its sources: it keeps those, and the rest becomes a part of its own.

The coordinator keeps sources that the same workers reach in one part, on the queue of one of them. Who takes it may
have joined later, or take over from a lost worker, and reach that one alone.
"""

from __future__ import annotations

from collections.abc import Collection

from sqlmodel import Session, select

from kernel.contracts import Source
from kernel.events import Event
from kernel.outbox import told
from kernel.records import AssignmentRow, RunRow
from kernel.sharing import free_key, goal_of, narrowed, own_sources
from kernel.source_queues import agent_queue_of, is_source_name, source_of, source_queue
from kernel.states import AssignmentState


def leave_to_others(session: Session, row: AssignmentRow, reached: Collection[str]) -> list[Event]:
    """Narrow a part that was just taken to what its worker reaches, queue the rest, and return what tells of it.

    Each taking leaves fewer sources, so that this ends; the rest waits for a worker as every part does.
    """
    asked = own_sources(row.inputs)
    rest = [source for source in asked if _routed(source) and source.name not in reached]
    if not rest or source_of(row.queue) not in reached:
        return []
    # locked: two workers that split parts of one run do not choose the same key
    session.get_one(RunRow, row.run_id, with_for_update=True)
    keys = session.exec(select(AssignmentRow.key).where(AssignmentRow.run_id == row.run_id)).all()
    key = free_key(row.key, keys)
    other = AssignmentRow(
        id=f"{row.id.rpartition(':')[0]}:{key}",
        run_id=row.run_id,
        key=key,
        agent=row.agent,
        queue=source_queue(agent_queue_of(row.queue), rest[0].name),
        goal=goal_of(row.goal, rest, asked),
        inputs={**row.inputs, **narrowed(rest)},
        needs=row.needs,
        round=row.round,
        state=AssignmentState.queued.value,  # with no bell yet: the reconciler rings it
    )
    mine = [source for source in asked if source not in rest]
    row.goal, row.inputs = goal_of(row.goal, mine, asked), {**row.inputs, **narrowed(mine)}
    session.add_all([row, other])
    return [told(other, key=other.key, goal=other.goal, needs=other.needs, round=other.round)]


def _routed(source: Source) -> bool:
    """Return whether a source of a part is one that workers are asked for by its name."""
    return source.path is None and source.artifact is None and is_source_name(source.name)
