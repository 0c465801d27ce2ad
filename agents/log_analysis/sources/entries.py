"""Entries of a Loki's answer: its streams put in order of time, each entry as a line of JSON."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from typing import Any

from kernel.errors import Correctable

SECOND = 10**9

_OURS = frozenset({"time", "stream", "log"})

#: (nanoseconds, labels as text, line of the body)
Entry = tuple[int, str, bytes]


def entries_of(streams: Any) -> list[Entry]:
    """Return the entries of an answer, oldest first; those of one instant by stream, each stream in its own order."""
    entries: list[Entry] = []
    try:
        for stream in streams:
            labels = {str(k): str(v) for k, v in sorted(stream["stream"].items())}
            name = json.dumps(labels, ensure_ascii=False)
            short = hashlib.sha256(name.encode(errors="replace")).hexdigest()[:8]
            for value in reversed(stream["values"]):
                at = int(value[0])
                entries.append((at, name, _line(at, labels, str(value[1]), short)))
    except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        raise Correctable(
            "what answered is no Loki",
            why=f"{type(error).__name__} in its answer",
            next_step="Check url in sources.yaml.",
        ) from error
    entries.sort(key=lambda entry: entry[:2])
    return entries


def _line(at: int, labels: dict[str, str], text: str, stream: str) -> bytes:
    """Return the line of the body, in the shape of Docker's json-file: readers know it, and join traces by stream.

    A label named like one of ours gets another name.
    """
    told = {f"label_{key}" if key in _OURS else key: value for key, value in labels.items()}
    row = {"time": stamp(at), **told, "stream": stream, "log": text.removesuffix("\n") + "\n"}
    return json.dumps(row, ensure_ascii=False).encode(errors="replace") + b"\n"


def stamp(at: int) -> str:
    """Return nanoseconds since 1970 as an ISO time."""
    seconds, rest = divmod(at, SECOND)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"
