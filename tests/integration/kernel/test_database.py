"""The truth on real SQLite: migration, write lock, durability, zones, read-only files."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text
from sqlmodel import SQLModel, select

from kernel.database import Database
from kernel.errors import Fatal
from kernel.records import RunRow
from kernel.schema import migrate, revision


@pytest.fixture
def database(tmp_path: Path) -> Database:
    made = Database(f"sqlite:///{tmp_path / 'a b' / 'x.db'}")
    (tmp_path / "a b").mkdir()
    migrate(made)
    return made


def test_migrating_twice_is_harmless_and_matches_the_rows(database: Database) -> None:
    import kernel.ledgers  # noqa: F401 registers its tables
    import memory_service.tables  # noqa: F401 registers its tables

    assert migrate(database) == revision(database)
    with database.reading() as session:
        # the archive is a virtual table: SQLite keeps it in tables of its own, which no row describes
        options = {
            "compare_type": False,
            "include_name": lambda name, *_: "memory_archive" not in (name or ""),
        }
        context = MigrationContext.configure(session.connection(), opts=options)
        assert compare_metadata(context, SQLModel.metadata) == []


def test_a_newer_database_is_refused(database: Database) -> None:
    with database.writing("test") as session:
        session.connection().execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(Fatal, match="'9999', which this version does not know"):
        migrate(database)


def test_moments_keep_their_zone_and_naive_ones_are_refused(database: Database) -> None:
    shanghai = datetime(2026, 11, 29, 11, 0, tzinfo=timezone(timedelta(hours=8)))
    with database.writing("test") as session:
        session.add(RunRow(id="r", deadline_at=shanghai))
    with database.reading() as session:
        assert session.get_one(RunRow, "r").deadline_at == datetime(2026, 11, 29, 3, 0, tzinfo=UTC)
    naive = datetime(2026, 11, 29)  # noqa: DTZ001 the point
    with pytest.raises(Fatal, match="without a zone"), database.writing("test") as session:
        session.add(RunRow(id="s", deadline_at=naive))  # flushed by the commit


def test_writers_queue_instead_of_failing(database: Database) -> None:
    def add(number: int) -> None:
        for step in range(20):
            with database.writing("test") as session:
                session.exec(select(RunRow)).all()  # read, then write: a deferred transaction would fail here
                session.add(RunRow(id=f"{number}-{step}"))

    threads = [threading.Thread(target=add, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.reading() as session:
        assert len(session.exec(select(RunRow)).all()) == 80


def test_what_is_deleted_is_overwritten(database: Database, tmp_path: Path) -> None:
    word = "hunter2-" * 8
    with database.writing("test") as session:
        session.add(RunRow(id="r", stop_reason=word))
    with database.writing("test") as session:
        session.delete(session.get_one(RunRow, "r"))
    database.close()  # the last connection moves the log into the file
    assert word.encode() not in (tmp_path / "a b" / "x.db").read_bytes()


def test_durable_writes_wait_for_the_disk(database: Database) -> None:
    for durable, level in ((True, 2), (False, 1)):
        with database.writing("test", durable=durable) as session:
            assert session.connection().execute(text("PRAGMA synchronous")).scalar_one() == level


def test_the_clock_is_the_databases(database: Database) -> None:
    with database.reading() as session:
        before = datetime.now(UTC).timestamp()
        told = database.now(session)
        after = datetime.now(UTC).timestamp()
    assert before - 1 <= told <= after + 1  # it may count in whole seconds


def test_a_folder_that_does_not_exist_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Fatal, match="Check the owner, the mode and the free space"):
        migrate(Database(f"sqlite:///{tmp_path / 'missing' / 'x.db'}"))
