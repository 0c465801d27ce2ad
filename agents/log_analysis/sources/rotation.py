"""Names of rotated logs: which live log one belongs to, and its place in the order; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_PACKED = re.compile(r"\.(?:gz|bz2|xz|zst)$", re.IGNORECASE)

#: `20261129`, `2026-11-29`, then a clock (`2026112913`, `2026-11-29T13-45-01.123`) or seconds (`20261129-1764400000`).
_DAY = (
    r"(?P<day>(?:19|20)\d{2}(?P<dash>[-_.]?)(?:0[1-9]|1[0-2])(?P=dash)(?:0[1-9]|[12]\d|3[01])"
    r"(?:-\d{9,11}|[T_.-]?\d{2}(?:[-.]?\d{2}){0,2}(?:\.\d{3})?)?)"
)
_INDEX = r"(?:[.-](?P<index>\d{1,4}))?"
_END = r"(?P<end>\.[A-Za-z]{2,4})"

_SHAPES = (
    re.compile(rf"[._-]{_DAY}{_INDEX}$"),  # app.log-20261129, app.log.2026-11-29.1
    re.compile(rf"[._-]{_DAY}{_INDEX}{_END}$"),  # app-2026-11-29.log, app.2026-11-29.0.log
    re.compile(r"[.-](?P<number>\d{1,3})$"),  # app.log.1
    re.compile(rf"(?<![\d.])\.(?P<number>\d{{1,3}}){_END}$"),  # app.1.log
    re.compile(r"\.(?P<old>old|prev|previous)$"),  # app.log.old
)


@dataclass(frozen=True, order=True)
class Turn:
    """A place in the order of one log's files, the oldest first: dated, numbered, then the live one."""

    live: bool
    older: int
    day: str
    index: int


_LIVE = Turn(live=True, older=0, day="", index=0)


def turn(name: str) -> tuple[str, Turn]:
    """Return the path or name of the live log that a file belongs to, and its turn."""
    bare = _PACKED.sub("", name)
    for shape in _SHAPES:
        found = shape.search(bare)
        if found is None or found.start() == 0 or bare[found.start() - 1] == "/":
            continue
        parts = found.groupdict()
        stem = bare[: found.start()] + (parts.get("end") or "")
        number = 1 if parts.get("old") else int(parts.get("number") or 0)
        day = re.sub(r"\D", "", parts.get("day") or "")
        return stem, Turn(live=False, older=-number, day=day, index=int(parts.get("index") or 0))
    return bare, _LIVE
