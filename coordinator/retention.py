"""How long what runs have read is kept: which files of the artifact store may go, and what was let go when."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import or_
from sqlmodel import Session, col, select

from kernel.artifacts import ArtifactStore, Stored, pin_key
from kernel.ledgers import QuestionRow
from kernel.records import AssignmentRow, CallRow, RunRow
from kernel.states import RUN_ENDED, QuestionState

#: Files that one sweep removes at most (the rest goes the next night); runs that are read at once.
A_NIGHT, _BATCH = 10_000, 500
_LEDGER = "sweeps.jsonl"
#: Sweeps remembered: three years of nights.
_SWEEPS = 1_000
_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


@dataclass
class Holding:
    """What a store holds, and what of it may go."""

    files: int = 0
    bytes: int = 0
    due: list[Stored] = field(default_factory=list)

    @property
    def due_bytes(self) -> int:
        """Return the size of what may go."""
        return sum(one.size for one in self.due)


@dataclass(frozen=True)
class Swept:
    """What one sweep removed; everything older than `before` that no kept run needs is gone."""

    at: str
    before: str
    days: int
    files: int
    bytes: int
    left: int


def held(session: Session, store: ArtifactStore, *, days: int, moment: datetime) -> Holding:
    """Return what is stored and what may go: older than so many days, and needed by no run that is kept.

    Kept are runs that have not ended, ended within these days, or have an open question. Nothing goes with 0 days.
    """
    cutoff = moment - timedelta(days=days)
    found = Holding()
    old = []
    for one in store.stored():
        found.files += 1
        found.bytes += one.size
        if days and one.moment < cutoff:
            old.append(one)
    if old:
        needed = _needed(session, store, cutoff)
        found.due = sorted((one for one in old if one.name not in needed), key=lambda one: one.moment)
    return found


def sweep(
    store: ArtifactStore, due: Sequence[Stored], *, days: int, moment: datetime, most: int = A_NIGHT
) -> Swept:
    """Remove what may go, the oldest first, and write down that it went; doing it again changes nothing."""
    cutoff = moment - timedelta(days=days)
    gone = size = 0
    for one in due[:most]:
        if store.remove(one.name, cutoff):
            gone += 1
            size += one.size
    left = max(0, len(due) - most)
    before = due[most].moment if left else cutoff
    swept = Swept(moment.isoformat(), before.isoformat(), days, gone, size, left)
    if gone:
        _write_down(store, swept)
    return swept


def last_sweep(store: ArtifactStore) -> dict[str, Any] | None:
    """Return the latest sweep that removed anything."""
    return next(reversed(list(_sweeps(store))), None)


def hold(store: ArtifactStore, run_id: str, request: Mapping[str, Any]) -> None:
    """Keep what a run has read for as long again: somebody reads its report."""
    for name in names_of(store, run_id, request):
        store.hold(name)


def let_go(store: ArtifactStore, run_id: str, request: Mapping[str, Any], ended: datetime | None) -> str:
    """Return what to tell whoever looks for what a run has read and finds it removed; else an empty text."""
    if ended is None or all(store.holds(name) for name in names_of(store, run_id, request)):
        return ""
    for swept in _sweeps(store):
        if datetime.fromisoformat(swept["before"]) > ended:
            day = datetime.fromisoformat(swept["at"]).astimezone()
            return f"what the run read was kept {swept['days']} days; deleted on {day:%Y-%m-%d}"
    return ""


def names_of(store: ArtifactStore, run_id: str, request: Mapping[str, Any]) -> set[str]:
    """Return the files of a store that hold what a run has read: attachments, pins, and bodies that pins name."""
    names = set()
    for source in request.get("sources") or []:
        if source.get("artifact"):
            names.add(str(source["artifact"]))
            continue
        key = pin_key(run_id, source.get("path") or "", source.get("name") or "")
        names.add(store.note_name(key))
        names.update(_ID.findall((store.noted(key) or b"").decode("utf-8", "replace")))
    return names


def _needed(session: Session, store: ArtifactStore, cutoff: datetime) -> set[str]:
    """Return the names of all that kept runs need. What a run has stored since the cutoff is too young to go."""
    open_questions = select(QuestionRow.run_id).where(QuestionRow.state == QuestionState.open.value)
    kept = select(RunRow.id, RunRow.request, RunRow.created_at).where(
        or_(
            col(RunRow.state).not_in(RUN_ENDED),
            col(RunRow.ended_at) >= cutoff,
            col(RunRow.id).in_(open_questions),
        )
    )
    names: set[str] = set()
    older = []
    for run_id, request, created in session.exec(kept.execution_options(yield_per=_BATCH)):
        names.update(s["artifact"] for s in request.get("sources") or [] if s.get("artifact"))
        if created < cutoff:
            older.append((run_id, request))
    for run_id, request in older:
        names |= names_of(store, run_id, request) | _told(session, run_id)
    return names


def _told(session: Session, run_id: str) -> set[str]:
    """Return the ids of artifacts that the calls and outcomes of a run name."""
    results = session.exec(select(CallRow.result).where(CallRow.run_id == run_id)).all()
    outcomes = session.exec(select(AssignmentRow.outcome).where(AssignmentRow.run_id == run_id)).all()
    return set(_ID.findall(json.dumps([*results, *outcomes])))


def _sweeps(store: ArtifactStore) -> Iterator[dict[str, Any]]:
    for line in store.ledger(_LEDGER).decode("utf-8", "replace").splitlines():
        yield json.loads(line)


def _write_down(store: ArtifactStore, swept: Swept) -> None:
    lines = [json.dumps(one) for one in [*_sweeps(store), asdict(swept)][-_SWEEPS:]]
    store.write_ledger(_LEDGER, ("\n".join(lines) + "\n").encode())
