"""Two writers at one moment on PostgreSQL, where a transaction sees what others commit meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from time import monotonic

import pytest
from sqlalchemy import delete, text
from sqlmodel import Session, col, select

from kernel.records import RunRow
from memory_service import audit
from memory_service.consistency.space import VectorCache
from memory_service.embed.port import Vector
from memory_service.forgetting.copies import FORGOTTEN, Copies, _tombstones
from memory_service.state import enqueue
from memory_service.tables import MemoryAuditRow, MemoryOutboxRow
from tests.integration.memory_service.forgetting.test_erasure import SECRET, serve, vectors
from tests.integration.memory_service.world import World, world
from tests.support.postgres_server import Server

_WAITS = text("SELECT count(*) FROM pg_locks WHERE NOT granted")


@pytest.fixture
def shared(tmp_path: Path, postgres_server: Server) -> Iterator[World]:
    with world(tmp_path, database_url=postgres_server.migrated()) as made:
        yield made


def beside(desk: World, pool: ThreadPoolExecutor, do: Callable[[], object]) -> Future[object]:
    """Begin something in another thread; return once it is done, or waits for a lock of ours."""
    began, until = pool.submit(do), monotonic() + 20
    while not began.done() and monotonic() < until:
        with desk.database.reading() as session:
            if session.connection().execute(_WAITS).scalar_one():
                break
    return began


def outbox(desk: World) -> dict[int, int]:
    with desk.database.reading() as session:
        return {row.pk: row.rev for row in session.exec(select(MemoryOutboxRow))}


def test_a_change_stays_on_its_way_where_the_one_before_is_settled_meanwhile(shared: World) -> None:
    shared.remember("search runs on node-7", relay=False)
    (pk,) = outbox(shared)

    def settle() -> None:
        with shared.database.writing("test") as session:
            session.execute(delete(MemoryOutboxRow).where(col(MemoryOutboxRow.rev) <= 1))

    with ThreadPoolExecutor(1) as pool:
        with shared.database.writing("test") as session:
            enqueue(session, [(pk, 2)], shared.now)
            settled = beside(shared, pool, settle)
        settled.result()
    assert outbox(shared) == {pk: 2}


def test_a_look_at_an_older_revision_does_not_hide_a_newer_one(shared: World) -> None:
    shared.remember("search runs on node-7", relay=False)
    (pk,) = outbox(shared)
    with shared.database.writing("test") as session:
        enqueue(session, [(pk, 3)], shared.now)
    shared.store.look_again([(pk, 2)], shared.now)
    assert outbox(shared) == {pk: 3}


def test_a_report_that_is_written_while_copies_are_blanked_is_not_undone(shared: World) -> None:
    id_ = shared.remember(SECRET)
    serve(shared, "run-1", id_)
    shared.memory.forget({"id": id_})

    def write() -> None:
        with shared.database.writing("test") as session:
            run = session.get(RunRow, "run-1", with_for_update=True)
            assert run is not None
            assert run.report is not None
            run.report = run.report | {"answer": "it was the pool"}

    with ThreadPoolExecutor(1) as pool, pytest.MonkeyPatch.context() as patched:
        written: list[Future[object]] = []

        def read_by_now(session: Session, ids: set[str]) -> set[str]:
            written.append(beside(shared, pool, write))
            return _tombstones(session, ids)

        patched.setattr("memory_service.forgetting.copies._tombstones", read_by_now)
        Copies(shared.database).resume(shared.now)
        written[0].result()
    with shared.database.reading() as session:
        run = session.get(RunRow, "run-1")
        assert run is not None
        assert run.report is not None
        assert run.report["answer"] == "it was the pool"
        assert FORGOTTEN in str(run.report)


def test_no_vector_stays_of_what_is_forgotten_while_the_relay_embeds_it(
    shared: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    id_ = shared.remember(SECRET, relay=False)
    forgotten: list[Future[object]] = []
    keep = VectorCache.keep

    def kept_late(cache: VectorCache, session: Session, vectors: dict[str, Vector]) -> None:
        forgotten.append(
            beside(shared, pool, lambda: shared.store.forget("default", id_, at=shared.now, actor="a"))
        )
        keep(cache, session, vectors)

    monkeypatch.setattr(VectorCache, "keep", kept_late)
    with ThreadPoolExecutor(1) as pool:
        shared.relay.drain()
        forgotten[0].result()
    shared.relay.drain()
    assert (vectors(shared), shared.index.count()) == (0, 0)


def test_the_audit_is_whole_while_it_grows(shared: World) -> None:
    shared.remember("search runs on node-7", relay=False)
    hashed: list[int | None] = []
    original = audit._hash

    def while_it_grows(row: MemoryAuditRow) -> str:
        hashed.append(row.seq)
        if len(hashed) == 1:
            shared.remember("search runs on node-8", relay=False)
        return original(row)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("memory_service.audit._hash", while_it_grows)
        found = audit.verify(shared.database, most=100)
    assert (found.broken, found.why, found.checked) == (None, "", 1)
