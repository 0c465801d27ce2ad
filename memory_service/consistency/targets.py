"""The indexes that are open in this process: the one that is served, and one that is built beside it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import RLock
from typing import Any

from sqlmodel import col, select

from kernel import logs
from kernel.clock import monotonic
from kernel.database import Database
from kernel.errors import Fatal, NightdeskError
from memory_service.consistency.space import CURRENT, SHADOW, Space, model_of, probe_of, same_model, space_of
from memory_service.embed.port import Embedder
from memory_service.index.port import MemoryIndex
from memory_service.tables import EmbedSpaceRow

log = logs.get(__name__)

#: Between two tries to make an embedder that could not be made: a model that is gone for good costs seconds each time.
_AGAIN_SECONDS = 300.0


@dataclass(frozen=True)
class Target:
    """An index that is written to. Without `embedder`, which could not be made again, it takes known vectors only."""

    space: Space
    index: MemoryIndex
    embedder: Embedder | None


@dataclass(frozen=True, kw_only=True)
class Engines:
    """What makes indexes and embedders."""

    open_index: Callable[[Space], MemoryIndex]
    drop_index: Callable[[Space], None]
    #: Tells the engine which index is served, where it wants to know (an alias on a Qdrant server).
    publish: Callable[[Space], None]
    #: Makes an embedder from the settings that a space was made by, or raises.
    embedder: Callable[[dict[str, Any]], Embedder]


class Targets:
    """Opens each space once; SQL says which are written to."""

    def __init__(self, database: Database, engines: Engines) -> None:
        self._database = database
        self._engines = engines
        self._open: dict[str, Target] = {}
        self._lock = RLock()
        #: The space that is served, as SQL said last.
        self.served = ""
        #: Counts what makes those who hold the served index ask for it again: a swap, an index opened anew.
        self.version = 0
        self._lacking = False
        self._try_at = float("-inf")

    def written(self) -> list[Target]:
        """Return the targets of every write: the served one first."""
        with self._database.reading() as session:
            query = select(EmbedSpaceRow).where(col(EmbedSpaceRow.state).in_([CURRENT, SHADOW]))
            rows = sorted(session.exec(query), key=lambda row: row.state)
        targets = [self.of(row) for row in rows]
        self._note(next((row.id for row in rows if row.state == CURRENT), ""))
        return targets

    def current(self) -> Target:
        """Return the target that is served."""
        targets = self.written()
        if not self.served:
            raise Fatal("the memory has no embedding space", why="none was made yet")
        return targets[0]

    def of(self, row: EmbedSpaceRow) -> Target:
        """Return the target of a space, opened on first use."""
        with self._lock:
            known = self._open.get(row.id)
            if known is not None and known.index.broken():
                # opened anew it is set aside and starts empty
                known.index.close()
                del self._open[row.id]
                self._lacking = True
                self.version += 1
            if row.id not in self._open:
                space = space_of(row)
                embedder = self._made_again(row)
                self._open[row.id] = Target(space, self._engines.open_index(space), embedder)
            return self._open[row.id]

    def try_again(self) -> None:
        """Make embedders that could not be made when their index was opened: an endpoint may have been away."""
        if monotonic() < self._try_at:
            return
        self._try_at = monotonic() + _AGAIN_SECONDS
        with self._database.reading() as session:
            rows = {row.id: row for row in session.exec(select(EmbedSpaceRow))}
        with self._lock:
            lacking = [target for target in self._open.values() if target.embedder is None]
        for target in lacking:  # outside the lock: it may take seconds, and others write meanwhile
            row = rows.get(target.space.id)
            embedder = self._made_again(row) if row is not None else None
            with self._lock:
                if embedder is not None and self._open.get(target.space.id) is target:
                    self._open[target.space.id] = replace(target, embedder=embedder)
                    self._lacking = True
                    self.version += 1

    def serve(self, space: Space) -> None:
        """Note that SQL serves another space now."""
        self._note(space.id)
        self._engines.publish(space)

    def take_lacking(self) -> bool:
        """Return, once, whether an index started anew or had no embedder for a while: it is to be compared with SQL."""
        with self._lock:
            lacking, self._lacking = self._lacking, False
            return lacking

    def _note(self, served: str) -> None:
        with self._lock:
            if self.served != served:
                self.served = served
                self.version += 1

    def drop(self, space: Space) -> None:
        """Close an index and delete what it holds."""
        with self._lock:
            opened = self._open.pop(space.id, None)
            if opened is not None:
                opened.index.close()
            self._engines.drop_index(space)

    def close(self) -> None:
        """Close every index."""
        with self._lock:
            for target in self._open.values():
                target.index.close()
            self._open.clear()

    def flush(self) -> None:
        """Put every open index on the disk."""
        with self._lock:
            for target in self._open.values():
                target.index.flush()

    def _made_again(self, row: EmbedSpaceRow) -> Embedder | None:
        try:
            embedder = self._engines.embedder(model_of(row) or _by_name(row.name))
            if same_model(row, embedder.name, probe_of(embedder)):
                return embedder
            why = f"it is {embedder.name} now, with other vectors"
        except (NightdeskError, ImportError, OSError) as error:
            why = f"{type(error).__name__}: {error}"
        log.error(
            "embedder_not_made",
            space=row.id,
            model=row.name,
            reason=why,
            effect="memories are found by key, not by likeness",
            next_step="Give the old embedder back, or run `nightdesk memory migrate`.",
        )
        return None


def _by_name(name: str) -> dict[str, Any]:
    """Return what a space of an early version was made by, as far as its name tells."""
    provider, _, model = name.partition("/")
    return {"embedder": provider, "embedder_model": model}
