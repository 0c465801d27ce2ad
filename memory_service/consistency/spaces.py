"""The use cases of embedding spaces: which is served, migrate, rebuild, roll back, clear what is retired."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from threading import Event
from typing import Any

from sqlmodel import Session, col, select

from kernel import clock, logs
from kernel.database import Database
from kernel.errors import Correctable, NightdeskError, Refused
from memory_service.audit import take_turn
from memory_service.consistency.building import BUILD, Build
from memory_service.consistency.space import (
    CURRENT,
    NEVER_SERVED,
    RETIRED,
    SHADOW,
    build_again,
    current_row,
    erase_space,
    give_up,
    made_anew,
    model_of,
    new_space,
    note_model,
    probe_of,
    retired,
    same_model,
    shadow_row,
    space_of,
    told_of,
    words_agree,
)
from memory_service.consistency.targets import Targets
from memory_service.embed.port import Embedder, Vector
from memory_service.tables import EmbedSpaceRow, JobRunRow

log = logs.get(__name__)

MIGRATE = "nightdesk memory migrate"


class Spaces:
    """Says which space is served, and replaces it; vectors of two models never meet in one index."""

    def __init__(
        self,
        database: Database,
        targets: Targets,
        build: Build,
        *,
        configured: Callable[[], Embedder],
        made_by: dict[str, Any],
        keep_days: float,
        now: Callable[[], datetime] = clock.now,
    ) -> None:
        self._database = database
        self._targets = targets
        self._build = build
        self._configured = configured
        self._made_by = made_by
        self._keep_days = keep_days
        self._now = now
        #: The space that is served though another model is configured, and what to say about it.
        self._warned = ("", "")

    def begin(self) -> str:
        """Serve what SQL says, or the configured model where nothing was ever indexed; return a warning or ""."""
        with self._database.reading() as session:
            row = current_row(session)
        try:
            embedder, probe = self._probed()
        except (NightdeskError, ImportError, OSError) as error:
            if row is None or model_of(row) in ({}, self._made_by):
                raise
            told = (
                f"the configured embedder cannot be made ({error}); the memory is still served by {row.name}"
            )
            log.warning("embedder_not_configured", served=row.name, space=row.id, reason=str(error))
            self._warned = (row.id, told)
            return told
        if row is not None and not same_model(row, embedder.name, probe):
            return self._mixed(row, embedder.name, len(probe))
        if row is None or model_of(row) != self._made_by:
            with self._database.writing("memory.space") as session:
                take_turn(session)
                row = current_row(session) or new_space(session, CURRENT, embedder.name, probe, self._made_by)
                if same_model(row, embedder.name, probe):
                    note_model(session, row, self._made_by)
        self._targets.serve(space_of(row))
        return ""

    def migrate(self) -> dict[str, Any]:
        """Begin to build the configured model's index beside the served one, or go on with it."""
        embedder, probe = self._probed()
        with self._changing() as session:
            if (row := current_row(session)) and same_model(row, embedder.name, probe):
                raise Correctable(
                    f"the memory is served by {embedder.name} already",
                    next_step="Set NIGHTDESK_EMBEDDER (and its model) to the new one and restart the memory worker, "
                    "or run `nightdesk memory rebuild` to build the same index anew.",
                )
            shadow = shadow_row(session)
            if shadow is not None and not same_model(shadow, embedder.name, probe):
                give_up(session, shadow)
                shadow = None
            if shadow is None:
                known = [r for r in retired(session) if same_model(r, embedder.name, probe)]
                if known:
                    build_again(session, known[0])
                else:
                    new_space(session, SHADOW, embedder.name, probe, self._made_by)
        return self.standing()

    def rebuild(self) -> dict[str, Any]:
        """Begin to build the served space anew, from cached vectors, in another folder or collection."""
        with self._changing() as session:
            row = current_row(session)
            if shadow_row(session) is not None:
                raise Correctable(
                    "an index is being built already",
                    next_step="See `nightdesk memory spaces`; `nightdesk memory migrate --rollback` gives it up.",
                )
            embedder = self._targets.of(row).embedder if row is not None else None
            if row is None or embedder is None:
                raise Refused(
                    "the served index cannot be built anew",
                    why="its embedder cannot be made",
                    next_step=f"Run `{MIGRATE}` to build an index with the configured embedder.",
                )
            made_anew(session, row)
        return self.standing()

    def renew_words(self) -> str:
        """Begin to build an index anew whose keywords another version of `lexical` wrote; return its space or ""."""
        with self._database.reading() as session:
            served, shadow = current_row(session), shadow_row(session)
        old = shadow or served
        if old is None or words_agree(old):
            return ""
        if self._targets.of(old).embedder is None:
            log.warning("memory_words_not_renewed", space=old.id, reason="its embedder cannot be made")
            return ""
        with self._changing() as session:
            under_way = shadow_row(session)
            if (under_way.id if under_way else "") != (shadow.id if shadow else ""):
                return ""  # another process was quicker
            if under_way is not None:
                give_up(session, under_way)
            made = made_anew(session, old).id
        log.info("memory_words_renewed", space=made, of=old.id, reason="its keywords are of another version")
        return made

    def roll_back(self) -> dict[str, Any]:
        """Give up the build under way; without one, begin to bring the last retired space up to date and back."""
        with self._database.reading() as session:
            busy = shadow_row(session) is not None
        before = None if busy else self._replaced()
        with self._changing() as session:
            shadow = shadow_row(session)
            if shadow is not None:
                give_up(session, shadow)
            elif before is not None and (row := session.get(EmbedSpaceRow, before.id)) is not None:
                build_again(session, row)
        return self.standing()

    def _replaced(self) -> EmbedSpaceRow:
        """Return the space that was served before, if it can be served again."""
        with self._database.reading() as session:
            known = [row for row in retired(session) if row.retired_at and row.retired_at > NEVER_SERVED]
        if not known:
            raise Correctable(
                "there is no space to go back to",
                why=f"none was replaced in the last {self._keep_days:g} days",
            )
        if self._targets.of(known[0]).embedder is None:
            raise Refused(
                f"{known[0].name} cannot be served again",
                why="its embedder cannot be made",
                next_step="Mend its settings (the worker's log says why), then try again.",
            )
        return known[0]

    def build(self, *, seconds: float | None = None, stop: Event | None = None) -> bool:
        """Go on with an unfinished build; return whether none is left."""
        return self._build.run(seconds=seconds, stop=stop)

    def standing(self) -> dict[str, Any]:
        """Return the spaces as JSON: served, shadow with its progress, retired, and the last finished build."""
        with self._database.reading() as session:
            rows = list(session.exec(select(EmbedSpaceRow)))
            query = select(JobRunRow).where(JobRunRow.job == BUILD).order_by(col(JobRunRow.ended_at).desc())
            last = session.exec(query).first()
        served = next((row for row in rows if row.state == CURRENT), None)
        shadow = next((row for row in rows if row.state == SHADOW), None)
        return {
            "served": told_of(served) if served else None,
            "ranked": served is not None and self._targets.of(served).embedder is not None,
            "configured": self._made_by,
            "warning": self._warned[1] if served and served.id == self._warned[0] else "",
            "shadow": told_of(shadow) | self._build.progress(shadow) if shadow else None,
            "trouble": self._build.trouble if shadow else "",
            "retired": [told_of(row) for row in rows if row.state == RETIRED],
            "last_build": {"space": last.epoch, **last.counts} if last else None,
        }

    def clear(self) -> list[str]:
        """Delete spaces that were replaced long enough ago: folder or collection, and cached vectors."""
        before = self._now() - timedelta(days=self._keep_days)
        with self._database.reading() as session:
            old = [row for row in retired(session) if row.retired_at and row.retired_at < before]
        for row in old:
            self._targets.drop(space_of(row))
            with self._database.writing("memory.spaces.clear") as session:
                erase_space(session, space_of(row))
            log.info("memory_space_deleted", space=row.id, retired_at=str(row.retired_at))
        return [row.id for row in old]

    @contextmanager
    def _changing(self) -> Iterator[Session]:
        """Yield a session beside which nobody begins a build, gives one up or swaps."""
        with self._database.writing("memory.spaces.shadow") as session:
            take_turn(session)
            yield session

    def _probed(self) -> tuple[Embedder, Vector]:
        embedder = self._configured()
        return embedder, probe_of(embedder)

    def _mixed(self, row: EmbedSpaceRow, name: str, dimensions: int) -> str:
        told = (
            f"the memory was indexed by {row.name} ({row.dimensions} dimensions, space {row.id}), but {name} "
            f"({dimensions}) is configured; the old space is still served. Run `{MIGRATE}`."
        )
        log.warning(
            "embedding_space_mismatch",
            served=row.name,
            space=row.id,
            configured=name,
            next_step=f"Run `{MIGRATE}` to build the new index beside the old one, or set the old embedder again.",
        )
        self._warned = (row.id, told)
        return told
