from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from kernel.errors import Fatal, Retryable
from memory_service.index.edge import EdgeIndex
from memory_service.index.folder import IndexDamaged
from tests.integration.memory_service.index_contract import (
    DIMENSIONS,
    IndexContract,
    id_of,
    ids,
    point,
    search,
)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[EdgeIndex]:
    opened = EdgeIndex(tmp_path / "space", DIMENSIONS)
    yield opened
    opened.close()


class TestEdge(IndexContract):
    """Edge, the engine on one machine."""


def test_it_keeps_its_points_when_opened_again(tmp_path: Path) -> None:
    first = EdgeIndex(tmp_path / "space", DIMENSIONS)
    first.upsert([point(1, "checkout pool", rev=4)])
    first.close()
    first.close()
    again = EdgeIndex(tmp_path / "space", DIMENSIONS)
    assert again.revisions() == {id_of(1): 4}
    assert ids(again.search(search("checkout")).hits) == [1]
    again.close()


def test_a_second_owner_is_refused_with_what_to_do(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path / "space", DIMENSIONS)
    script = (
        "import sys; from pathlib import Path; from memory_service.index.edge import EdgeIndex\n"
        "from kernel.errors import Fatal\n"
        "try: EdgeIndex(Path(sys.argv[1]), 256)\n"
        "except Fatal as error: print(error); sys.exit(7)\n"
    )
    other = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "space")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert other.returncode == 7, other.stderr
    assert "NIGHTDESK_QDRANT_URL" in other.stdout
    with pytest.raises(Fatal, match="one owner process"):
        EdgeIndex(tmp_path / "space", DIMENSIONS)
    index.close()
    EdgeIndex(tmp_path / "space", DIMENSIONS).close()


def test_threads_may_write_and_read_together(index: EdgeIndex) -> None:
    def work(base: int) -> None:
        for number in range(base, base + 50):
            index.upsert([point(number, f"memory {number} of the pool")])
            index.search(search("pool"))

    threads = [Thread(target=work, args=(1 + 50 * n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert index.count() == 400
    assert len(index.search(search("pool")).hits) == 10


def _damage(folder: Path, name: str) -> None:
    [file] = (folder / "shard").rglob(name)
    file.write_bytes(b"")


@pytest.mark.parametrize("name", ["segment.json", "edge_config.json", "first-index"])
def test_a_folder_that_cannot_be_opened_is_set_aside_and_starts_empty(tmp_path: Path, name: str) -> None:
    first = EdgeIndex(tmp_path / "space", DIMENSIONS)
    first.upsert([point(1, "checkout pool")])
    first.close()
    _damage(tmp_path / "space", name)
    again = EdgeIndex(tmp_path / "space", DIMENSIONS)
    assert (again.count(), again.broken()) == (0, False)
    again.upsert([point(2, "checkout pool")])
    assert ids(again.search(search("checkout")).hits) == [2]
    again.close()
    assert len(list((tmp_path / "space").glob("damaged-*"))) == 1


def test_an_engine_that_ends_its_process_while_it_opens_does_so_three_times_at_most(tmp_path: Path) -> None:
    first = EdgeIndex(tmp_path / "space", DIMENSIONS)
    first.upsert([point(1, "checkout pool")])
    first.close()
    (tmp_path / "space" / "opening").write_bytes(b"xx")
    EdgeIndex(tmp_path / "space", DIMENSIONS).close()
    assert not (tmp_path / "space" / "opening").exists()
    (tmp_path / "space" / "opening").write_bytes(b"xxx")
    again = EdgeIndex(tmp_path / "space", DIMENSIONS)
    assert again.count() == 0
    again.close()


def test_what_turns_out_unreadable_later_is_told_and_starts_anew_when_opened_again(tmp_path: Path) -> None:
    first = EdgeIndex(tmp_path / "space", DIMENSIONS)
    first.upsert([point(n, f"memory {n} of the pool") for n in range(1, 200)])
    first.flush()
    first.close()
    [file] = (tmp_path / "space" / "shard").rglob("payload_storage/page_0.dat")
    file.write_bytes(random.Random(1).randbytes(100_000) + bytes(file.stat().st_size - 100_000))
    damaged = EdgeIndex(tmp_path / "space", DIMENSIONS)
    with pytest.raises(IndexDamaged, match="nightdesk memory rebuild"):
        damaged.revisions()
    assert damaged.broken()
    damaged.close()
    again = EdgeIndex(tmp_path / "space", DIMENSIONS)
    assert (again.count(), again.broken()) == (0, False)
    again.close()


class _Through:
    """A shard of which one thing is otherwise."""

    def __init__(self, shard: Any, **otherwise: Any) -> None:
        self._shard = shard
        self._otherwise = otherwise

    def __getattr__(self, name: str) -> Any:
        return self._otherwise.get(name) or getattr(self._shard, name)


def test_a_point_that_is_deleted_while_it_is_searched_for_is_no_error(index: EdgeIndex) -> None:
    index.upsert([point(1, "checkout"), point(2, "checkout " * 4 + "gateways of the other region")])
    shard = index._shard

    def query(request: Any) -> Any:
        index.delete([id_of(2)])  # gone before the candidates are ranked
        return shard.query(request)

    index._shard = _Through(shard, query=query)
    assert ids(index.search(search("checkout", candidates=2)).hits) == [1]


def test_a_namespace_is_counted_anew_after_each_write(index: EdgeIndex) -> None:
    counted = [index.count("a")]
    index.upsert([point(1, "checkout"), point(2, "gateway"), point(3, "gateway", ns="b")])
    counted += [index.count("a"), index.count("b")]
    index.delete([id_of(2)])
    assert [*counted, index.count("a"), index.count("b")] == [0, 2, 1, 1, 1]


def test_a_reader_that_outlives_the_closing_marks_nothing_as_damaged(tmp_path: Path) -> None:
    index = EdgeIndex(tmp_path / "space", DIMENSIONS)
    index.upsert([point(1, "checkout pool")])
    index.close()
    with pytest.raises(Retryable):
        index.search(search("checkout"))
    again = EdgeIndex(tmp_path / "space", DIMENSIONS)
    assert again.count() == 1
    assert not again.broken()
    again.close()


def test_a_full_disk_is_no_damage(index: EdgeIndex) -> None:
    def full(_: Any) -> None:
        raise Exception("Service runtime error: No space left on device (os error 28)")  # noqa: TRY002 as Edge does

    shard, index._shard = index._shard, _Through(index._shard, update=full)
    with pytest.raises(Retryable, match="no room"):
        index.upsert([point(1, "checkout pool")])
    index._shard = shard
    assert not index.broken()
    index.upsert([point(1, "checkout pool")])
    assert index.count() == 1
