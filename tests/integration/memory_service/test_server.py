"""The server adapter: on the client's in-memory mode, over HTTP to what a server would refuse, and on a real one."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from qdrant_client import QdrantClient

from kernel.errors import Fatal, Retryable
from kernel.settings import Settings
from memory_service.consistency.engines import engines_of
from memory_service.consistency.space import Space
from memory_service.index.port import INDEXED
from memory_service.index.server import ServerIndex
from memory_service.index.server_collection import ALIAS, UPSERT_MOST, connect, drop, point_alias
from tests.integration.memory_service.index_contract import DIMENSIONS, IndexContract, id_of, point, search
from tests.support.qdrant_stub import Stub, qdrant_stub

#: A real server, where there is one to test on; every test makes collections of its own and drops them.
_URL = os.environ.get("NIGHTDESK_TEST_QDRANT_URL") or os.environ.get("QDRANT_URL")


@pytest.fixture
def index() -> Iterator[ServerIndex]:
    opened = ServerIndex(QdrantClient(":memory:"), "mem__test", DIMENSIONS, payload_indexes=False)
    yield opened
    opened.close()


class TestServer(IndexContract):
    """The server adapter, on the client's in-memory mode."""


if _URL:

    class TestRealServer(IndexContract):
        """The server adapter on a server: strict mode and payload indexes are its own."""

        @pytest.fixture
        def index(self) -> Iterator[ServerIndex]:
            client, name = connect(str(_URL), None), f"mem__test_{uuid.uuid4().hex}"
            opened = ServerIndex(client, name, DIMENSIONS)
            yield opened
            drop(client, name)
            opened.close()

else:

    @pytest.mark.skip(reason="set NIGHTDESK_TEST_QDRANT_URL to run the contract on a real Qdrant server")
    def test_the_contract_on_a_real_server() -> None:
        """Stands for the class above in the summary."""


@pytest.fixture
def stub() -> Iterator[Stub]:
    with qdrant_stub() as made:
        yield made


def opened(stub: Stub, name: str = "mem__one") -> ServerIndex:
    return ServerIndex(connect(stub.url, None), name, DIMENSIONS)


def test_a_server_that_is_not_there_is_a_reason_to_retry() -> None:
    client = connect("http://127.0.0.1:9", None)
    with pytest.raises(Retryable, match="Qdrant did not answer"):
        ServerIndex(client, "mem__test", DIMENSIONS)
    client.close()


def test_a_collection_is_made_with_its_tenant_its_graph_and_strict_mode(stub: Stub) -> None:
    opened(stub).close()
    config = stub.collections["mem__one"].config
    assert config["vectors"] == {"dense": {"size": DIMENSIONS, "distance": "Cosine"}}
    assert config["sparse_vectors"] == {"lex": {"modifier": "idf"}}
    assert config["hnsw_config"] == {"payload_m": 16}
    assert config["strict_mode_config"] == {
        "enabled": True,
        "max_query_limit": 10_000,
        "unindexed_filtering_retrieve": False,
        "unindexed_filtering_update": False,
        "upsert_max_batchsize": UPSERT_MOST,
        "filter_max_conditions": 32,
    }
    indexed = stub.collections["mem__one"].indexed
    assert indexed.pop("ns") == {"type": "keyword", "is_tenant": True}
    assert indexed == INDEXED


def test_opening_again_makes_only_what_a_kill_left_out(stub: Stub) -> None:
    opened(stub).close()
    del stub.collections["mem__one"].indexed["rev"]
    stub.requests.clear()
    opened(stub).close()
    written = [(method, path) for method, path, _ in stub.requests if method != "GET"]
    assert written == [("PUT", "/collections/mem__one/index")]
    assert set(stub.collections["mem__one"].indexed) == {"ns", *INDEXED}


def test_a_collection_of_other_dimensions_is_refused(stub: Stub) -> None:
    opened(stub).close()
    with closing(connect(stub.url, None)) as client, pytest.raises(Fatal, match="256 dimensions, not of 64"):
        ServerIndex(client, "mem__one", 64)


def test_strict_mode_lets_every_request_of_ours_pass(stub: Stub) -> None:
    index = opened(stub)
    index.upsert([point(n, f"memory {n}", rev=1 + n % 2) for n in range(1, 2 * UPSERT_MOST + 400)])
    assert stub.points == 2 * UPSERT_MOST + 399
    for asked in (search("pool"), search("pool", user="ann", kinds=("fact", "episode"), as_of=1.0)):
        index.search(asked)
    index.count()
    index.count("a")
    index.page("", 2000)
    index.page(id_of(7), 2000)
    index.held([id_of(1)])
    index.delete([id_of(1)])
    index.close()


@pytest.mark.parametrize("forgotten", ["audience", "rev", "ns"])
def test_strict_mode_tells_of_a_forgotten_index_at_once(stub: Stub, forgotten: str) -> None:
    index = opened(stub)
    del stub.collections["mem__one"].indexed[forgotten]

    def write_and_ask() -> None:
        index.upsert([point(1, "memory")])
        index.search(search("pool"))

    with pytest.raises(Fatal, match="Qdrant refused a request"):
        write_and_ask()
    index.close()


def test_a_late_write_is_refused_by_the_server_itself(stub: Stub) -> None:
    index = opened(stub)
    index.upsert([point(1, "memory", rev=5)])
    [body] = [
        body
        for method, path, body in stub.requests
        if (method, path) == ("PUT", "/collections/mem__one/points")
    ]
    assert body["update_filter"] == {"must": [{"key": "rev", "range": {"lt": 5.0}}]}
    index.close()


def test_the_alias_is_moved_in_one_request(stub: Stub) -> None:
    for name in ("mem__one", "mem__two"):
        opened(stub, name).close()
    client = connect(stub.url, None)
    point_alias(client, "mem__one")
    assert stub.aliases == {ALIAS: "mem__one"}
    stub.requests.clear()
    point_alias(client, "mem__two")
    assert stub.aliases == {ALIAS: "mem__two"}
    moves: list[Any] = [body["actions"] for _, path, body in stub.requests if path == "/collections/aliases"]
    assert [[next(iter(action)) for action in actions] for actions in moves] == [
        ["delete_alias", "create_alias"]
    ]
    point_alias(client, "mem__two")
    assert len([path for _, path, _ in stub.requests if path == "/collections/aliases"]) == 1
    client.close()


def test_the_engines_of_a_server_open_publish_and_drop_a_space(stub: Stub, tmp_path: Path) -> None:
    engines = engines_of(Settings(data_dir=tmp_path, qdrant_url=stub.url))
    space = Space("hash-1", DIMENSIONS)
    engines.open_index(space).close()
    engines.publish(space)
    assert (set(stub.collections), stub.aliases) == ({"mem__hash-1"}, {ALIAS: "mem__hash-1"})
    engines.drop_index(space)
    assert stub.collections == {}
