from __future__ import annotations

from collections.abc import Iterator

import pytest
from qdrant_client import QdrantClient

from kernel.errors import Retryable
from memory_service.index.server import ServerIndex
from memory_service.index.server_collection import connect
from tests.integration.memory_service.index_contract import DIMENSIONS, IndexContract


@pytest.fixture
def index() -> Iterator[ServerIndex]:
    opened = ServerIndex(QdrantClient(":memory:"), "mem__test", DIMENSIONS, payload_indexes=False)
    yield opened
    opened.close()


class TestServer(IndexContract):
    """The server adapter, on the client's in-memory mode."""


def test_a_server_that_is_not_there_is_a_reason_to_retry() -> None:
    client = connect("http://127.0.0.1:9", None)
    with pytest.raises(Retryable, match="Qdrant did not answer"):
        ServerIndex(client, "mem__test", DIMENSIONS)
    client.close()
