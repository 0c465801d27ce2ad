"""Collections of a Qdrant server: made complete, named by an alias, dropped; and what its errors mean."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from qdrant_client import QdrantClient, models
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from kernel.errors import Fatal, Retryable
from memory_service.index.port import DENSE_VECTOR, INDEXED, SPARSE_VECTOR

#: Names the served collection for people and other programs; we ourselves go by the pointer in SQL.
ALIAS = "mem_current"
_TIMEOUT_SECONDS = 10
_SERVER_ERRORS = 500
#: Points in one request: 1,000 of 1,024 dimensions are some 20 MB of JSON, under the server's 32.
UPSERT_MOST = 1000
#: Links of the graph within one tenant, so that a search in it needs no other tenant's points.
_PAYLOAD_M = 16
#: A forgotten index or a runaway query is refused by the server instead of read from the disk; a window of the
#: comparison has 2,001 points, the deepest certified search some thousands of candidates, no filter ten conditions.
_STRICT = models.StrictModeConfig(
    enabled=True,
    unindexed_filtering_retrieve=False,
    unindexed_filtering_update=False,
    max_query_limit=10_000,
    filter_max_conditions=32,
    upsert_max_batchsize=UPSERT_MOST,
)


def connect(url: str, api_key: str | None) -> QdrantClient:
    """Return a client; the server is asked on first use."""
    # the check would run in a thread of its own and warn where nobody reads it
    return QdrantClient(url=url, api_key=api_key, timeout=_TIMEOUT_SECONDS, check_compatibility=False)


def ensure(client: QdrantClient, collection: str, dimensions: int, *, payload_indexes: bool) -> None:
    """Make what is missing of a collection: a kill between two requests leaves one without its indexes."""
    with sorted_errors():
        if not client.collection_exists(collection):
            _create(client, collection, dimensions)
        found = client.get_collection(collection)
        vectors = found.config.params.vectors
        size = vectors[DENSE_VECTOR].size if isinstance(vectors, dict) and DENSE_VECTOR in vectors else None
        if size != dimensions:
            raise Fatal(
                f"the collection {collection} holds vectors of {size} dimensions, not of {dimensions}",
                next_step="It is none of ours: rename or delete it, then start the memory worker again.",
            )
        if payload_indexes:
            _index(client, collection, set(found.payload_schema))


def _create(client: QdrantClient, collection: str, dimensions: int) -> None:
    client.create_collection(
        collection,
        vectors_config={DENSE_VECTOR: models.VectorParams(size=dimensions, distance=models.Distance.COSINE)},
        sparse_vectors_config={SPARSE_VECTOR: models.SparseVectorParams(modifier=models.Modifier.IDF)},
        hnsw_config=models.HnswConfigDiff(payload_m=_PAYLOAD_M),
        strict_mode_config=_STRICT,
    )


def _index(client: QdrantClient, collection: str, known: set[str]) -> None:
    """Index what filters name, before anything is loaded; the namespace is the tenant its points lie together by."""
    if "ns" not in known:
        tenant = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
        client.create_payload_index(collection, "ns", tenant)
    for name, kind in INDEXED.items():
        if name not in known:
            client.create_payload_index(collection, name, models.PayloadSchemaType(kind))


def point_alias(client: QdrantClient, collection: str) -> None:
    """Have the alias name this collection: in one request, so that it never names none."""
    make = models.CreateAliasOperation(
        create_alias=models.CreateAlias(collection_name=collection, alias_name=ALIAS)
    )
    with sorted_errors():
        named = {alias.alias_name: alias.collection_name for alias in client.get_aliases().aliases}
        if named.get(ALIAS) == collection:
            return
        drop_old = models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=ALIAS))
        client.update_collection_aliases([drop_old, make] if ALIAS in named else [make])


def drop(client: QdrantClient, collection: str) -> None:
    """Delete a collection; one that is gone is no error."""
    with sorted_errors():
        client.delete_collection(collection)


@contextmanager
def sorted_errors() -> Iterator[None]:
    """Say who must act on the server's errors."""
    try:
        yield
    except ResponseHandlingException as error:
        raise Retryable("Qdrant did not answer", why=str(error)) from error
    except UnexpectedResponse as error:
        if (error.status_code or 0) >= _SERVER_ERRORS:
            raise Retryable("Qdrant is in trouble", why=str(error)) from error
        raise Fatal("Qdrant refused a request", why=str(error)) from error
    except ApiException as error:
        raise Retryable("Qdrant did not answer", why=str(error)) from error
