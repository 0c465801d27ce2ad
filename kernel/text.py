"""Text that every store and every encoder can hold."""

from __future__ import annotations

import re
from typing import Any

#: Nothing of ours nests this deep; deeper values are cut, and then refused by their type.
_MAX_DEPTH = 40
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(value: Any, depth: int = 0) -> Any:
    """Return the value with U+FFFD for what JSON can carry and no database can store: lone surrogates and NUL."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value)
    if depth > _MAX_DEPTH:
        return "…"
    if isinstance(value, dict):
        return {storable(key, depth + 1): storable(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [storable(item, depth + 1) for item in value]
    return value
