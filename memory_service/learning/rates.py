"""Rates: how many memories a session and a source may leave on a day; counted in the transaction of the write."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from sqlmodel import Session

from memory_service.audit import record
from memory_service.domain import Candidate
from memory_service.tables import MemoryRateRow


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Memories a day (UTC): of one session, and of one log, alert, tool, agent or run."""

    session: int = 20
    source: int = 50


def over_limit(session: Session, candidate: Candidate, limits: Limits, at: datetime) -> str:
    """Count a new memory and return ""; where a limit is reached count nothing and return which.

    The caller holds its turn (audit.take_turn), or two writers would both be the last that fits. The first refusal
    of a source and day leaves a row in the audit, the others do not: a flood must not fill that instead.
    """
    day = at.astimezone(UTC).date().isoformat()
    counted: list[MemoryRateRow] = []
    for source, what, limit in _counters(candidate, limits):
        row = session.get(MemoryRateRow, (candidate.namespace, source, day)) or MemoryRateRow(
            namespace=candidate.namespace, source=source, day=day
        )
        if row.count >= limit:
            reason = f"{what} has left its {limit} memories of {day} (UTC)"
            if row.count == limit:
                _tell_once(session, row, candidate, reason, at)
            return reason
        counted.append(row)
    for row in counted:
        row.count += 1
        session.add(row)
    session.flush()
    return ""


def source_of(candidate: Candidate) -> str:
    """Return who says it: kind and reference, so that a log may not speak in the name of a person."""
    return f"{candidate.source_kind}:{candidate.source_ref}"


def _counters(candidate: Candidate, limits: Limits) -> Iterator[tuple[str, str, int]]:
    if candidate.session:
        yield f"session:{candidate.session}", "this session", limits.session
    if candidate.source_kind != "user":  # a person who states things is held by the session alone
        yield f"source:{source_of(candidate)}", f"the source {source_of(candidate)!r}", limits.source


def _tell_once(session: Session, row: MemoryRateRow, candidate: Candidate, reason: str, at: datetime) -> None:
    row.count += 1  # one above the limit: it was told
    session.add(row)
    record(
        session,
        at=at,
        actor=source_of(candidate),
        action="limited",
        namespace=candidate.namespace,
        after={"content": candidate.content_hash, "kind": candidate.kind, "source": candidate.source_ref},
        reason=reason,
    )
