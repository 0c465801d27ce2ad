"""What the recalls of a run brought: agents ask the memory by a tool, and its journaled results are what was served."""

from __future__ import annotations

from sqlmodel import Session, col, select

from kernel.records import CallRow
from kernel.shapes import column
from kernel.states import CallState

#: The tool by which an agent asks the memory (agents.runtime.memory_tools).
RECALL = "recall"


def recalled(session: Session, run_id: str) -> dict[str, str]:
    """Return the texts of the memories that tools served to a run, by id; a long text is cut as it was served."""
    query = (
        select(CallRow.result, CallRow.shape)
        .where(CallRow.run_id == run_id, CallRow.tool == RECALL, CallRow.state == CallState.done.value)
        .order_by(col(CallRow.created_at), col(CallRow.id))
    )
    served: dict[str, str] = {}
    for stored, shape in session.exec(query):
        value = (column(CallRow, "result", stored, shape) or {}).get("value")
        found = value.get("memories") if isinstance(value, dict) else None
        for memory in found if isinstance(found, list) else ():
            if isinstance(memory, dict) and isinstance(memory.get("id"), str):
                served[memory["id"]] = str(memory.get("text", ""))
    return served
