"""The folder of an index on this machine: one owner process, and a way past one that cannot be opened."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from kernel import logs
from kernel.clock import now
from kernel.errors import Fatal

log = logs.get(__name__)

#: An engine that takes its process down while it opens leaves its mark; a kill -9 of ours may do so once.
_ATTEMPTS = 3


class IndexDamaged(Fatal):
    """What is in the folder cannot be read; the index can be built anew from SQL."""

    code = "index_damaged"


def own(folder: Path) -> IO[str]:
    """Lock the folder for this process, or raise Fatal; the lock goes when the process does."""
    folder.mkdir(parents=True, exist_ok=True)
    owner = (folder / "owner").open("a+", encoding="utf-8")
    try:
        fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        owner.seek(0)
        holder = owner.read().strip() or "another process"
        owner.close()
        raise Fatal(
            f"the memory index in {folder} is open in {holder}",
            why="Qdrant Edge has one owner process",
            next_step="Stop the other memory worker, or set NIGHTDESK_QDRANT_URL to a Qdrant server for more than one.",
        ) from error
    owner.truncate(0)
    owner.write(f"process {os.getpid()}")
    owner.flush()
    return owner


def set_aside(folder: Path, shard: Path, why: str) -> Path | None:
    """Rename what cannot be read, so that the index starts anew; return its new name, None where it was gone."""
    if not shard.exists():
        return None
    kept = folder / f"damaged-{now():%Y%m%dT%H%M%S}-{os.getpid()}"
    number = 0
    while kept.exists():
        number += 1
        kept = kept.with_name(f"{kept.name}-{number}")
    shard.rename(kept)
    log.error(
        "memory_index_set_aside",
        folder=str(shard),
        kept=str(kept),
        reason=why,
        effect="the index is built anew from SQL; nothing remembered is lost",
        next_step=f"Delete {kept} when nobody needs to look at it.",
    )
    return kept


def mark(folder: Path, why: str) -> None:
    """Note that the shard turned out to be unreadable: whoever opens it next sets it aside."""
    (folder / "damaged").write_text(why[:2000], encoding="utf-8", errors="replace")


def marked(folder: Path) -> bool:
    """Return whether the shard was found unreadable since it was opened."""
    return (folder / "damaged").exists()


@contextmanager
def attempt(folder: Path, shard: Path) -> Iterator[None]:
    """Set aside a shard that is marked, or whose opening never returned a few times: no crash goes on forever."""
    counter, note = folder / "opening", folder / "damaged"
    before = counter.stat().st_size if counter.exists() else 0
    if before >= _ATTEMPTS:
        set_aside(folder, shard, f"{before} processes ended while they opened it")
        counter.unlink(missing_ok=True)
    if note.exists():
        set_aside(folder, shard, note.read_text(encoding="utf-8", errors="replace"))
        note.unlink(missing_ok=True)
    with counter.open("ab") as counted:
        counted.write(b"x")
    yield
    counter.unlink(missing_ok=True)
    note.unlink(missing_ok=True)
