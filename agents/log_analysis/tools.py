"""The tools of the log agent: they only read, each answer is bounded and redacted."""

from __future__ import annotations

from typing import Any

from agents.log_analysis.asking.checking import check_asked
from agents.log_analysis.asking.histogram import histogram_of
from agents.log_analysis.asking.inquiries import SCAN_SECONDS, changes, compare, entities, follow
from agents.log_analysis.asking.nicknames import NICKNAME_BYTES, with_nicknames
from agents.log_analysis.asking.overview import overview_of
from agents.log_analysis.asking.searching import read_cursor, read_level, read_query, read_time, search_of
from agents.log_analysis.asking.surroundings import context_of
from agents.log_analysis.asking.templates import Choice, templates_of
from agents.log_analysis.reading import ANSWER_BYTES, find, open_reading
from agents.runtime.tools import Tool, ToolContext, in_thread, tool
from kernel.errors import Correctable, NightdeskError
from kernel.settings import Settings

#: What a search that found nothing advises: a pattern with a level and a window that miss each other is no absence.
_NO_LINE = (
    "No line fits all that was asked. Leave out level, since and until, or take a word from a line you saw."
)


@tool(timeout=SCAN_SECONDS)
async def overview(ctx: ToolContext, source: str = "", since: str = "", until: str = "") -> dict[str, Any]:
    """Look at the logs first: time window, levels, problems ranked by how likely they are the root, changes.

    Call it once at the start, and again for a window that was asked about: all is then judged by its lines alone.
    Each problem has a count, its first line to cite and its first and last time; `where` says whether one host, user
    or address shows it, `where_counts` are its numbers. `before` are rare lines just before the trouble began, hints
    and no proof. `warned` are the warnings that came most, only where nothing is wrong.

    Args:
        source: One source by name; empty for all sources of the run.
        since: ISO time, inclusive; empty for the beginning.
        until: ISO time, inclusive; empty for the end.

    Example: overview(since="2026-11-29T10:00:00Z", until="2026-11-29T10:30:00Z")
    """
    return await with_nicknames(ctx, await in_thread(_overview, ctx, source, since, until))


def _overview(ctx: ToolContext, source: str, since: str, until: str) -> dict[str, Any]:
    start, end = read_time(since, "since"), read_time(until, "until")
    reading = open_reading(ctx)
    room = ANSWER_BYTES - NICKNAME_BYTES * ctx.resources.settings.log_nicknames
    return overview_of(reading, reading.number(source), start, end, room)


@tool(timeout=SCAN_SECONDS)
def templates(
    ctx: ToolContext,
    pattern: str = "",
    level: str = "",
    sort: str = "count",
    source: str = "",
    limit: int = 20,
    cursor: str = "",
) -> dict[str, Any]:
    """List the kinds of lines (templates, values as <*>) with counts; read it before you read single lines.

    Each has its count, share of all events, worst level, first and last time, and the first line to cite.

    Args:
        pattern: RE2 expression that the template, or its first line, must match; empty for all.
        level: Lowest level wanted: warning, error, fatal …; empty for all.
        sort: count (most first), rare (fewest first), first (in order of appearance), new (latest to appear first).
        source: One source by name; empty for all.
        limit: Templates of one page, at most 100.
        cursor: What the previous page gave, to go on.

    Example: templates(level="warning", sort="rare", limit=10)
    """
    check_asked(pattern=pattern, level=level, sort=sort, cursor=cursor)
    reading = open_reading(ctx)
    choice = Choice(pattern=pattern, file=reading.number(source), level=read_level(level), sort=sort)
    return templates_of(reading, choice, limit=limit, skip=read_cursor(cursor))


@tool(timeout=SCAN_SECONDS)
def search(
    ctx: ToolContext,
    pattern: str = "",
    source: str = "",
    level: str = "",
    since: str = "",
    until: str = "",
    limit: int = 20,
    cursor: str = "",
    newest_first: bool = False,
) -> dict[str, Any]:
    """Find log lines by regular expression, level or time; returns the total and one page of lines to cite.

    Args:
        pattern: RE2 expression, case ignored, matched against each line; empty for all lines.
        source: One source by name; empty for all.
        level: Lowest level wanted: warning, error, fatal …; empty for all.
        since: ISO time, inclusive; empty for the beginning.
        until: ISO time, inclusive; empty for the end.
        limit: Lines of one page, at most 50.
        cursor: What the previous page gave, to go on.
        newest_first: True to page from the end of the log backwards.

    Example: search(pattern="timeout|refused", level="error", limit=10)
    """
    check_asked(pattern=pattern, level=level, since=since, until=until, cursor=cursor)
    reading = open_reading(ctx)
    query = read_query(reading, pattern, source, level, since, until)
    found = search_of(reading, query, limit=limit, skip=read_cursor(cursor), newest=newest_first)
    return found if found["total"] else {**found, "next_step": _NO_LINE}


@tool(timeout=SCAN_SECONDS)
def context(ctx: ToolContext, source: str, line: int, before: int = 5, after: int = 10) -> dict[str, Any]:
    """Read the lines round one line, for instance a whole stack trace.

    Args:
        source: The source as cited.
        line: Line number, from 1.
        before: Lines before it, at most 40.
        after: Lines after it, at most 40; `earlier` and `later` of the answer say where to go on.

    Example: context(source="app.log", line=120, before=3, after=12)
    """
    reading = open_reading(ctx)
    file = reading.number(source)
    if file is None:
        raise Correctable("context needs a source", next_step="Pass the source of the line, as it was cited.")
    return context_of(reading, file, line, before, after)


@tool(timeout=SCAN_SECONDS)
def histogram(
    ctx: ToolContext,
    bucket: str = "auto",
    level: str = "",
    pattern: str = "",
    source: str = "",
    since: str = "",
    until: str = "",
) -> dict[str, Any]:
    """Count lines over time, to see when something began, peaked or stopped.

    Args:
        bucket: Width such as 10s, 1m, 1h, or auto.
        level: Lowest level to count; empty for all.
        pattern: RE2 expression that lines must match; empty for all.
        source: One source by name; empty for all.
        since: ISO time, inclusive; empty for the beginning.
        until: ISO time, inclusive; empty for the end.

    Example: histogram(bucket="1m", level="error")
    """
    check_asked(bucket=bucket, level=level, pattern=pattern, since=since, until=until)
    reading = open_reading(ctx)
    query = read_query(reading, pattern, source, level, since, until)
    return histogram_of(reading, query, bucket)


async def read_line(ctx: ToolContext, source: str, line: int) -> str | None:
    """Return the redacted text of a cited line, or None where the source or the line does not exist."""

    def read() -> str | None:
        try:
            reading = open_reading(ctx)
        except NightdeskError:
            return None
        file = find(reading.scan, source)
        return None if file is None else reading.line(file, line)

    return await in_thread(read)


def tools(_settings: Settings) -> list[Tool]:
    """Return the agent's tools."""
    return [overview, templates, search, context, histogram, compare, changes, entities, follow]
