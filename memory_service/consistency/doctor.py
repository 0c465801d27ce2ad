"""The doctor of the memory: compares SQL with index, archive, outbox and audit, and says what each difference means."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import text
from sqlmodel import Session, col, func, select

from kernel.clock import now
from kernel.database import Database
from kernel.errors import NightdeskError
from memory_service.audit import broken_link
from memory_service.consistency.drift import Differences, windows
from memory_service.consistency.spaces import Spaces
from memory_service.consistency.targets import Target, Targets
from memory_service.forgetting import archive
from memory_service.relay import Relay
from memory_service.tables import MemoryOutboxRow, MemoryStateRow

#: Ids shown of each kind: enough to look at one.
_EXAMPLES = 3
#: A relay that runs empties the outbox each 30 seconds.
_LATE = timedelta(minutes=5)
#: Rows mended in one transaction.
_CHUNK = 1000

_REPAIR = "Run `nightdesk memory doctor --repair`."
_DRIFT = {
    "missing": ("active memories that are not in the index", "they are not found by likeness"),
    "stale": (
        "points of another revision than SQL's",
        "recall ranks them by what they were; the text is right",
    ),
    "orphaned": ("points without an active memory", "they take the place of hits, and are never shown"),
    "misplaced": ("points that stand in another audience", "whom they belong to does not find them"),
}

_WORDLESS = text(
    "SELECT s.pk FROM memory_state s JOIN memory m ON m.pk = s.pk LEFT JOIN memory_archive a ON a.rowid = s.pk "
    "WHERE s.status = 'archived' AND m.text <> '' AND a.rowid IS NULL ORDER BY s.pk"
)
_LEFT_OVER = text(
    "SELECT a.rowid AS pk FROM memory_archive a LEFT JOIN memory_state s ON s.pk = a.rowid "
    "WHERE s.pk IS NULL OR s.status <> 'archived' ORDER BY a.rowid"
)


@dataclass
class Finding:
    """One thing that is wrong: what, how often, what it means, what to do; and whether it was mended."""

    what: str
    count: int
    means: str
    next_step: str
    examples: list[str]
    mended: bool = False


class Doctor:
    """Looks at everything; with `repair` it mends what SQL can tell."""

    def __init__(self, database: Database, targets: Targets, relay: Relay, spaces: Spaces) -> None:
        self._database = database
        self._targets = targets
        self._relay = relay
        self._spaces = spaces

    def examine(self, *, repair: bool = False) -> dict[str, Any]:
        """Return the findings as JSON; `well` is False where one is left that was not mended."""
        target = self._targets.current()
        with self._database.reading() as session:
            active = select(func.count()).where(col(MemoryStateRow.status) == "active")
            memories = session.exec(active).one()
        findings = [
            *self._outbox(repair=repair),
            *self._drift(target, repair=repair),
            *self._archive(repair=repair),
            *self._audit(),
            *self._standing(),
        ]
        return {
            "well": all(finding.mended for finding in findings),
            "memories": memories,
            "points": target.index.count(),
            "space": target.space.id,
            "findings": [asdict(finding) for finding in findings],
        }

    def _drift(self, target: Target, *, repair: bool) -> list[Finding]:
        found: dict[str, list[str]] = {name: [] for name in _DRIFT}
        for differences in windows(self._database, target.index):
            for name in found:
                found[name] += getattr(differences, name)
            if repair:
                self._relay.correct(target, differences)
        if repair and any(found.values()):
            self._relay.drain()
        left = self._left(target) if repair else None
        return [
            Finding(
                what, len(ids), means, _REPAIR, ids[:_EXAMPLES], mended=left is not None and not left.ids()
            )
            for name, (what, means) in _DRIFT.items()
            if (ids := found[name])
        ]

    def _left(self, target: Target) -> Differences | None:
        """Return the first window that still differs after a repair, or an empty one."""
        return next((w for w in windows(self._database, target.index) if w.ids()), Differences())

    def _outbox(self, *, repair: bool) -> list[Finding]:
        with self._database.reading() as session:
            stuck = _stuck(session, now() - _LATE)
        if not stuck:
            return []
        mended, why = False, next((row.last_error for row in stuck if row.last_error), "no relay has run")
        if repair:
            try:
                self._relay.drain()
                mended = True
            except NightdeskError as error:
                why = str(error)
        finding = Finding(
            "memories that wait for the index, some after a failure",
            len(stuck),
            f"they are stored, and not found by likeness yet: {why}",
            "Mend what the error says; the relay tries again each 30 seconds.",
            [str(row.pk) for row in stuck[:_EXAMPLES]],
            mended=mended,
        )
        return [finding]

    def _archive(self, *, repair: bool) -> list[Finding]:
        with self._database.reading() as session:
            wordless = [row.pk for row in session.connection().execute(_WORDLESS)]
            left_over = [row.pk for row in session.connection().execute(_LEFT_OVER)]
        if repair:
            for start in range(0, max(len(wordless), len(left_over)), _CHUNK):
                with self._database.writing("memory.doctor.archive") as session:
                    archive.keep(session, wordless[start : start + _CHUNK])
                    archive.drop(session, left_over[start : start + _CHUNK])
        pairs = [
            ("archived memories without their words", "the archive does not find them", wordless),
            ("words of memories that are not archived", "they take room, and are never shown", left_over),
        ]
        return [
            Finding(what, len(pks), means, _REPAIR, [str(pk) for pk in pks[:_EXAMPLES]], mended=repair)
            for what, means, pks in pairs
            if pks
        ]

    def _audit(self) -> list[Finding]:
        seq = broken_link(self._database)
        if seq is None:
            return []
        finding = Finding(
            "a broken link in the audit",
            1,
            f"row {seq} of memory_audit, or one before it, was changed or removed outside Nightdesk",
            "Compare with a backup; the chain cannot be mended, only explained.",
            [str(seq)],
        )
        return [finding]

    def _standing(self) -> list[Finding]:
        standing = self._spaces.standing()
        told = [
            (standing["warning"], "two models are never mixed", "Run `nightdesk memory migrate`."),
            (
                standing["trouble"],
                "the build of the new index has stopped",
                "It goes on when that is mended.",
            ),
        ]
        findings = [Finding(what, 1, means, then, []) for what, means, then in told if what]
        if not standing["ranked"]:
            findings.append(
                Finding(
                    f"the model {standing['served']['model']} cannot be made",
                    1,
                    "memories are found by key and as standing preferences, not by likeness",
                    "Give the old embedder back, or run `nightdesk memory migrate`.",
                    [],
                )
            )
        return findings


def _stuck(session: Session, before: datetime) -> list[MemoryOutboxRow]:
    query = select(MemoryOutboxRow).where(
        (col(MemoryOutboxRow.attempts) > 0) | (col(MemoryOutboxRow.enqueued_at) < before)
    )
    return list(session.exec(query.order_by(col(MemoryOutboxRow.attempts).desc())))
