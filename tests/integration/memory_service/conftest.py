from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.memory_service.world import World, world
from tests.support.postgres_server import Server
from tests.support.ram import ram_folder


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """Yield a folder in memory: to open and to close an Edge index waits ten times for the disk."""
    with ram_folder() as folder:
        yield folder


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str | None:
    """Return what `world` takes: every test that asks for it runs on both databases."""
    if request.param == "sqlite":
        return None
    server: Server = request.getfixturevalue("postgres_server")
    return server.migrated()


@pytest.fixture
def desk(tmp_path: Path, database_url: str | None) -> Iterator[World]:
    with world(tmp_path, database_url=database_url) as made:
        yield made


@pytest.fixture
def desk_on_sqlite(tmp_path: Path) -> Iterator[World]:
    """Yield a memory for what only SQLite has: its query plans."""
    with world(tmp_path) as made:
        yield made
