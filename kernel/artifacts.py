"""The artifact store: content-addressed blobs over fsspec, size-capped, readable from any worker."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import re
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, BinaryIO

import fsspec
from fsspec.implementations.local import LocalFileSystem

from kernel.errors import Exhausted, Fatal

_CHUNK = 1024 * 1024
#: What is attached is raw: on this machine only the desk's own user reads it.
_PRIVATE_FILE = 0o600
_PRIVATE_FOLDER = 0o700
#: What the store itself has put into its folder; others may keep files of their own there.
_NAMES = re.compile(r"(?:notes/)?[0-9a-f]{64}|partial-[0-9a-f]{32}")


def pin_key(run_id: str, path: str, name: str) -> str:
    """Return the key of the note that says what a source of a run came to."""
    return f"{run_id}\n{path}\n{name}"


@dataclass(frozen=True)
class Stored:
    """One file of a store: its name there, its bytes, and when it was last written or put there again."""

    name: str
    size: int
    moment: datetime


class ArtifactStore:
    """Blobs named by the sha256 of their content; ids are hex, so no caller's text becomes a path."""

    def __init__(self, url: str, *, max_bytes: int) -> None:
        self.filesystem, self.root = fsspec.core.url_to_fs(url)
        self.max_bytes = max_bytes

    def put(self, source: BinaryIO | IO[bytes], *, name: str = "content") -> str:
        """Store what `source` yields and return its id; raise Exhausted past the size cap."""
        digest, size = hashlib.sha256(), 0
        partial = f"{self.root}/partial-{uuid.uuid4().hex}"
        try:
            self._prepare(self.root, partial)
            with self.filesystem.open(partial, "wb") as out:
                while chunk := source.read(_CHUNK):
                    size += len(chunk)
                    if size > self.max_bytes:
                        raise Exhausted(
                            f"{name!r} is larger than {self.max_bytes:,} bytes",
                            why="attached files are capped",
                            next_step="Cut the file, or put its folder into NIGHTDESK_LOG_ROOTS.",
                        )
                    digest.update(chunk)
                    out.write(chunk)
            self.filesystem.mv(partial, self._path(digest.hexdigest()))
        except OSError as error:
            raise _storage_error(name, error) from error
        finally:
            if self.filesystem.exists(partial):
                self.filesystem.rm(partial)
        return digest.hexdigest()

    def _prepare(self, folder: str, partial: str) -> None:
        """Make the folder and, on this machine, an empty file that only its owner may ever open.

        A folder that is there already keeps its rights: it may be one that others use too.
        """
        if not isinstance(self.filesystem, LocalFileSystem):
            self.filesystem.makedirs(folder, exist_ok=True)
            return
        for place in (Path(self.root), Path(folder)):
            place.parent.mkdir(parents=True, exist_ok=True)
            place.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
        os.close(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE_FILE))

    def put_bytes(self, content: bytes) -> str:
        """Store bytes and return their id."""
        return self.put(io.BytesIO(content))

    def note(self, key: str, content: bytes) -> bytes:
        """Keep a small record under a key for good, and return it: the first one stands, whoever wrote it."""
        path = self._note(key)
        partial = f"{self.root}/partial-{uuid.uuid4().hex}"
        try:
            self._prepare(os.path.dirname(path), partial)  # noqa: PTH120 may be a bucket
            if isinstance(self.filesystem, LocalFileSystem):
                self.filesystem.pipe_file(partial, content)
                os.link(partial, path)  # whole or not at all, and never over another
            else:
                self.filesystem.pipe_file(path, content, mode="create")
        except FileExistsError:
            return self.noted(key) or content
        except OSError as error:
            raise _storage_error(key, error) from error
        finally:
            if self.filesystem.exists(partial):
                self.filesystem.rm(partial)
        return content

    def noted(self, key: str) -> bytes | None:
        """Return the record under a key, None where there is none."""
        try:
            return bytes(self.filesystem.cat_file(self._note(key)))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise Fatal(
                "what was noted of a run cannot be read",
                why=str(error),
                next_step="Check the artifact store.",
            ) from error

    def _note(self, key: str) -> str:
        return os.path.join(self.root, self.note_name(key))  # noqa: PTH118 may be a bucket

    def stored(self) -> Iterator[Stored]:
        """Yield what the store holds, without what others keep in its folder."""
        for folder in ("", "notes/"):
            with suppress(FileNotFoundError, NotADirectoryError):
                for found in self.filesystem.ls(f"{self.root}/{folder}".rstrip("/"), detail=True):
                    if _NAMES.fullmatch(name := folder + str(found["name"]).rpartition("/")[2]):
                        yield Stored(name, int(found["size"] or 0), _moment(found))

    def remove(self, name: str, before: datetime) -> bool:
        """Remove one file that `stored` named, unless it was put there again since; return whether it went."""
        if not _NAMES.fullmatch(name):
            raise Fatal(f"{name[:20]!r} is no name in an artifact store")
        with suppress(FileNotFoundError):
            if _moment(self.filesystem.info(f"{self.root}/{name}")) < before:
                self.filesystem.rm_file(f"{self.root}/{name}")
                return True
        return False

    def holds(self, name: str) -> bool:
        """Tell whether there is a file of this name."""
        return bool(self.filesystem.exists(f"{self.root}/{name}"))

    def hold(self, name: str) -> None:
        """Have a file count as put here now, where it lies on this machine and is ours."""
        if isinstance(self.filesystem, LocalFileSystem):
            with suppress(OSError):
                os.utime(f"{self.root}/{name}")

    def ledger(self, name: str) -> bytes:
        """Return a small file that is written anew as a whole; empty where there is none."""
        try:
            return bytes(self.filesystem.cat_file(f"{self.root}/{name}"))
        except (FileNotFoundError, NotADirectoryError):
            return b""

    def write_ledger(self, name: str, content: bytes) -> None:
        """Replace such a file, whole or not at all."""
        partial = f"{self.root}/partial-{uuid.uuid4().hex}"
        self._prepare(self.root, partial)
        self.filesystem.pipe_file(partial, content)
        self.filesystem.mv(partial, f"{self.root}/{name}")

    @staticmethod
    def note_name(key: str) -> str:
        """Return the name of the file that holds the note under a key."""
        return f"notes/{hashlib.sha256(key.encode()).hexdigest()}"

    @contextmanager
    def open(self, artifact: str) -> Iterator[Any]:
        """Yield a binary file; raise Fatal where the id is unknown."""
        path = self._path(artifact)
        try:
            with self.filesystem.open(path, "rb") as file:
                yield file
        except FileNotFoundError as error:
            raise Fatal(f"artifact {artifact[:12]!r} does not exist", next_step="Attach it again.") from error

    def local_path(self, artifact: str) -> Path | None:
        """Return a path on this machine, where the store has one."""
        path = Path(self._path(artifact))
        return path if path.exists() else None

    def _path(self, artifact: str) -> str:
        if len(artifact) != 64 or any(c not in "0123456789abcdef" for c in artifact):  # noqa: PLR2004 sha256 in hex
            raise Fatal(f"{artifact[:20]!r} is not an artifact id")
        return os.path.join(self.root, artifact)  # noqa: PTH118 may be a bucket


def _moment(found: dict[str, Any]) -> datetime:
    """Return when a file was last written; a store that does not say keeps it."""
    told = found.get("mtime", found.get("LastModified", found.get("created")))
    if isinstance(told, int | float):
        return datetime.fromtimestamp(told, UTC)
    return told if isinstance(told, datetime) else datetime.max.replace(tzinfo=UTC)


def _storage_error(name: str, error: OSError) -> Exception:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return Exhausted(
            f"{name!r} could not be stored", why="the disk is full", next_step="Free space and send it again."
        )
    return Fatal(f"{name!r} could not be stored", why=str(error), next_step="Check the artifact store.")
