"""Conversations as files: one turn a line, asked in parts that a message may carry."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

#: As much as one message may carry, with room for its frame; UTF-8 bytes and lines. A turn's is at most 4,000 bytes.
_PART_BYTES, _PART_LINES = 40 * 1024, 200
#: Turns sent along on each side, by which the others are found too (memory_service.learning.dialogue.NEIGHBOURS).
AROUND = 2
_FORM = 'Write one turn a line: {"session": "…", "at": "2026-11-02T10:00+08:00", "speaker": "…", "text": "…"}'


@dataclass(frozen=True)
class _Turn:
    """A line of a file, with what is needed to part it from others."""

    line: int
    told: str
    session: str
    speaker: str

    @property
    def size(self) -> int:
        return len(self.told.encode("utf-8", "replace"))


def parts(file: Path, user: str) -> list[dict[str, Any]]:
    """Return the questions by which a conversation is taken in; raise Correctable where it cannot be read."""
    return [part for sitting in _sittings(_turns(file)) for part in _parted(sitting, user)]


def _turns(file: Path) -> Iterator[_Turn]:
    from kernel.errors import Correctable

    try:
        lines = file.read_text(encoding="utf-8").rstrip().split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise Correctable(
            f"{file} cannot be read", why=str(error), next_step="Give a file in UTF-8."
        ) from error
    for number, told in enumerate(lines, 1):
        try:
            line = json.loads(told)
            session, speaker = line["session"], line["speaker"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            why = f"line {number}: {type(error).__name__}: {error}"
            raise Correctable(f"{file} is no conversation", why=why, next_step=f"{_FORM}.") from error
        yield _Turn(number, told, str(session), str(speaker))


def _sittings(turns: Iterator[_Turn]) -> Iterator[list[_Turn]]:
    """Yield the turns of each session; raise Correctable where one goes on after another has begun."""
    from kernel.errors import Correctable

    known: set[str] = set()
    for name, told in groupby(turns, key=lambda turn: turn.session):
        sitting = list(told)
        if name in known:
            raise Correctable(
                f"session {name!r} goes on in line {sitting[0].line}",
                why="another was begun before: what is said next to what is not known",
                next_step="Put the lines of a session together, in the order in which they were said.",
            )
        known.add(name)
        yield sitting


def _parted(sitting: list[_Turn], user: str) -> Iterator[dict[str, Any]]:
    speakers = sorted({turn.speaker for turn in sitting})
    start = 0
    while start < len(sitting):
        end, size = start + 1, sitting[start].size
        while end < len(sitting) and end - start < _PART_LINES and size + sitting[end].size <= _PART_BYTES:
            size += sitting[end].size
            end += 1
        first, last = max(0, start - AROUND), min(len(sitting), end + AROUND)
        yield {
            "lines": [turn.told for turn in sitting[first:last]],
            "first": sitting[first].line,
            "part": {
                "user": user,
                "number": first,
                "before": start - first,
                "after": last - end,
                "speakers": speakers,
            },
        }
        start = end
