"""Health while Redis or SQL hangs: said in a bounded time, with the reason, and well again after."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from coordinator.health import Health, is_well
from kernel.clock import monotonic
from kernel.control import Control, connect
from kernel.database import Database
from kernel.schema import migrate
from kernel.settings import Settings
from tests.support.redis_server import redis_server

pytestmark = pytest.mark.integration

#: Below the sockets' own time-outs (15 s) and SQLite's patience (15 s), above what a busy machine needs.
BOUND = 12.0


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


@contextmanager
def locked(database: Database) -> Iterator[None]:
    """Hold SQLite's one write lock, as a backup or a stuck process does."""
    connection = sqlite3.connect(database.engine.url.database or "", isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


def status(folder: Path, url: str) -> tuple[dict[str, Any], float]:
    """What `nightdesk status --json` says, and how long it takes."""
    began = monotonic()
    done = subprocess.run(
        [sys.executable, "-P", "-c", "from coordinator.cli import main; main()", "status", "--json"],
        env={**os.environ, "NIGHTDESK_DATA_DIR": str(folder), "NIGHTDESK_REDIS_URL": url},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return json.loads(done.stdout), monotonic() - began


async def test_a_redis_that_hangs_is_said_in_time_and_well_again_after(tmp_path: Path) -> None:
    database = Database(Settings(data_dir=tmp_path).database)
    migrate(database)
    with redis_server(tmp_path / "redis") as server:
        redis = connect(server.url)
        health = Health(Control(redis), database, seconds=0.5)
        try:
            assert is_well(await health.check())
            with stopped(server.pid):
                began = monotonic()
                assert await health.check() == {"redis": "no answer within 0.5 s", "sql": "ok"}
                assert monotonic() - began < BOUND
                found, seconds = await asyncio.to_thread(status, tmp_path, server.url)
                assert found["troubles"] == ["Redis: no answer within 3 s"]
                assert seconds < 2 * BOUND  # with the start of python and the versions of packages
            assert is_well(await health.check())
            found, _ = await asyncio.to_thread(status, tmp_path, server.url)
            assert found["troubles"] == []
        finally:
            await redis.aclose()
            database.close()


async def test_a_locked_database_is_said_once_however_often_it_is_asked(tmp_path: Path) -> None:
    database = Database(Settings(data_dir=tmp_path).database)
    migrate(database)
    with redis_server(tmp_path / "redis") as server:
        redis = connect(server.url)
        health = Health(Control(redis), database, seconds=0.2)
        try:
            with locked(database):
                before = threading.active_count()
                for _ in range(5):
                    assert await health.check() == {"redis": "ok", "sql": "no answer within 0.2 s"}
                assert threading.active_count() <= before + 1  # one question hangs, not five
                found, _ = await asyncio.to_thread(status, tmp_path, server.url)
                assert found["troubles"] == ["SQL: no answer within 3 s"]
            health.seconds = BOUND  # the question that hung gets its answer now
            assert is_well(await health.check())
        finally:
            await redis.aclose()
            database.close()
