"""Embedding spaces: vectors of two models are never compared, also where their dimensions agree."""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import bindparam, delete, text
from sqlalchemy.types import LargeBinary
from sqlmodel import Session, col, select

from kernel.clock import now
from kernel.database import Database
from kernel.errors import Refused
from memory_service import lexical
from memory_service.embed.port import Embedder, Vector, cosine, unit
from memory_service.tables import EmbedCacheRow, EmbedSpaceRow

#: A text whose vector tells models apart, with what a model may treat in its own way.
_PROBE = "Nightdesk probe 7: checkout node-7 ERR_123 连接池耗尽 délai dépassé"
#: The same model gives the same vector up to the rounding of another CPU.
_SAME_MODEL = 0.999
#: Beside the settings that make a space's embedder stands which version of `lexical` its keywords are of.
WORDS = "words"
CURRENT, SHADOW, RETIRED = "current", "shadow", "retired"
#: When a space was retired that was given up before it was served: it is due to be deleted.
NEVER_SERVED = datetime.fromtimestamp(0, tz=UTC)

_KEEP = text(
    "INSERT INTO embed_cache (space_id, content_hash, vector) VALUES (:space, :hash, :vector) "
    "ON CONFLICT (space_id, content_hash) DO NOTHING"
).bindparams(bindparam("vector", type_=LargeBinary()))


@dataclass(frozen=True)
class Space:
    """One embedding space; `id` names its folder and collection, `vectors` the space whose cached vectors it shares."""

    id: str
    dimensions: int
    vectors: str = ""


def space_of(row: EmbedSpaceRow) -> Space:
    """Return the space of a row."""
    return Space(row.id, row.dimensions, row.vectors_of)


def probe_of(embedder: Embedder) -> Vector:
    """Return the vector by which a model is known."""
    return embedder.passages([_PROBE])[0]


def same_model(row: EmbedSpaceRow, name: str, probe: Vector) -> bool:
    """Return whether a space was made by the model of that name that gives that vector."""
    known = row.probe
    return row.name == name and len(known) == len(probe) and cosine(unit(known), unit(probe)) >= _SAME_MODEL


def model_of(row: EmbedSpaceRow) -> dict[str, Any]:
    """Return the settings that make a space's embedder; empty for a space of an early version."""
    return {name: value for name, value in row.made_by.items() if name != WORDS}


def words_agree(row: EmbedSpaceRow) -> bool:
    """Return whether the keywords in a space's index are those that questions have today."""
    return bool(row.made_by.get(WORDS) == lexical.VERSION)


def made_anew(session: Session, row: EmbedSpaceRow) -> EmbedSpaceRow:
    """Insert a shadow of the same model, which shares the cached vectors and keeps the measured cut-offs."""
    made = new_space(session, SHADOW, row.name, row.probe, model_of(row))
    made.vectors_of = row.vectors_of or row.id
    made.calibration = row.calibration
    return made


def new_space(
    session: Session, state: str, name: str, probe: Vector, made_by: dict[str, Any]
) -> EmbedSpaceRow:
    """Insert a space for a model; its id was never used before, so that no folder is taken for its own."""
    known = list(session.exec(select(EmbedSpaceRow)))
    taken = {row.id for row in known} | {row.vectors_of for row in known}
    number = len(known) + 1
    while _id(name, len(probe), number) in taken:
        number += 1
    row = EmbedSpaceRow(
        id=_id(name, len(probe), number),
        name=name,
        dimensions=len(probe),
        probe=probe,
        state=state,
        made_by={**made_by, WORDS: lexical.VERSION},
        created_at=now(),
    )
    session.add(row)
    return row


def current_row(session: Session) -> EmbedSpaceRow | None:
    """Return the space that is served."""
    return session.exec(select(EmbedSpaceRow).where(col(EmbedSpaceRow.state) == CURRENT)).first()


def shadow_row(session: Session) -> EmbedSpaceRow | None:
    """Return the space that is built beside the served one."""
    return session.exec(select(EmbedSpaceRow).where(col(EmbedSpaceRow.state) == SHADOW)).first()


def retired(session: Session) -> list[EmbedSpaceRow]:
    """Return the retired spaces, the last one first."""
    query = select(EmbedSpaceRow).where(col(EmbedSpaceRow.state) == RETIRED)
    return sorted(session.exec(query), key=lambda row: str(row.retired_at or ""), reverse=True)


def give_up(session: Session, shadow: EmbedSpaceRow) -> None:
    """Stop a build: a space that was served once is retired again, a new one is due to be deleted."""
    shadow.state = RETIRED
    shadow.retired_at = shadow.retired_at or NEVER_SERVED
    session.add(shadow)


def build_again(session: Session, row: EmbedSpaceRow) -> None:
    """Have a retired space brought up to date; what it holds already is passed over, if its words are of today."""
    if words_agree(row):
        row.state, row.built_to = SHADOW, 0
        session.add(row)
    else:
        made_anew(session, row)


def current_space(database: Database, embedder: Embedder, made_by: dict[str, Any] | None = None) -> Space:
    """Return the space that is served, made on first use; raise Refused where another model made it."""
    probe = probe_of(embedder)
    with database.writing("memory.space") as session:
        row = current_row(session)
        if row is None:
            row = new_space(session, CURRENT, embedder.name, probe, made_by or {})
        elif not same_model(row, embedder.name, probe):
            raise Refused(
                f"the memory was indexed by {row.name}, not by {embedder.name}",
                why="vectors of two models cannot be compared",
                next_step="Run `nightdesk memory migrate` to build its index anew.",
            )
        elif made_by:
            note_model(session, row, made_by)
        return space_of(row)


def note_model(session: Session, row: EmbedSpaceRow, made_by: dict[str, Any]) -> None:
    """Store the settings by which the embedder of a space is made from now on."""
    if model_of(row) != made_by:
        row.made_by = {**made_by, WORDS: row.made_by.get(WORDS, 0)}
        session.add(row)


def told_of(row: EmbedSpaceRow) -> dict[str, Any]:
    """Return a space as JSON."""
    return {
        "id": row.id,
        "model": row.name,
        "dimensions": row.dimensions,
        "retired_at": row.retired_at.isoformat() if row.retired_at else None,
    }


def erase_space(session: Session, space: Space) -> None:
    """Delete a space's row, and its vectors unless another space shares them."""
    row = session.get(EmbedSpaceRow, space.id)
    if row is None or row.state != RETIRED:
        return
    session.delete(row)
    session.flush()
    owner = space.vectors or space.id
    sharing = select(EmbedSpaceRow.id).where(
        (col(EmbedSpaceRow.id) == owner) | (col(EmbedSpaceRow.vectors_of) == owner)
    )
    if session.exec(sharing).first() is None:
        session.execute(delete(EmbedCacheRow).where(col(EmbedCacheRow.space_id) == owner))


def _id(name: str, dimensions: int, number: int) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return f"{words}-{dimensions}-{number}"


class VectorCache:
    """Vectors of stored texts by the hash of their content."""

    def __init__(self, space: Space) -> None:
        self._owner = space.vectors or space.id

    def known(self, session: Session, hashes: Iterable[str]) -> dict[str, Vector]:
        """Return the vectors of those texts that were embedded before."""
        query = select(EmbedCacheRow.content_hash, EmbedCacheRow.vector).where(
            EmbedCacheRow.space_id == self._owner, col(EmbedCacheRow.content_hash).in_(set(hashes))
        )
        return {hash_: array("f", vector).tolist() for hash_, vector in session.exec(query)}

    def keep(self, session: Session, vectors: dict[str, Vector]) -> None:
        """Store vectors; what is there already stays."""
        if vectors:
            packed = [
                {"space": self._owner, "hash": hash_, "vector": array("f", vector).tobytes()}
                for hash_, vector in vectors.items()
            ]
            session.connection().execute(_KEEP, packed)
