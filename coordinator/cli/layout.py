"""Where things lie in a desk's data folder, and the addresses a running desk leaves there."""

from __future__ import annotations

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from kernel.errors import Fatal, Refused
from kernel.settings import DeskAddresses

#: A unix socket's path may have 107 bytes on Linux and 103 on macOS; supervisor adds a pid of up to 8 to it.
_SOCKET_PATH_BYTES = 94
_PRIVATE_FOLDER = 0o700
_PRIVATE_FILE = 0o600


@dataclass(frozen=True)
class Layout:
    """The files of one desk."""

    data: Path

    @property
    def logs(self) -> Path:
        """Return the folder of the processes' logs."""
        return self.data / "logs"

    @property
    def redis(self) -> Path:
        """Return the folder of the embedded Redis."""
        return self.data / "redis"

    @property
    def redis_conf(self) -> Path:
        """Return the generated configuration of the embedded Redis."""
        return self.redis / "redis.conf"

    @property
    def supervisor_conf(self) -> Path:
        """Return the generated configuration of supervisor."""
        return self.data / "supervisord.conf"

    @property
    def addresses(self) -> Path:
        """Return the file by which other commands find the desk."""
        return self.data / "desk.json"

    @property
    def flower_password(self) -> Path:
        """Return the file that holds Flower's password."""
        return self.data / "flower.password"

    @property
    def marks(self) -> Path:
        """Return the folder that remembers, per run, the last event that was shown."""
        return self.data / "watched"

    @property
    def socket(self) -> Path:
        """Return the path of supervisor's socket, in a short folder where the data folder's path is long."""
        here = self.data / "supervisor.sock"
        if len(os.fsencode(here)) <= _SOCKET_PATH_BYTES:
            return here
        name = hashlib.sha256(os.fsencode(self.data)).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"nightdesk-{os.getuid()}-{name}" / "s.sock"

    def make(self) -> None:
        """Make the folders; raise Fatal where the data folder cannot be written."""
        try:
            for folder in (self.data, self.logs, self.redis, self.marks):
                folder.mkdir(parents=True, exist_ok=True)
            self.data.chmod(_PRIVATE_FOLDER)
            probe = self.data / ".writable"
            probe.touch()
            probe.unlink()
        except OSError as error:
            raise Fatal(
                f"the data folder {str(self.data)!r} cannot be written",
                why=error.strerror or str(error),
                next_step="Choose another with --data-dir or NIGHTDESK_DATA_DIR, or mend its owner and mode.",
            ) from error
        self._make_socket_folder()

    def _make_socket_folder(self) -> None:
        folder = self.socket.parent
        if folder == self.data:
            return
        folder.mkdir(mode=_PRIVATE_FOLDER, exist_ok=True)
        facts = folder.lstat()
        # a folder of that name in a shared /tmp may be somebody else's trap
        if facts.st_uid != os.getuid() or facts.st_mode & 0o077 or folder.is_symlink():
            raise Fatal(
                f"{str(folder)!r} cannot hold supervisor's socket",
                why="it is not a private folder of yours",
                next_step="Remove it, or use a data folder with a shorter path.",
            )


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner reads, all of it or nothing."""
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE_FILE)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    partial.replace(path)


def read_addresses(layout: Layout) -> DeskAddresses | None:
    """Return the addresses of the desk, or None where none was started here."""
    try:
        return DeskAddresses.model_validate_json(layout.addresses.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        raise Fatal(
            f"{str(layout.addresses)!r} cannot be read",
            why=str(error),
            next_step="Run `nightdesk down`, then `nightdesk up`.",
        ) from error


@contextmanager
def held(layout: Layout) -> Iterator[None]:
    """Hold the desk's lock while its processes are changed; raise Refused where another command has it."""
    with (layout.data / "desk.lock").open("a", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise Refused(
                f"the desk in {str(layout.data)!r} is being started or stopped",
                why="another nightdesk command holds its lock",
                next_step="Wait for that command, then run `nightdesk status`.",
            ) from error
        try:
            yield
        finally:
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_UN)
