"""The truth: one engine per process, reading and writing sessions, one clock for leases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Engine, TypeDecorator, create_engine, event, text
from sqlalchemy.engine import Connection, Dialect
from sqlalchemy.exc import DBAPIError, IntegrityError, OperationalError, StatementError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlmodel import Session

from kernel.errors import Fatal, Retryable
from kernel.faults import reach

#: Seconds a writer waits for SQLite's single write lock before the call counts as failed.
BUSY_SECONDS = 15

#: Where a connection notes the level that its last writer set; the note lives and dies with the connection.
_LEVEL = "nightdesk_synchronous"

_SQLITE_CLOCK = "SELECT (julianday('now') - 2440587.5) * 86400.0"  # 2440587.5: 1970-01-01
_POSTGRES_CLOCK = "SELECT extract(epoch from clock_timestamp())"


class UtcDateTime(TypeDecorator[datetime]):
    """A moment that keeps its zone in SQLite too; naive moments are refused."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Store UTC."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise Fatal(f"a moment without a zone cannot be stored: {value!r}")
        return value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Return UTC, zone-aware."""
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


class Database:
    """Sessions over one engine. `reading()` sees a snapshot; `writing(name)` holds the write lock and commits."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.is_sqlite = url.startswith("sqlite")
        self.engine = _engine(url)
        self._writer = self.engine.execution_options(nightdesk_write=True)
        self._durable = self.engine.execution_options(nightdesk_write=True, nightdesk_durable=True)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """Yield a session that must not write."""
        with _sorted_errors(), Session(self.engine, expire_on_commit=False) as session:
            yield session

    @contextmanager
    def writing(self, name: str, *, durable: bool = False) -> Iterator[Session]:
        """Yield a session and commit at the end; `durable` waits for the disk (effect ledger).

        `name` says which change this is: the fault points `<name>:before` and `<name>:after` stand around its commit.
        """
        engine = self._durable if durable else self._writer
        with _sorted_errors(), Session(engine, expire_on_commit=False) as session:
            if durable and not self.is_sqlite:  # whatever the server or the role is set to
                session.connection().exec_driver_sql("SET LOCAL synchronous_commit TO on")
            yield session
            reach(f"{name}:before")
            session.commit()
        reach(f"{name}:after")

    def probe(self) -> None:
        """Take the write lock, look at the runs and give it back; raise what keeps everybody from writing now."""
        with _sorted_errors(), Session(self._writer) as session:
            session.connection().execute(text("SELECT id FROM run LIMIT 1")).first()

    def now(self, session: Session) -> float:
        """Return the database's clock in epoch seconds: the one clock that leases use."""
        query = _SQLITE_CLOCK if self.is_sqlite else _POSTGRES_CLOCK
        return float(session.connection().execute(text(query)).scalar_one())

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def _engine(url: str) -> Engine:
    if not url.startswith("sqlite"):
        return create_engine(
            url,
            pool_pre_ping=True,
            pool_size=4,
            max_overflow=8,
            connect_args={"connect_timeout": 5, "options": f"-c statement_timeout={BUSY_SECONDS * 1000}"},
        )
    engine = create_engine(
        url,
        # autocommit mode: we send BEGIN ourselves, so that a writer takes its lock at once
        connect_args={"timeout": BUSY_SECONDS, "check_same_thread": False, "isolation_level": None},
        pool_size=4,
        max_overflow=16,
    )
    event.listen(engine, "connect", _on_connect)
    event.listen(engine, "begin", _on_begin)
    return engine


def _on_connect(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    # secure_delete: what is forgotten must not stay in free pages; most builds of SQLite leave it there
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "secure_delete=ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _on_begin(connection: Connection) -> None:
    options = connection.get_execution_options()
    # FULL survives a power cut; the pragma holds for the connection, so a writer sets its own where it is another
    level = "FULL" if options.get("nightdesk_durable") else "NORMAL"
    if options.get("nightdesk_write"):
        if connection.info.get(_LEVEL) != level:
            connection.exec_driver_sql(f"PRAGMA synchronous={level}")
            connection.info[_LEVEL] = level
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    else:
        connection.exec_driver_sql("BEGIN")


@contextmanager
def _sorted_errors() -> Iterator[None]:
    try:
        yield
    except OperationalError as error:
        reason = str(error.orig)
        if "readonly" in reason or "read-only" in reason or "unable to open" in reason:
            raise Fatal(
                "the database cannot be written",
                why=reason,
                next_step="Check the owner, the mode and the free space of the data folder.",
            ) from error
        raise Retryable("the database did not answer", why=reason) from error
    except IntegrityError as error:
        # somebody wrote the same row at the same moment: whoever tries again finds it there
        raise Retryable("another process wrote the same row", why=str(error.orig)) from error
    except PoolTimeout as error:
        raise Retryable("no database connection was free", why=str(error)) from error
    except DBAPIError as error:
        if "read-only" in str(error.orig):  # a PostgreSQL that fails over
            raise Retryable("the database takes no writes just now", why=str(error.orig)) from error
        if error.connection_invalidated:
            raise Retryable("the database connection was lost", why=str(error.orig)) from error
        raise
    except StatementError as error:
        if isinstance(error.orig, Fatal):  # raised by UtcDateTime while parameters are bound
            raise error.orig from None
        raise
