"""Fetches what does not lie in files (a Loki, the journal) into a stored body that stays the same for a run."""

from __future__ import annotations

import tempfile
import threading
from datetime import datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from agents.log_analysis.sources.journald import read_journal
from agents.log_analysis.sources.loki import read_loki
from agents.log_analysis.sources.named import NamedSource
from kernel.artifacts import ArtifactStore
from kernel.clock import now
from kernel.errors import Correctable
from kernel.settings import Settings

#: Seconds for all of one source: half of what a tool that opens it first may take.
FETCH_SECONDS = 240.0


def fetch(
    name: str,
    known: NamedSource,
    settings: Settings,
    store: ArtifactStore,
    scratch: Path,
    stop: threading.Event | None = None,
) -> tuple[str, list[str]]:
    """Fetch a source's lines up to now; return the artifact that holds them and what is to be said of it.

    Once `stop` is set it ends within a second, and nothing is stored.
    """
    limit = min(settings.log_max_bytes, settings.artifact_max_bytes)
    until = now()
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=scratch) as out:
        since, notes = _into(out, name, known, until, limit, settings, stop)
        if not out.tell():
            raise Correctable(
                f"{name!r} has no line between {since:%Y-%m-%d %H:%M} and {until:%Y-%m-%d %H:%M} UTC",
                why="; ".join(notes) or "nothing was written in that time, or nothing fits its query",
                next_step="Check its query and hours in sources.yaml.",
            )
        out.seek(0)
        artifact = store.put(out, name=name)
    window = f"read {since:%Y-%m-%dT%H:%M:%SZ} to {until:%Y-%m-%dT%H:%M:%SZ}"
    return artifact, [window, *notes]


def _into(
    out: BinaryIO,
    name: str,
    known: NamedSource,
    until: datetime,
    limit: int,
    settings: Settings,
    stop: threading.Event | None,
) -> tuple[datetime, list[str]]:
    if known.loki is not None:
        since = until - timedelta(hours=known.loki.hours)
        secret = settings.log_tokens.get(name)
        token = secret.get_secret_value() if secret else ""
        return since, read_loki(
            known.loki, out, since, until, token=token, limit=limit, seconds=FETCH_SECONDS, stop=stop
        )
    assert known.journald is not None  # the caller reads paths itself
    since = until - timedelta(hours=known.journald.hours)
    return since, read_journal(
        known.journald, out, since, until, limit=limit, seconds=FETCH_SECONDS, stop=stop
    )
