"""How a candidate becomes a row: insert, say again, supersede, keep beside, or nothing at all."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from sqlmodel import Session

from memory_service.audit import record, take_turn
from memory_service.domain import Candidate, Status, Upsert, decide
from memory_service.forgetting.fading import NEVER, REINFORCEMENT, RETENTION_SECONDS
from memory_service.learning.gate import Verdict
from memory_service.learning.known import Pair, forgotten, holding, tellings, versions
from memory_service.learning.rates import Limits, over_limit
from memory_service.reading import to_memory
from memory_service.state import changed, restore
from memory_service.tables import MemoryRow, MemoryStateRow

#: Tellings of one source that add weight; a person may say a thing as often as they mean it.
_SAME_SOURCE = 3


@dataclass(frozen=True)
class Written:
    """What became of a candidate; one that was dropped has no id, but a reason."""

    id: str
    outcome: Upsert | Literal["quarantine", "dropped"]
    reason: str = ""


def upsert(
    session: Session,
    candidate: Candidate,
    verdict: Verdict,
    at: datetime,
    actor: str,
    reason: str,
    *,
    limits: Limits,
) -> Written:
    take_turn(session)  # what is read here is what is changed below
    quarantined = verdict == "quarantine"
    if (why_not := _needless(session, candidate, at, quarantined=quarantined)) is not None:
        return why_not
    held = holding(session, candidate, quarantined=quarantined)
    before = to_memory(*held) if held else None
    outcome = "touch" if quarantined and held else _decided(held, candidate, at)
    if outcome == "touch" and held is not None:
        row = held[0]
        if not _tell_again(session, held, candidate, at, actor):
            return Written(row.id, "quarantine" if quarantined else outcome, "this source has said it often")
    else:
        if over := over_limit(session, candidate, limits, at):
            return Written("", "dropped", over)
        row = _insert(session, candidate, outcome, at, quarantined=quarantined, old=held)
    record(
        session,
        at=at,
        actor=actor,
        action="quarantine" if quarantined else outcome,
        memory_id=row.id,
        namespace=candidate.namespace,
        before={"id": before.id, "content": before.content_hash, "rev": before.rev} if before else {},
        after={"content": candidate.content_hash, "kind": candidate.kind, **_source(candidate)},
        reason=reason,
    )
    return Written(row.id, "quarantine" if quarantined else outcome, reason)


def _source(candidate: Candidate) -> dict[str, str]:
    return {"source": candidate.source_ref, "source_kind": candidate.source_kind}


def _needless(session: Session, candidate: Candidate, at: datetime, *, quarantined: bool) -> Written | None:
    """Return why a candidate changes nothing at all: it was forgotten, or waits for what a person said already."""
    if forgotten(session, candidate, candidate.valid_from or at):
        return Written("", "dropped", "it was forgotten, and nobody has said it anew since")
    known = holding(session, candidate, quarantined=False) if quarantined else None
    if known is not None and known[0].content_hash == candidate.content_hash:
        return Written(known[0].id, "touch", "the same is known already, from who may say it")
    return None


def _decided(held: Pair | None, candidate: Candidate, at: datetime) -> Upsert:
    if held is not None and held[0].key_hash != candidate.key_hash:
        return "touch"  # an episode in slightly other words
    return decide(to_memory(*held) if held else None, candidate, at)


def _insert(
    session: Session,
    candidate: Candidate,
    outcome: Upsert,
    at: datetime,
    *,
    quarantined: bool,
    old: Pair | None,
) -> MemoryRow:
    beside = outcome == "history" or quarantined
    since = candidate.valid_from or at
    row = MemoryRow(
        id=str(uuid.uuid4()),
        live=not beside,
        valid_from=since,
        valid_to=candidate.valid_to,
        recorded_at=at,
        key_hash=candidate.key_hash,
        content_hash=candidate.content_hash,
        trust=candidate.trust,
        **candidate.model_dump(include=_COPIED),
    )
    held_once = False
    if outcome == "supersede" and old is not None:
        _close(session, old, row.id, since, at)
    elif outcome == "history" and old is not None:
        held_once = _put_into_the_past(session, candidate, row, old, at)
    session.add(row)
    session.flush()
    assert row.pk is not None
    state = _first_state(row.pk, candidate, at)
    if outcome == "supersede" and old is not None and candidate.kind == "preference":
        state.weight = old[1].weight + 1  # the same wish, changed: it has been felt as often
    if quarantined or (beside and not held_once):
        state.status = (Status.quarantined if quarantined else Status.archived).value
        state.tier, state.next_transition_at = "archived", at.timestamp() + RETENTION_SECONDS
    changed(session, state, at)
    return row


def _put_into_the_past(
    session: Session, candidate: Candidate, row: MemoryRow, old: Pair, at: datetime
) -> bool:
    """Give a row its place in the history; return whether it was ever in force.

    What is told late takes the time from its own beginning to that of the next version; the less trusted has none.
    """
    row.superseded_by = old[0].id
    known = versions(session, candidate)
    earlier = [pair for pair in known if pair[0].valid_from <= row.valid_from]
    later = [pair[0] for pair in known if pair[0].valid_from > row.valid_from]
    ruling = earlier[-1] if earlier else None
    if candidate.trust < old[0].trust or (ruling is not None and candidate.trust < ruling[0].trust):
        row.valid_to = row.valid_from
        return False
    ends = [moment for moment in (row.valid_to, later[0].valid_from if later else None) if moment is not None]
    row.valid_to = min(ends) if ends else row.valid_from
    if ruling is not None and not ruling[0].live:
        _close(session, ruling, row.id, row.valid_from, at)
    return True


def _first_state(pk: int, candidate: Candidate, at: datetime) -> MemoryStateRow:
    return MemoryStateRow(
        pk=pk,
        status=Status.active.value,
        tier="hot",
        next_transition_at=NEVER,
        importance=candidate.importance,
        emotion=candidate.emotion,
        half_life_s=candidate.half_life_seconds,
        last_access_at=at.timestamp(),
        expires_at=candidate.expires_at.timestamp() if candidate.expires_at else None,
        rev=0,
    )


_COPIED = {
    *("namespace", "user", "owner", "kind", "key", "text", "context", "slots", "tags"),
    *("source_kind", "source_ref", "session", "made_from"),
}


def _close(session: Session, old: Pair, new_id: str, since: datetime, at: datetime) -> None:
    """End the time of a version where the next one begins."""
    row, state = old
    row.live, row.superseded_by = False, new_id
    row.valid_to = min(row.valid_to, since) if row.valid_to is not None else since
    row.valid_from = min(row.valid_from, row.valid_to)  # it began later only by a clock that was ahead
    changed(session, state, at)
    session.flush()  # the key must be free before the new row takes it


def _tell_again(session: Session, held: Pair, candidate: Candidate, at: datetime, actor: str) -> bool:
    """Strengthen what is said again and return True; one source alone counts only so often, a person always."""
    row, state = held
    heard = tellings(session, row.id, candidate)
    if heard >= _SAME_SOURCE and candidate.source_kind != "user":
        return False
    if heard == 0:
        state.importance = max(state.importance, candidate.importance)
        state.importance += REINFORCEMENT * (1 - state.importance)
    if candidate.trust >= row.trust:
        row.trust, row.source_kind = candidate.trust, candidate.source_kind
        row.source_ref = candidate.source_ref or row.source_ref
        row.slots = {**row.slots, **{name: value for name, value in candidate.slots.items() if value}}
    state.weight += 1
    state.last_access_at = max(state.last_access_at, at.timestamp())
    if state.status == Status.archived.value and row.live:
        restore(session, row, state, at=at, actor=actor, reason="told again")
    else:
        changed(session, state, at)
    return True
