"""Lines that fit a query as they are found, whole and one at a time: any number of them in the same memory."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from math import nan
from typing import Any

from agents.log_analysis.asking.searching import Hit, Query, matches
from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.text import cut
from agents.log_analysis.formats.times import iso
from agents.log_analysis.reading import Reading

#: What is kept at most where all must be held before the first is told: one document, or the newest first.
HELD = 50_000
#: Characters of one line: more is no line that a person reads.
_WIDTH = 2000
#: Lines that are read at once where hits lie close together.
_BLOCK = 1024


class Stream:
    """Hits in reading order, or from the end; `total` and `shown` count those met, and all once it is through."""

    def __init__(
        self, reading: Reading, query: Query, *, limit: int = 0, context: int = 0, newest: bool = False
    ) -> None:
        self._reading = reading
        self._query = query
        self._limit = min(limit or HELD, HELD) if newest else limit
        self._context = context
        self._newest = newest
        self._lines = _Lines(reading)
        self.total = self.shown = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield a row per hit; past the limit hits are only counted."""
        if self._newest:
            held: deque[Hit] = deque(maxlen=self._limit)
            for file, line, _, row in matches(self._reading, self._query):
                self.total += 1
                held.append((file, line, row))
            for hit in reversed(held):
                yield self._row(hit, None)
            return
        for file, line, text, row in matches(self._reading, self._query):
            self.total += 1
            if not self._limit or self.shown < self._limit:
                yield self._row((file, line, row), text)

    def _row(self, hit: Hit, text: str | None) -> dict[str, Any]:
        file, line, row = hit
        self.shown += 1
        raw = self._lines.at(file, line) if text is None else text
        told: dict[str, Any] = {
            "source": self._reading.name(file),
            "line": line,
            "quote": cut(self._reading.redactor.text(raw), _WIDTH),
            "time": iso(row.time if row else nan),
            "level": Level(row.level).name if row else "unknown",
        }
        return (
            {**told, "context": around(self._reading, file, line, self._context)} if self._context else told
        )


def around(reading: Reading, file: int, line: int, lines: int) -> list[dict[str, Any]]:
    """Return so many lines on either side of one, and itself, as they may be shown."""
    first = max(1, line - lines)
    texts = reading.scan.body(file).read(first, line + lines)
    shown = (cut(reading.redactor.text(text), _WIDTH) for text in texts)
    return [{"line": number, "quote": text} for number, text in enumerate(shown, first)]


class _Lines:
    """Reads single lines of which the next is near the one before: a block at a time."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._place = (-1, 0)
        self._texts: list[str] = []

    def at(self, file: int, line: int) -> str:
        """Return the text of a line as it stands in the log."""
        start = (line - 1) // _BLOCK * _BLOCK + 1
        if (file, start) != self._place:
            self._texts = self._reading.scan.body(file).read(start, start + _BLOCK - 1)
            self._place = (file, start)
        return self._texts[line - start] if line - start < len(self._texts) else ""
