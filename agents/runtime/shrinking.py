"""Shrinks a tool's result to a room, pure: it stays whole JSON, keeps what its tool put first, and says what went."""

from __future__ import annotations

import json
from typing import Any

#: Texts are cut to so many characters, one after the other, where the ends of lists are not enough.
_TEXTS = (4000, 1000, 300, 120)


def dumped(value: Any) -> str:
    """Return a result as the text that a model reads."""
    return json.dumps(value, ensure_ascii=False, default=str)


def shrunk(value: Any, room: int) -> Any:
    """Return a result in about `room` characters of JSON.

    Tools put first what matters most: the ends of lists go first, those of the last list before those of the one
    before it, then the ends of long texts, then whole lists. What is no object of lists keeps head and tail.
    """
    if len(dumped(value)) <= room:
        return value
    if isinstance(value, list):
        return _one(shrunk({"rows": value}, room))
    if isinstance(value, dict):
        less = _trimmed(dict(value), room, least=1)
        for limit in _TEXTS:
            if len(dumped(less)) > room:
                less = _cut(less, limit)
        less = _trimmed(less, room, least=0)
        if len(dumped(less)) <= room:
            return less
        value = less
    return _ends(value if isinstance(value, str) else dumped(value), room)


def _ends(text: str, room: int) -> str:
    half = room * len(text) // len(dumped(text)) // 2  # less of what is written with a backslash
    return f"{text[:half]} …[{len(text) - 2 * half} characters cut]… {text[len(text) - half :]}"


def _one(value: Any) -> Any:
    return [*value["rows"], {"left_out": value["rows_left_out"]}] if isinstance(value, dict) else value


def _trimmed(value: dict[str, Any], room: int, *, least: int) -> dict[str, Any]:
    """Return the object with lists shortened from the last one on, each with how many of its rows were left out."""
    for name in reversed(list(value)):
        rows = value[name]
        if not isinstance(rows, list) or len(rows) <= least:
            continue
        over = len(dumped(value)) - room
        if over <= 0:
            break
        kept = list(rows)
        while len(kept) > least and over > -len(_LEFT):
            over -= len(dumped(kept.pop())) + 2
        value[name] = kept
        before = value.get(f"{name}_left_out", 0)
        value[f"{name}_left_out"] = len(rows) - len(kept) + (before if isinstance(before, int) else 0)
    return value


_LEFT = ', "a_name_of_a_list_left_out": 100'


def _cut(value: Any, limit: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= limit else f"{value[: limit - 1]}…"
    if isinstance(value, list):
        return [_cut(item, limit) for item in value]
    return {name: _cut(item, limit) for name, item in value.items()} if isinstance(value, dict) else value
