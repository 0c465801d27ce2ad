"""A real PostgreSQL for tests: own folder, free loopback port, stopped at the end; `postgres_url` names a new database."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.redis_server import free_port

_SECONDS = 60


@pytest.fixture
def postgres_url() -> Iterator[str]:
    """Yield the address of a fresh server, or skip where PostgreSQL is not installed."""
    if not (initdb := _find("initdb")) or not (pg_ctl := _find("pg_ctl")):
        pytest.skip("PostgreSQL is not installed: its initdb and pg_ctl were not found")
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="nightdesk-pg-") as folder:
        _own(folder)
        data = f"{folder}/data"
        _run(initdb, "-D", data, "-U", "postgres", "-A", "trust", "--no-sync", cwd=folder)
        options = f"-p {port} -k {folder} -h 127.0.0.1 -F"
        _run(pg_ctl, "-D", data, "-o", options, "-l", f"{folder}/log", "-w", "start", cwd=folder)
        try:
            yield f"postgresql+psycopg://postgres@127.0.0.1:{port}/postgres"
        finally:
            _run(pg_ctl, "-D", data, "-m", "immediate", "-w", "stop", cwd=folder)


def _find(name: str) -> str | None:
    packaged = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(packaged[-1]) if packaged else None)


def _own(folder: str) -> None:
    if os.geteuid() == 0:  # it refuses to run as root
        os.chown(folder, pwd.getpwnam("nobody").pw_uid, -1)


def _run(*argv: str, cwd: str) -> None:
    user = "nobody" if os.geteuid() == 0 else None
    subprocess.run(argv, check=True, cwd=cwd, user=user, stdout=subprocess.DEVNULL, timeout=_SECONDS)
