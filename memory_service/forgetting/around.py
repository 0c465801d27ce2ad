"""What memories say of those around them: a context loses the words of a turn that is erased."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TypeVar

from sqlmodel import Session, col, select

from memory_service.domain import Status
from memory_service.learning.dialogue import within
from memory_service.state import changed
from memory_service.tables import MemoryRow, MemoryStateRow

T = TypeVar("T")

#: Names in one IN list; SQLite allows 32,766 variables.
_CHUNK = 5000
#: Whose conversations they are.
_Owner = tuple[str, str]


def forget_around(session: Session, pks: Sequence[int], at: datetime) -> None:
    """Blank the contexts that hold words of these memories, in the transaction that erases them.

    A context is what neighbouring turns of one session say; blanked, those are found by their own words only. No index
    holds sessions: all of an owner are looked for at once, and only for what is a turn of a conversation.
    """
    erased = set(pks)
    for (namespace, user), sittings in _told(session, pks).items():
        for names in chunks(list(sittings)):
            query = select(MemoryRow, MemoryStateRow).where(
                col(MemoryRow.pk) == col(MemoryStateRow.pk),
                col(MemoryRow.namespace) == namespace,
                col(MemoryRow.user) == user,
                col(MemoryRow.session).in_(names),
                col(MemoryRow.context) != "",
                col(MemoryStateRow.status) != Status.deleted.value,
            )
            for row, state in session.exec(query).all():
                turns = sittings[row.session]
                if row.pk not in erased and any(within(turn, row.slots.get("turn")) for turn in turns):
                    row.context = ""
                    session.add(row)
                    changed(session, state, at)
    session.flush()


def _told(session: Session, pks: Sequence[int]) -> dict[_Owner, dict[str, list[object]]]:
    """Return in which sessions memories were told, and as which of their turns."""
    found: dict[_Owner, dict[str, list[object]]] = {}
    for some in chunks(pks):
        query = select(MemoryRow.namespace, MemoryRow.user, MemoryRow.session, MemoryRow.slots).where(
            col(MemoryRow.pk).in_(some), col(MemoryRow.session) != ""
        )
        for namespace, user, name, slots in session.exec(query):
            if "turn" in slots:
                found.setdefault((namespace, user), {}).setdefault(name, []).append(slots["turn"])
    return found


def chunks(some: Sequence[T]) -> Iterator[Sequence[T]]:
    """Return a sequence in pieces that one IN list can name."""
    return (some[start : start + _CHUNK] for start in range(0, len(some), _CHUNK))
