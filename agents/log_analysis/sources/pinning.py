"""Keeps what a run read of a source, so that a line it cites is the same bytes later and on every worker."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from itertools import chain, islice
from pathlib import Path

from pydantic import ValidationError

from agents.log_analysis.sources.files import LogFile
from agents.log_analysis.sources.fingerprint import Fingerprint, holds, take
from agents.log_analysis.sources.refusals import LOOK_SECONDS, stopped
from agents.log_analysis.sources.rotation import turn
from kernel.artifacts import ArtifactStore
from kernel.contracts import Value
from kernel.errors import Correctable, Exhausted, Fatal, NightdeskError

#: Records kept in memory: they never change once they are written.
_KEPT = 500
#: Files of a folder in which a rotated log is looked for, the likeliest first.
_LOOKED = 200


class PinnedFile(Value):
    """One file as its run first saw it; `artifact` holds what was fetched or attached, which cannot change."""

    name: str
    place: str = ""
    real: str = ""
    aliases: list[str] = []
    service: str = ""
    artifact: str = ""
    notes: list[str] = []
    changed: datetime | None = None
    known: Fingerprint | None = None


class Record(Value):
    """What one source came to for one run; problems are kept as they were told."""

    files: list[PinnedFile] = []
    problems: list[tuple[str, str, str]] = []


class Pins:
    """The records of a store, each written once; in this process one source is opened by one call at a time."""

    def __init__(self) -> None:
        self._records: OrderedDict[str, Record] = OrderedDict()
        self._locks: dict[str, threading.Lock] = {}
        self._checked: OrderedDict[tuple[str, int, int, int], bool] = OrderedDict()
        self._guard = threading.Lock()

    def record(
        self,
        store: ArtifactStore,
        key: str,
        make: Callable[[], Record],
        stop: threading.Event | None = None,
    ) -> Record:
        """Return the record under a key, made and written down where there is none yet; `stop` ends the wait for it."""
        with self._locked(f"{store.root} {key}", stop) as place:
            if place in self._records:
                return self._records[place]
            found = _read(store.noted(key))
            if found is None:
                made = make()
                found = made if not made.files else _read(_write(store, key, made)) or made
            if found.files:
                self._records[place] = found
                while len(self._records) > _KEPT:
                    self._records.popitem(last=False)
            return found

    def known(self, store: ArtifactStore, key: str) -> Record | None:
        """Return the record under a key where there is one."""
        return _read(store.noted(key))

    def checked(self, file: LogFile, known: Fingerprint) -> bool:
        """Tell whether a file holds the bytes; it is read again only when it has changed since."""
        try:
            status = file.path.stat()
        except OSError:
            return False
        state = (f"{known.sampled} {file.path}", status.st_ino, status.st_mtime_ns, status.st_size)
        with self._guard:
            seen = self._checked.get(state)
        if seen is None:
            seen = _is(file, known)
            with self._guard:
                self._checked[state] = seen
                while len(self._checked) > _KEPT * 4:
                    self._checked.popitem(last=False)
        return seen

    @contextmanager
    def _locked(self, place: str, stop: threading.Event | None) -> Iterator[str]:
        with self._guard:
            if len(self._locks) > _KEPT:
                self._locks = {key: lock for key, lock in self._locks.items() if lock.locked()}
            lock = self._locks.setdefault(place, threading.Lock())
        while not lock.acquire(timeout=LOOK_SECONDS):
            if stop is not None and stop.is_set():
                raise stopped()
        try:
            yield place
        finally:
            lock.release()


PINS = Pins()


def pin(file: LogFile) -> PinnedFile:
    """Return what is to be remembered of a file as it is now; raise where it cannot be read."""
    handle, changed = file.open()
    with handle:
        known = take(handle)
    return PinnedFile(
        name=file.name,
        place=file.place,
        real=str(file.path),
        aliases=list(file.aliases),
        service=file.service,
        changed=changed,
        known=known,
    )


def unpin(pinned: PinnedFile, roots: tuple[Path, ...]) -> LogFile:
    """Return the file that holds the bytes now: where it stood, or one it was rotated to; raise where none does."""
    known = pinned.known
    assert known is not None  # fetched and attached files are found by their artifact
    then = LogFile(
        name=pinned.name,
        path=Path(pinned.real),
        roots=roots,
        aliases=tuple(pinned.aliases),
        service=pinned.service,
        notes=tuple(pinned.notes),
        size=known.size if not known.packed else None,
        changed=pinned.changed,
        mark=known.sampled,
        place=pinned.place,
    )
    for path in chain((then.path,), islice(_siblings(then.path), _LOOKED)):
        candidate = replace(then, path=path)
        if PINS.checked(candidate, known):
            return candidate
    raise Correctable(
        f"{pinned.name!r} no longer holds what this run read of it",
        why="it was replaced or shortened, and no rotated file beside it holds those bytes",
        next_step="Submit the request again to read the log as it is now.",
    )


def _is(file: LogFile, known: Fingerprint) -> bool:
    try:
        handle, _ = file.open()
    except NightdeskError:
        return False
    with handle:
        return holds(handle, known)


def _siblings(path: Path) -> Iterator[Path]:
    """Yield the other files of a rotated set, the nearest in name first, then what else begins like it."""
    stem, _ = turn(path.name)
    try:
        with os.scandir(path.parent) as entries:
            names = sorted(
                e.name for e in entries if e.name != path.name and e.is_file(follow_symlinks=False)
            )
    except OSError:
        return
    same = [name for name in names if turn(name)[0] == stem]
    yield from (path.with_name(name) for name in sorted(same, key=lambda n: turn(n)[1], reverse=True))
    begins = stem.split(".")[0]
    yield from (path.with_name(n) for n in names if n not in same and n.startswith(begins))


def _read(content: bytes | None) -> Record | None:
    try:
        return Record.model_validate_json(content) if content else None
    except ValidationError:
        return None  # of another version: the source is opened anew


def _write(store: ArtifactStore, key: str, made: Record) -> bytes:
    try:
        return store.note(key, made.model_dump_json().encode())
    except (Exhausted, Fatal) as error:
        # a full disk must not keep anybody from reading why it is full
        told = (f"what was read could not be written down: {error.what}", error.why, error.next_step)
        return made.model_copy(update={"problems": [*made.problems, told]}).model_dump_json().encode()
