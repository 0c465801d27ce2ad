"""Remembering what somebody says: the telling is read strictly, and a source that repeats itself is heard once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import Field, ValidationError
from sqlmodel import col, select

from kernel.contracts import Value
from kernel.database import Database
from kernel.errors import Correctable
from kernel.redaction_checks import PLACEHOLDER
from kernel.sentences import wishes
from kernel.text import storable
from memory_service.domain import Candidate, Status, Upsert, check_name
from memory_service.learning import tags
from memory_service.tables import MemoryAuditRow, MemoryRow, MemoryStateRow

#: Where a telling does not say how much it matters: above the gate's floor, below what a run has proved.
IMPORTANCE = 0.6
#: More labels than this describe nothing.
TAGS_MAX = 16
#: What decides who sees a memory and how far it is believed is said in its own field, never in slots, where a
#: model or a log could name somebody else's.
_NEVER_IN_SLOTS = frozenset({"namespace", "user", "user_id", "tenant", "trust", "status", "source_kind"})
#: Whose a preference is where nobody is named (kernel.contracts.Request).
_USER = "local"
_EXAMPLE = 'Ask with {"text": "…", "namespace": "default", "kind": "fact", "source_kind": "user"}'


class Admitted(Value):
    """What became of a telling: its id (None where it was dropped), what was done, and the gate's word on it."""

    id: str | None
    outcome: Upsert | Literal["quarantine", "dropped"]
    reason: str = ""
    kind: str = ""
    #: All that was made: a wish for a language and a length is two memories.
    ids: list[str] = []
    hidden: int = Field(default=0, ge=0, description="Secrets that were hidden before anything was stored.")


def secrets_hidden(told: Candidate, kept: Candidate) -> int:
    """Return how many values of a telling have a placeholder in what is kept of it."""
    was, now = (len(PLACEHOLDER.findall(candidate.model_dump_json())) for candidate in (told, kept))
    return max(0, now - was)


def candidate_of(telling: dict[str, Any]) -> Candidate:
    """Return the candidate of what was told over the queue; raise Correctable naming every fault."""
    sent = {name: value for name, value in telling.items() if value is not None}
    told = storable(sent)
    told = personal(told) | told
    try:
        candidate = Candidate.model_validate(
            {"namespace": "default", "kind": "fact", "importance": IMPORTANCE, **told}
        )
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise Correctable(
            "this cannot be remembered as it is", why=faults, next_step=f"{_EXAMPLE}."
        ) from error
    # as they were sent: storable text has no NUL any more, and two names may not become one
    check_name("the namespace", str(sent.get("namespace", candidate.namespace)))
    check_name("the user", str(sent.get("user", candidate.user)), empty=True)
    check_name("the key", candidate.key, empty=True)
    _check_labels(candidate)
    if candidate.valid_from and candidate.valid_to and candidate.valid_to <= candidate.valid_from:
        raise Correctable(
            "valid_to is not after valid_from", next_step="Leave out valid_to, or give a later moment."
        )
    by_rule = [] if candidate.tags else tags.told_by_rule(candidate.text, candidate.kind)
    return candidate.model_copy(update={"tags": by_rule}) if by_rule else candidate


def personal(told: dict[str, Any]) -> dict[str, Any]:
    """Return kind and user of a person's sentence without a kind that is a wish, or about themselves; else nothing.

    The sentence is read as one of a request is (extraction), so that both ways lead to the same memory.
    """
    text = told.get("text")
    if "kind" in told or told.get("source_kind") != "user" or not isinstance(text, str):
        return {}
    if wishes(text.strip()) and not told.get("key"):  # what has a key is a fact that may change
        return {"kind": "preference", "user": _USER}
    return {"user": _USER} if tags.own(text.strip(), "fact") else {}


def _check_labels(candidate: Candidate) -> None:
    if len(candidate.tags) > TAGS_MAX:
        raise Correctable(f"{len(candidate.tags)} tags are too many", why=f"the limit is {TAGS_MAX}")
    for tag in candidate.tags:
        check_name("a tag", tag)
    if foreign := sorted(_names(candidate.slots) & _NEVER_IN_SLOTS):
        raise Correctable(
            f"slots may not hold {', '.join(foreign)}",
            why="who sees a memory and how far it is believed is never said in its slots",
            next_step="Give it as a field of its own.",
        )


def _names(slots: Any) -> set[str]:
    if isinstance(slots, list):
        return set().union(*map(_names, slots)) if slots else set()
    if not isinstance(slots, dict):
        return set()
    return set().union({str(name).casefold() for name in slots}, *map(_names, slots.values()))


@dataclass(frozen=True)
class Known:
    """A memory that says the same already, and how it stands."""

    id: str
    quarantined: bool


def told_before(database: Database, candidate: Candidate, actor: str) -> Known | None:
    """Return the memory in force that this actor has said in the same words before: it is heard once.

    One that has faded is not in force: said again, it comes back. Who has no name is heard each time.
    """
    if not candidate.source_ref:
        return None
    query = (
        select(MemoryRow.id, MemoryStateRow.status)
        .join(MemoryStateRow, col(MemoryStateRow.pk) == col(MemoryRow.pk))
        .join(MemoryAuditRow, col(MemoryAuditRow.memory_id) == col(MemoryRow.id))
        .where(
            col(MemoryRow.key_hash) == candidate.key_hash,
            col(MemoryRow.namespace) == candidate.namespace,
            col(MemoryRow.user) == candidate.user,
            col(MemoryRow.kind) == candidate.kind,
            col(MemoryRow.content_hash) == candidate.content_hash,
            col(MemoryRow.live) | (col(MemoryStateRow.status) == Status.quarantined.value),
            col(MemoryStateRow.status).in_([Status.active.value, Status.quarantined.value]),
            col(MemoryAuditRow.actor) == actor,
        )
    )
    with database.reading() as session:
        found = session.exec(query).first()
    return Known(found[0], found[1] == Status.quarantined.value) if found else None
