"""Forgetting in the fault tests: archived and brought back, read out, taken in elsewhere and erased there."""

from __future__ import annotations

from collections.abc import Sequence

from sqlmodel import col, select

from kernel.redaction import Redactor
from memory_service.domain import Status
from memory_service.forgetting.estate import Estate
from memory_service.forgetting.upkeep import Upkeep
from memory_service.state import changed
from memory_service.tables import MemoryRow, MemoryStateRow
from tests.integration.memory_service.world import World

OLD, ELSEWHERE = "the pager of the night shift is red", "elsewhere"


def forget_on_purpose(memory: World, run_id: str) -> None:
    """Do each write of forgetting once; said again after a fault it comes to the same."""
    drain = memory.relay.drain
    upkeep = Upkeep(memory.database, drain=drain, decay=memory.memory.decay, now=lambda: memory.now)
    estate = Estate(memory.database, redaction=Redactor([]), drain=drain, now=lambda: memory.now)
    upkeep.tidy()
    memory.memory.learn(run_id)
    old = memory.remember(OLD)
    with memory.database.writing("test") as session:
        row = session.exec(select(MemoryRow).where(col(MemoryRow.id) == old)).one()
        state = session.get(MemoryStateRow, row.pk)
        assert state is not None
        state.status = Status.archived.value
        changed(session, state, memory.now)
    upkeep.restore({"id": old})
    lines = estate.export({"namespace": "default"})["lines"]
    estate.take({"namespace": ELSEWHERE, "lines": lines})
    estate.erase({"namespace": ELSEWHERE})


def forgetting_problems(memories: Sequence[tuple[MemoryRow, MemoryStateRow]]) -> list[str]:
    """Return what is wrong with what was brought back and what was erased."""
    back = [state.status for row, state in memories if (row.namespace, row.text) == ("default", OLD)]
    problems = [f"brought back, and now: {back}"] if back != [Status.active.value] else []
    return problems + [
        f"erased, and there: {row.text}" for row, _ in memories if row.namespace == ELSEWHERE and row.text
    ]
