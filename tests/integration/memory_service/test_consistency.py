"""SQL and the index stay one, whatever is killed and whoever writes at once."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

import pytest
from sqlalchemy import text as sql
from sqlmodel import col, select

from kernel.errors import Fatal
from memory_service.domain import Status
from memory_service.embed.hash import HashEmbedder
from memory_service.embed.port import Vector
from memory_service.index.port import Point
from memory_service.lexical import document
from memory_service.reading import by_ids
from memory_service.relay import Relay, point_of
from memory_service.state import enqueue
from memory_service.tables import EmbedCacheRow, MemoryOutboxRow, MemoryRow, MemoryStateRow
from tests.integration.memory_service.world import World, world


def active(desk: World) -> dict[str, int]:
    query = select(MemoryRow.id, MemoryStateRow.rev).where(
        col(MemoryRow.pk) == col(MemoryStateRow.pk), MemoryStateRow.status == Status.active.value
    )
    with desk.database.reading() as session:
        return dict(session.exec(query).all())


#: Imports everything once, then forks for each point at which to die.
KILLED_WRITERS = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from tests.integration.memory_service.world import world

def write(point, dies):
    with world(Path(sys.argv[1]), database_url=sys.argv[3] or None) as desk:
        def die(*_):
            os.kill(os.getpid(), signal.SIGKILL)
        ids = [desk.remember(f"{dies} memory {n} of the pool", key=f"{dies}-{n}", kind="episode", relay=False) for n in range(6)]
        desk.store.forget("default", ids[0], at=desk.now, actor="t")
        if point == "before_index":
            desk.index.upsert = die
        elif point == "half_index":
            upsert = desk.index.upsert
            desk.index.upsert = lambda points: (upsert(points[:3]), die())
        elif point == "before_settle":
            desk.relay._settle = die
        elif point == "before_relay":
            die()
        desk.relay.drain()

for number, point in enumerate(sys.argv[4:]):
    pid = os.fork()
    if pid == 0:
        try:
            write(point, number)
        finally:
            sys.stderr.flush()
            os._exit(1)
    ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    assert ended == -signal.SIGKILL, f"{point}: {ended}"
"""


def kill_writers(folder: Path, points: Sequence[str], database_url: str | None) -> None:
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", KILLED_WRITERS, str(folder), str(root), database_url or "", *points],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=root,
    )
    assert done.returncode == 0, done.stderr


def test_kill_9_anywhere_between_commit_and_index_loses_nothing(
    tmp_path: Path, database_url: str | None
) -> None:
    points = ("before_relay", "before_index", "half_index", "before_settle") * (1 if database_url else 2)
    kill_writers(tmp_path, points, database_url)
    with world(tmp_path, database_url=database_url) as desk:
        assert len(active(desk)) == len(points) * 5
        desk.relay.drain()
        assert desk.index.revisions() == active(desk)
        assert desk.drift() == 0


TWO_WRITERS = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from datetime import UTC, datetime
from kernel.database import Database
from memory_service.domain import Candidate
from memory_service.store import Store
store = Store(Database(sys.argv[1]))
candidate = Candidate(
    namespace="default", kind="fact", text="checkout uses a pool of 20", importance=0.7, source_kind="user"
)
for n in range(50):
    store.write(candidate, "store", at=datetime.now(UTC), actor="t")
"""


def test_two_processes_that_add_the_same_fact_leave_one_row(desk: World) -> None:
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", TWO_WRITERS, desk.database.url, str(root)]
    writers = [subprocess.Popen(command, cwd=root, stderr=subprocess.PIPE) for _ in range(2)]
    for writer in writers:
        _, stderr = writer.communicate(timeout=120)
        assert writer.returncode == 0, stderr
    listed = desk.memory.page({})
    assert (listed["total"], listed["memories"][0]["weight"]) == (1, 100)


def test_threads_that_write_in_two_namespaces_read_only_their_own(desk: World) -> None:
    def work(namespace: str) -> None:
        for number in range(15):
            desk.remember(f"{namespace} keeps pool number {number}", namespace=namespace)
            assert all(
                text.startswith(f"{namespace} ") for text in desk.texts("pool number", namespace=namespace)
            )

    failures: list[BaseException] = []

    def guarded(namespace: str) -> None:
        try:
            work(namespace)
        except BaseException as error:  # noqa: BLE001 told to the main thread
            failures.append(error)

    threads = [Thread(target=guarded, args=(name,)) for name in ("red", "blue")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert (desk.index.count("red"), desk.index.count("blue")) == (15, 15)
    assert desk.drift() == 0


def test_a_late_relay_does_not_bring_a_forgotten_memory_back(desk: World) -> None:
    id_ = desk.remember("checkout pool exhausted")
    memory = by_ids(desk.database, [id_])[id_]
    stale: Point = point_of(memory, HashEmbedder().question(memory.text))
    desk.memory.forget({"id": id_})
    desk.index.upsert([stale])  # a worker that slept between reading and writing
    assert desk.recall("checkout pool exhausted") == []
    desk.relay.reconcile()
    desk.relay.drain()
    assert desk.index.count() == 0


def test_what_changes_while_the_relay_embeds_is_looked_at_again(tmp_path: Path) -> None:
    changes: list[str] = []

    class Slow(HashEmbedder):
        def passages(self, texts: list[str]) -> list[Vector]:
            if changes:
                desk.store.forget("default", changes.pop(), at=desk.now, actor="t")
            return super().passages(texts)

    with world(tmp_path, embedder=Slow()) as desk:
        id_ = desk.remember("checkout pool exhausted", relay=False)
        changes.append(id_)
        desk.relay.drain()
        assert desk.index.count() == 0
        assert desk.drift() == 0
        with desk.database.reading() as session:
            assert session.exec(select(MemoryOutboxRow)).all() == []


@pytest.mark.parametrize("lost", ["whole folder", "one point", "strangers"])
def test_a_lost_index_is_rebuilt_from_sql_without_embedding_again(tmp_path: Path, lost: str) -> None:
    embedded: list[str] = []

    class Counting(HashEmbedder):
        def passages(self, texts: list[str]) -> list[Vector]:
            embedded.extend(texts)
            return super().passages(texts)

    with world(tmp_path, embedder=Counting()) as desk:
        ids = [desk.remember(f"memory number {n} of the pool") for n in range(8)]
        if lost == "one point":
            desk.index.delete([ids[3]])
        elif lost == "strangers":
            bare = {"ns": "default", "user": "", "kind": "fact", "rev": 1}
            stranger = "00000000-0000-0000-0000-0000000000aa"
            desk.index.upsert([Point(stranger, HashEmbedder().question("x"), document("x"), bare)])
    if lost == "whole folder":
        shutil.rmtree(tmp_path / "edge")
    embedded.clear()
    with world(tmp_path, embedder=Counting()) as desk:
        assert desk.memory.catch_up().total == {"whole folder": 8, "one point": 1, "strangers": 1}[lost]
        assert desk.index.revisions() == active(desk)
        assert len(desk.texts("memory of the pool", limit=10)) == 8
        assert [text for text in embedded if "memory number" in text] == []


def test_a_deleted_fact_returns_by_no_way(desk: World) -> None:
    """cognee#3526, graphiti#1837, mem0#5578: what was forgotten was still recalled from some copy."""
    text = "the pager number of checkout is 4711"
    id_ = desk.remember(text, key="pager number of checkout")
    vector = desk.index.held([id_])
    assert vector
    desk.memory.forget({"id": id_})
    desk.memory.catch_up()
    desk.doctor.examine(repair=True)
    desk.spaces.rebuild()
    desk.spaces.build()
    desk.serve()
    assert desk.texts("what is the pager number of checkout?") == []
    assert desk.index.held([id_]) == []
    assert desk.memory.page({})["total"] == 0
    with desk.database.reading() as session:
        assert session.exec(select(EmbedCacheRow)).all() == []
        assert session.exec(select(MemoryRow.text)).all() == [""]
        assert session.connection().execute(sql("SELECT count(*) FROM memory_archive")).scalar_one() == 0


def test_an_orphan_vector_does_not_attach_itself_to_a_key_that_is_used_again(desk: World) -> None:
    """langgraph#8757: the vector of a deleted item was found for the new item of the same key."""
    first = desk.remember("the pool of checkout holds two connections", key="checkout pool")
    old = by_ids(desk.database, [first])[first]
    stale = point_of(old, HashEmbedder().question(old.text))
    desk.memory.forget({"id": first})
    second = desk.remember("checkout was moved to the new cluster", key="checkout pool")
    desk.index.upsert([stale])  # left behind by an engine that lost a delete
    assert desk.texts("the pool of checkout holds two connections") == [
        "checkout was moved to the new cluster"
    ]
    assert desk.relay.drain() == 1, "recall saw it, and told the relay"
    assert desk.index.revisions() == active(desk)
    assert list(active(desk)) == [second]


def test_what_another_process_brought_before_our_older_state_is_looked_at_again(desk: World) -> None:
    id_ = desk.remember("the pager of node-7 is red", relay=False)
    other = Relay(desk.database, desk.targets.written)
    [target] = desk.targets.written()
    upsert, raced = target.index.upsert, []

    def late(points: list[Point]) -> None:
        if not raced:
            raced.append(id_)
            desk.store.forget("default", id_, at=desk.now, actor="t")
            other.drain()
        upsert(points)

    target.index.upsert = late  # type: ignore[method-assign]
    desk.relay.drain()
    assert target.index.revisions() == {}, "its vector is nowhere, though ours came last"


def test_a_note_that_comes_late_does_not_hide_what_changed_since(desk: World) -> None:
    desk.remember("the pager of node-7 is red", relay=False)
    with desk.database.writing("test") as session:
        enqueue(session, [(1, 5)], desk.now)
        enqueue(session, [(1, 4)], desk.now)
    with desk.database.reading() as session:
        assert session.exec(select(MemoryOutboxRow.rev)).one() == 5


class _Picky(HashEmbedder):
    """An endpoint that refuses a request for one text in it, as one that is too long; or every request."""

    def __init__(self, refused: str) -> None:
        self.refused = refused

    def passages(self, texts: list[str]) -> list[Vector]:
        if any(self.refused in text for text in texts):
            raise Fatal("the embedding endpoint refused the request", why="it answered 400")
        return super().passages(texts)


def test_a_text_that_the_embedder_refuses_holds_up_no_other(tmp_path: Path) -> None:
    with world(tmp_path, embedder=_Picky("unbearable")) as desk:
        ids = [desk.remember(f"memory {n} of the pool", kind="episode", relay=False) for n in range(20)]
        spoilt = desk.remember("an unbearable text", kind="episode", relay=False)
        ids += [desk.remember(f"later memory {n}", kind="episode", relay=False) for n in range(20)]
        desk.relay.drain()
        assert sorted(desk.index.revisions()) == sorted(ids)
        ids.append(desk.remember("told afterwards"))
        assert ids[-1] in desk.index.revisions()
        with pytest.raises(Fatal, match="refused"):
            desk.relay.drain()  # it alone waits, and that is said again
        desk.store.forget("default", spoilt, at=desk.now, actor="t")
        desk.relay.drain()
        assert sorted(desk.index.revisions()) == sorted(ids)


def test_an_embedder_that_refuses_everything_is_not_asked_for_every_memory(tmp_path: Path) -> None:
    asked: list[int] = []

    class Closed(_Picky):
        def passages(self, texts: list[str]) -> list[Vector]:
            asked.append(len(texts))
            return super().passages(texts)

    with world(tmp_path, embedder=Closed("pool")) as desk:
        for number in range(40):
            desk.remember(f"memory {number} of the pool", kind="episode", relay=False)
        asked.clear()
        with pytest.raises(Fatal, match="refused"):
            desk.relay.drain()
        assert len(asked) < 30


def test_what_is_remembered_while_the_embedder_is_away_is_stored_and_indexed_later(tmp_path: Path) -> None:
    embedder = _Picky("pager")
    with world(tmp_path, embedder=embedder) as desk:
        told = desk.memory.tell(
            {"text": "the pager number is 4711", "key": "pager number", "source_kind": "user"}
        )
        assert told["outcome"] == "insert"
        assert desk.texts("pager number") == ["the pager number is 4711"], (
            "asked by its key it is there at once"
        )
        embedder.refused = "nothing more"
        desk.memory.relay()
        assert desk.index.revisions() == active(desk) != {}
