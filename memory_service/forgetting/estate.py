"""The whole of a namespace or user: read out page by page, taken in line by line, erased batch by batch."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from pydantic import Field, ValidationError
from sqlmodel import Session, col, select

from kernel import clock
from kernel.contracts import Value
from kernel.database import Database
from kernel.errors import Correctable
from kernel.text import storable
from memory_service import audit
from memory_service.asking import read
from memory_service.domain import Status
from memory_service.forgetting.copies import Copies
from memory_service.forgetting.estate_erasure import EstateErasure, owned
from memory_service.forgetting.lines import Became, Line, line_of, read_line, reviewed, take
from memory_service.learning.transcripts import Part, check_part, lines_of, read_turn
from memory_service.service import Redaction
from memory_service.tables import MemoryRow, MemoryStateRow

T = TypeVar("T", bound=Value)

#: An answer waits in Redis until it is read; UTF-8 bytes of its lines.
_PAGE_BYTES = 64 * 1024
#: Rows read for a page: more do not fit in it.
_PAGE_ROWS = 200


class Leaving(Value):
    """Whose memories to read out: those of a namespace, or of one user in it; `after` is where the last page ended."""

    namespace: str
    user: str | None = None
    after: int = Field(default=0, ge=0)


class Entering(Value):
    """Lines to take in; with `check` nothing is written. `first` is the number of the first line in its file.

    Lines of an export; with `part` they are turns of a conversation.
    """

    namespace: str
    part: Part | None = None
    lines: list[str] = Field(max_length=1000)
    first: int = 1
    check: bool = False
    #: Bring back what was forgotten on purpose since the lines were written.
    anew: bool = False
    by: str = "local"


class Erasing(Value):
    """Whose memories to erase, and who says so."""

    namespace: str
    user: str | None = None
    by: str = "local"
    reason: str = ""


class Estate:
    """Export, import and erasure; each question does a bounded part and says how to go on."""

    def __init__(
        self,
        database: Database,
        *,
        redaction: Redaction,
        drain: Callable[[], object],
        now: Callable[[], datetime] = clock.now,
    ) -> None:
        self._database = database
        self._copies = Copies(database)
        self._erasure = EstateErasure(database)
        self._redaction = redaction
        self._drain = drain
        self._now = now

    def export(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return a page of lines, oldest first: `{"lines": [...], "next": cursor, or None}`; history is in it."""
        asked = read(Leaving, question)
        query = select(MemoryRow, MemoryStateRow).where(
            *owned(asked.namespace, asked.user), col(MemoryRow.pk) > asked.after
        )
        lines: list[str] = []
        size, last = 0, asked.after
        with self._database.reading() as session:
            found = session.exec(query.order_by(col(MemoryRow.pk)).limit(_PAGE_ROWS)).all()
        for row, state in found:
            line = line_of(row, state)
            size += len(line.encode("utf-8", "replace")) + 1
            if lines and size > _PAGE_BYTES:
                break
            lines.append(line)
            last = state.pk
        more = len(lines) < len(found) or len(found) == _PAGE_ROWS
        return {"lines": lines, "next": last if more else None}

    def take(self, question: dict[str, Any]) -> dict[str, Any]:
        """Take lines in, all of a page or none: how many were new, known, and kept as history.

        Raises Correctable naming every bad line by its number.
        """
        asked = read(Entering, question)
        at = self._now()
        entering = self._entering(asked, at)
        if asked.check:
            return {"checked": len(asked.lines)}
        with self._database.writing("memory.estate.take", durable=True) as session:
            audit.take_turn(session)
            lines = [reviewed(session, line) for line in entering(session)]
            counts: dict[str, Any] = _counted(
                lines, [take(session, line, at, anew=asked.anew) for line in lines]
            )
            if lines:
                audit.record(
                    session,
                    at=at,
                    actor=asked.by,
                    action="import",
                    namespace=asked.namespace,
                    after={
                        **counts,
                        "first_line": asked.first,
                        "lines": len(lines),
                        **({"anew": True} if asked.anew else {}),
                    },
                )
        self._drain()
        return counts

    def erase(self, question: dict[str, Any]) -> dict[str, Any]:
        """Erase some more of a namespace or user: `{"erased", "left"}`; ask again until nothing is left.

        Noted as a job with the first batch: where nobody asks again, `resume` goes on.
        """
        asked = read(Erasing, question)
        reason = self._redaction.text(asked.reason)
        told = {"namespace": asked.namespace, "user": asked.user, "by": asked.by, "reason": reason}
        return self._erase(told)

    def resume(self) -> int:
        """Go on with erasures that were begun; return how many memories went."""
        return sum(int(self._erase(told)["erased"]) for told in self._erasure.begun())

    def _erase(self, told: dict[str, Any]) -> dict[str, Any]:
        erased, left = self._erasure.go_on(told, self._now)
        self._drain()
        self._copies.resume(self._now())
        return {"erased": erased, "left": left}

    def _entering(self, asked: Entering, at: datetime) -> Callable[[Session], list[Line]]:
        """Read what is to be taken in; turns of a conversation become memories in the transaction that takes them."""
        part = asked.part
        if part is None:
            lines = self._lines(asked, lambda told: read_line(told, asked.namespace))
            return lambda _: lines
        turns = self._lines(asked, read_turn)
        check_part(part, turns)
        return lambda session: lines_of(session, part, turns, asked.namespace, at)

    def _lines(self, asked: Entering, read: Callable[[Any], T]) -> list[T]:
        """Read lines, secrets hidden; raise Correctable naming all that are bad."""
        lines: list[T] = []
        bad: list[str] = []
        for number, told in enumerate(asked.lines, asked.first):
            try:
                lines.append(read(storable(self._redaction.value(json.loads(told)))))
            except (ValueError, RecursionError) as error:
                bad.append(f"line {number}: {_first(error)}")
        if bad:
            raise Correctable(
                f"{len(bad)} of the lines cannot be read",
                why="; ".join(bad[:_NAMED]),
                next_step="Mend or remove them; nothing of this page was taken in.",
            )
        return lines


#: Bad lines told of in one error.
_NAMED = 20


def _counted(lines: list[Line], became: list[Became]) -> dict[str, int]:
    """Return how many lines became what; those that wait for review are no news yet."""
    waiting = Status.quarantined.value
    told = [
        "waiting for review" if of == "new" and line.status == waiting else of
        for line, of in zip(lines, became, strict=True)
    ]
    return {name: told.count(name) for name in sorted(set(told))}


def _first(error: Exception) -> str:
    if isinstance(error, ValidationError):
        told = error.errors()[0]
        return f"{'.'.join(map(str, told['loc']))}: {told['msg']}"
    return str(error)
