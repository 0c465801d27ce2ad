"""Searches lines by pattern, level and time in linear time, page by page."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isnan
from typing import Any

import re2

from agents.log_analysis.asking.sifting import sieve
from agents.log_analysis.formats.levels import Level, from_word
from agents.log_analysis.formats.times import iso
from agents.log_analysis.reading import Reading, fit
from agents.log_analysis.scanning.table import Row
from kernel.errors import Correctable

#: Hits of one page at most; a pattern longer than this is a program, not a question.
PAGE = 50
_PATTERN_LIMIT = 1000
#: Memory of one compiled pattern (re2's budget): big enough for real questions, too small to hurt.
_PATTERN_MEMORY = 16 << 20
#: No log has more hits than this many digits say.
_CURSOR_DIGITS = 12

Hit = tuple[int, int, Row | None]


@dataclass(frozen=True, kw_only=True)
class Query:
    """What to look for; empty parts hold for all lines."""

    pattern: str = ""
    file: int | None = None
    level: Level = Level.unknown
    since: float | None = None
    until: float | None = None
    highest: Level = Level.fatal

    def wants(self, row: Row | None) -> bool:
        """Tell whether an event's level and time fit."""
        if row is None:
            return self.level == Level.unknown and self.since is None and self.until is None
        if not self.level <= row.level <= self.highest:
            return False
        if self.since is None and self.until is None:
            return True
        if isnan(row.time):
            return False
        return (self.since is None or row.time >= self.since) and (
            self.until is None or row.time <= self.until
        )


def read_query(reading: Reading, pattern: str, source: str, level: str, since: str, until: str) -> Query:
    """Return what a tool's arguments ask for; raise Correctable with what is wrong with one of them.

    A level with `=` before it is wanted alone.
    """
    lowest = read_level(level)
    return Query(
        pattern=pattern,
        file=reading.number(source),
        level=lowest,
        highest=lowest if level.startswith("=") else Level.fatal,
        since=read_time(since, "since"),
        until=read_time(until, "until"),
    )


def compile_pattern(pattern: str) -> Any:
    """Return a linear-time pattern that ignores case; raise Correctable with what is wrong with it."""
    if len(pattern) > _PATTERN_LIMIT:
        raise Correctable(
            "the pattern is too long", why=f"{len(pattern)} characters", next_step="Shorten it."
        )
    try:
        return re2.compile(pattern, options=_options())
    except re2.error as error:
        reason = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else str(error)
        raise Correctable(
            f"the pattern {pattern[:80]!r} is not valid",
            why=reason,
            next_step="RE2 syntax: no look-around, no back-references.",
        ) from error


def _options() -> Any:
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = False
    options.max_mem = _PATTERN_MEMORY
    return options


def read_level(level: str) -> Level:
    """Return the level a caller named; an empty one means all."""
    if not level:
        return Level.unknown
    found = from_word(level.removeprefix("="))
    if found is Level.unknown:
        raise Correctable(
            f"{level!r} is no level",
            why="levels are words",
            next_step="Use trace, debug, info, warning, error or fatal.",
        )
    return found


def read_time(text: str, what: str) -> float | None:
    """Return epoch seconds of an ISO time (UTC where it names no zone), or None for an empty text."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise Correctable(
            f"{what} {text!r} is no time", next_step="Use ISO 8601, such as 2026-11-29T10:20:00Z."
        ) from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def hits(reading: Reading, query: Query) -> Iterator[Hit]:
    """Yield file, line and event of each line that fits, in reading order."""
    for file, line, _, row in matches(reading, query):
        yield file, line, row


def matches(reading: Reading, query: Query) -> Iterator[tuple[int, int, str | None, Row | None]]:
    """Yield each hit with its line's text, not yet redacted; with no pattern no text was read, and it is None."""
    if not query.pattern:
        for event in reading.scan.table:
            if query.file in (None, event.file) and query.wants(event):
                yield event.file, event.line, None, event
        return
    pattern = compile_pattern(query.pattern)
    may_match = sieve(query.pattern, pattern, _options())
    rows = _Cursor(iter(reading.scan.table))
    for file in range(len(reading.scan.files)):
        if query.file not in (None, file):
            continue
        for line, text in reading.scan.body(file).texts(may_match):
            if pattern.search(text):
                row = rows.at(file, line)
                if query.wants(row):
                    yield file, line, text, row


class _Cursor:
    """Walks the events beside the lines: the event of a line is the last that began at or before it."""

    def __init__(self, rows: Iterator[Row]) -> None:
        self._rows = rows
        self._now: Row | None = None
        self._next: Row | None = next(rows, None)

    def at(self, file: int, line: int) -> Row | None:
        while self._next is not None and (self._next.file, self._next.line) <= (file, line):
            self._now, self._next = self._next, next(self._rows, None)
        return self._now if self._now is not None and self._now.file == file else None


@dataclass
class Page:
    """One page of hits, with the total and the edges of all hits whatever the page."""

    total: int
    hits: list[Hit]
    edges: list[Hit]


def page_of(reading: Reading, query: Query, *, limit: int, skip: int, newest: bool) -> Page:
    """Return a page; a limit of 0 means all that come after `skip`."""
    found: deque[Hit] = deque(maxlen=limit + skip if newest and limit else None)
    edges: list[Hit] = []
    total = 0
    for hit in hits(reading, query):
        total += 1
        edges[1 if edges else 0 :] = [hit]
        if newest or (skip < total and (not limit or total <= skip + limit)):
            found.append(hit)
    listed = list(found)[::-1][skip:] if newest else list(found)
    return Page(total, listed[:limit] if limit else listed, edges)


def hit_rows(reading: Reading, query: Query, found: Sequence[Hit]) -> list[dict[str, Any]]:
    """Return hits as tools and people see them; a long line is cut round what matched."""
    pattern = compile_pattern(query.pattern) if query.pattern else None
    return [_row(reading, pattern, hit) for hit in found]


def read_cursor(cursor: str) -> int:
    """Return where a page begins; raise Correctable for what no page gave."""
    if cursor and not (cursor.isascii() and cursor.isdigit() and len(cursor) <= _CURSOR_DIGITS):
        raise Correctable(
            f"{cursor[:40]!r} is no cursor", next_step="Pass the cursor of the page before, or nothing."
        )
    return int(cursor or 0)


def search_of(reading: Reading, query: Query, *, limit: int, skip: int, newest: bool) -> dict[str, Any]:
    """Return one page of hits with the total, and the first and last hit whatever the page."""
    page = page_of(reading, query, limit=max(1, min(limit, PAGE)), skip=skip, newest=newest)
    rows = hit_rows(reading, query, page.hits)
    answer: dict[str, Any] = {"total": page.total, "from": skip, "hits": rows}
    if page.edges:
        answer["first"], answer["last"] = hit_rows(reading, query, [page.edges[0], page.edges[-1]])
    fit(answer, "hits")
    shown = skip + len(answer["hits"])
    if shown < page.total:
        answer["cursor"] = str(shown)
    return answer


def _row(reading: Reading, pattern: Any, hit: Hit) -> dict[str, Any]:
    file, line, row = hit
    around = ""
    if pattern is not None and (found := pattern.search(reading.line(file, line) or "")):
        around = found.group()
    elif row is not None:
        around = reading.scan.profiles[reading.scan.miner.final(row.template)].message[:20]
    spot = reading.spot(file, line, around)
    return {
        **spot,
        "time": iso(row.time) if row else "",
        "level": Level(row.level).name if row else "unknown",
    }
