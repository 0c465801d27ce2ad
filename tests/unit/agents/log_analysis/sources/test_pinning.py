from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from agents.log_analysis.sources.pinning import PinnedFile, Pins, Record
from kernel.artifacts import ArtifactStore
from kernel.errors import Retryable


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(f"file://{tmp_path}", max_bytes=1000)


def record(artifact: str) -> Record:
    return Record(files=[PinnedFile(name="gateway", artifact=artifact)])


def test_of_two_workers_that_open_a_source_at_once_both_read_what_the_first_wrote(
    store: ArtifactStore,
) -> None:
    here, there = Pins(), Pins()

    def make() -> Record:
        # while this worker fetches, the other one is done
        assert there.record(store, "run", lambda: record("first")) == record("first")
        return record("second")

    assert here.record(store, "run", make) == record("first")
    assert Pins().known(store, "run") == record("first")


def test_parallel_calls_of_one_worker_fetch_once(store: ArtifactStore) -> None:
    pins, fetched, together = Pins(), [], threading.Barrier(8)

    def make() -> Record:
        fetched.append(1)
        return record("first")

    def call() -> Record:
        together.wait(30)
        return pins.record(store, "run", make)

    with ThreadPoolExecutor(8) as pool:
        found = [future.result() for future in [pool.submit(call) for _ in range(8)]]
    assert found == [record("first")] * 8
    assert len(fetched) == 1


def test_what_failed_or_came_to_nothing_is_tried_again(store: ArtifactStore) -> None:
    pins = Pins()

    def fail() -> Record:
        raise Retryable("Loki is busy")

    with pytest.raises(Retryable):
        pins.record(store, "run", fail)
    assert pins.record(store, "run", Record) == Record()
    assert pins.known(store, "run") is None
    assert pins.record(store, "run", lambda: record("now")) == record("now")


def test_a_record_of_another_version_is_made_anew(store: ArtifactStore) -> None:
    store.note("run", b'{"shape": 99}')
    assert Pins().known(store, "run") is None
    assert Pins().record(store, "run", lambda: record("now")) == record("now")
