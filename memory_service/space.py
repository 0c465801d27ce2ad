"""Embedding spaces: vectors of two models are never compared, also where their dimensions agree."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass

from sqlmodel import Session, col, select

from kernel import logs
from kernel.clock import now
from kernel.database import Database
from memory_service.embed.port import Embedder, Vector, cosine
from memory_service.tables import EmbedCacheRow, EmbedSpaceRow

log = logs.get(__name__)

#: A text whose vector tells models apart, with what a model may treat in its own way.
_PROBE = "Nightdesk probe 7: checkout node-7 ERR_123 连接池耗尽 délai dépassé"
#: The same model gives the same vector up to the rounding of another CPU.
_SAME_MODEL = 0.999


@dataclass(frozen=True)
class Space:
    """One embedding space; `id` names its folder and collection."""

    id: str
    dimensions: int


def current_space(database: Database, embedder: Embedder) -> Space:
    """Return the space of the configured embedder, made on first use; log where it changed."""
    probe = embedder.passages([_PROBE])[0]
    with database.writing("memory.space") as session:
        known = list(session.exec(select(EmbedSpaceRow).order_by(col(EmbedSpaceRow.created_at))))
        row = next((r for r in known if r.name == embedder.name and _same(r.probe, probe)), None)
        if row is None:
            row = EmbedSpaceRow(
                id=_id(embedder.name, len(probe), len(known)),
                name=embedder.name,
                dimensions=len(probe),
                probe=probe,
                created_at=now(),
            )
            session.add(row)
        before = [other.id for other in known if other.state == "current" and other.id != row.id]
        if before:
            log.warning(
                "embedding_space_changed", old=before, new=row.id, next_step="the index is built from SQL"
            )
        for other in known:
            other.state = "retired"
        row.state = "current"
        return Space(row.id, row.dimensions)


def _same(known: Vector, probe: Vector) -> bool:
    return len(known) == len(probe) and cosine(known, probe) >= _SAME_MODEL


def _id(name: str, dimensions: int, number: int) -> str:
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return f"{words}-{dimensions}-{number + 1}"


class VectorCache:
    """Vectors of stored texts by the hash of their content."""

    def __init__(self, space: Space) -> None:
        self._space = space

    def known(self, session: Session, hashes: list[str]) -> dict[str, Vector]:
        """Return the vectors of those texts that were embedded before."""
        query = select(EmbedCacheRow).where(
            EmbedCacheRow.space_id == self._space.id, col(EmbedCacheRow.content_hash).in_(hashes)
        )
        return {row.content_hash: list(array("f", row.vector)) for row in session.exec(query)}

    def keep(self, session: Session, vectors: dict[str, Vector]) -> None:
        """Store vectors; what is there already stays."""
        for content_hash, vector in vectors.items():
            packed = array("f", vector).tobytes()
            session.merge(EmbedCacheRow(space_id=self._space.id, content_hash=content_hash, vector=packed))
