"""The engines of the memory by its settings: where indexes are, and how an embedder is made again."""

from __future__ import annotations

import shutil
from contextlib import closing
from typing import TYPE_CHECKING, Any

from kernel.settings import Settings
from memory_service.consistency.space import Space
from memory_service.consistency.targets import Engines

if TYPE_CHECKING:
    from memory_service.embed.port import Embedder
    from memory_service.index.port import MemoryIndex

#: Settings that say which model embeds; its key is no part of them and comes from the settings of the day.
_MADE_BY = ("embedder", "embedder_model", "embedder_base_url")


def made_by(settings: Settings) -> dict[str, Any]:
    """Return the settings that the configured embedder can be made by again."""
    return {name: value for name in _MADE_BY if (value := getattr(settings, name)) is not None}


def engines_of(settings: Settings) -> Engines:
    """Return Edge in the data folder, or the Qdrant server that is set."""

    def embedder(by: dict[str, Any]) -> Embedder:
        from memory_service.embed import embedder_of
        from memory_service.embed.guard import Guarded
        from memory_service.embed.port import CachedQuestions

        again = {name: by.get(name) for name in _MADE_BY}
        if again["embedder_base_url"] is None:  # a space of an early version does not tell
            again["embedder_base_url"] = settings.embedder_base_url
        return CachedQuestions(Guarded(embedder_of(settings.model_copy(update=again))))

    if settings.qdrant_url is None:
        return _edge(settings, embedder)
    return _server(settings, settings.qdrant_url, embedder)


def _edge(settings: Settings, embedder: Any) -> Engines:
    folder = settings.data / "memory" / "edge"

    def open_index(space: Space) -> MemoryIndex:
        from memory_service.index.edge import EdgeIndex

        return EdgeIndex(folder / space.id, space.dimensions)

    def drop_index(space: Space) -> None:
        shutil.rmtree(folder / space.id, ignore_errors=True)

    def publish(space: Space) -> None:
        """Do nothing: Edge has no aliases, the pointer in SQL is all there is."""

    return Engines(open_index=open_index, drop_index=drop_index, publish=publish, embedder=embedder)


def _server(settings: Settings, url: str, embedder: Any) -> Engines:
    key = settings.qdrant_api_key.get_secret_value() if settings.qdrant_api_key else None

    def collection(space: Space) -> str:
        return f"mem__{space.id}"

    def open_index(space: Space) -> MemoryIndex:
        from memory_service.index.server import ServerIndex
        from memory_service.index.server_collection import connect

        return ServerIndex(connect(url, key), collection(space), space.dimensions)

    def drop_index(space: Space) -> None:
        from memory_service.index.server_collection import connect, drop

        with closing(connect(url, key)) as client:
            drop(client, collection(space))

    def publish(space: Space) -> None:
        from memory_service.index.server_collection import connect, point_alias

        with closing(connect(url, key)) as client:
            point_alias(client, collection(space))

    return Engines(open_index=open_index, drop_index=drop_index, publish=publish, embedder=embedder)
