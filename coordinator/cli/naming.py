"""Sources by name: which words after `--log` are no paths but names that a live worker, or the desk's file, knows."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from kernel.errors import Retryable
from kernel.source_queues import is_source_name

if TYPE_CHECKING:
    from kernel.settings import Settings

_FILE = "sources.yaml"


def part_names(settings: Settings, given: list[str]) -> tuple[list[str], list[str]]:
    """Return what names a source, once each, and all else, which is a path: a file of that name comes first."""
    words = [text for text in given if is_source_name(text) and not _exists(text)]
    known = {*_configured(settings), *_live(settings)} if words else set()
    names = [word for word in dict.fromkeys(words) if word in known]
    return names, [text for text in given if text not in names]


def _exists(text: str) -> bool:
    path = Path(text)
    return path.exists() or path.is_symlink()


def _configured(settings: Settings) -> list[str]:
    """Return the names in the desk's file as it is here; a worker that is to read it says what is wrong with it."""
    path = settings.log_sources or settings.ops_dir / _FILE
    try:
        content: Any = yaml.safe_load(path.expanduser().read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return []
    sources = content.get("sources") if isinstance(content, dict) else None
    return [str(name) for name in sources] if isinstance(sources, dict) else []


def _live(settings: Settings) -> list[str]:
    """Return the names on the cards of live workers; none where Redis is away: the sending says so."""
    from kernel.cards import Cards
    from kernel.control import connect

    async def ask() -> list[str]:
        redis = connect(settings.redis_url)
        try:
            return [name for card in await Cards(redis).live() for name in card.sources]
        finally:
            await redis.aclose()

    try:
        return asyncio.run(ask())
    except Retryable:
        return []
