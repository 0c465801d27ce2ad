"""What memories say of those around them: a context loses the words of a turn that is erased."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from sqlmodel import Session, col, select

from memory_service.dialogue import within
from memory_service.domain import Status
from memory_service.state import changed
from memory_service.tables import MemoryRow, MemoryStateRow

#: Names in one IN list; SQLite allows 32,766 variables.
_CHUNK = 5000
#: Whose a conversation is, and which.
_Sitting = tuple[str, str, str]


def forget_around(session: Session, pks: Sequence[int], at: datetime) -> None:
    """Blank the contexts that hold words of these memories, in the transaction that erases them.

    A context is what neighbouring turns of one session say; blanked, those are found by their own words only.
    """
    erased = set(pks)
    for (namespace, user, name), turns in _told(session, pks).items():
        query = select(MemoryRow, MemoryStateRow).where(
            col(MemoryRow.pk) == col(MemoryStateRow.pk),
            col(MemoryRow.namespace) == namespace,
            col(MemoryRow.user) == user,
            col(MemoryRow.session) == name,
            col(MemoryRow.context) != "",
            col(MemoryStateRow.status) != Status.deleted.value,
        )
        for row, state in session.exec(query).all():
            if row.pk not in erased and any(within(turn, row.slots.get("turn")) for turn in turns):
                row.context = ""
                session.add(row)
                changed(session, state, at)
    session.flush()


def _told(session: Session, pks: Sequence[int]) -> dict[_Sitting, list[object]]:
    """Return in which sessions memories were told, and as which of their turns."""
    found: dict[_Sitting, list[object]] = {}
    for some in _chunks(pks):
        query = select(MemoryRow.namespace, MemoryRow.user, MemoryRow.session, MemoryRow.slots).where(
            col(MemoryRow.pk).in_(some), col(MemoryRow.session) != ""
        )
        for namespace, user, name, slots in session.exec(query):
            found.setdefault((namespace, user, name), []).append(slots.get("turn"))
    return found


def _chunks(pks: Sequence[int]) -> Iterator[Sequence[int]]:
    return (pks[start : start + _CHUNK] for start in range(0, len(pks), _CHUNK))
