"""The tools of the log agent: they only read, each answer is bounded and redacted."""

from __future__ import annotations

from typing import Any

from agents.log_analysis.asking.comparing import Window, compare_of
from agents.log_analysis.asking.histogram import histogram_of
from agents.log_analysis.asking.overview import overview_of
from agents.log_analysis.asking.searching import Query, read_level, read_time, search_of
from agents.log_analysis.formats.text import cut
from agents.log_analysis.reading import Reading, find, fit, open_reading
from agents.log_analysis.scanning.summary import summarise
from agents.runtime.tools import Tool, ToolContext, in_thread, tool
from kernel.errors import Correctable, NightdeskError
from kernel.settings import Settings

#: Seconds: each tool may be the first to read the log. At 2.5 MB/s (220 MB took 88 s beside another run) a log
#: of a gigabyte takes seven minutes; what bounds a run is its deadline.
SCAN_SECONDS = 600.0

_CONTEXT_LINES = 40
_CONTEXT_WIDTH = 400


@tool(timeout=SCAN_SECONDS)
def overview(ctx: ToolContext, source: str = "") -> dict[str, Any]:
    """Look at the logs first: time window, levels, problems ranked by how likely they are the root, changes.

    Call it once at the start. Each problem has a count, its first line to cite and its first and last time.

    Args:
        source: One source by name; empty for all sources of the run.

    Example: overview()
    """
    reading = open_reading(ctx)
    return overview_of(reading, reading.number(source))


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
    reading = open_reading(ctx)
    query = Query(
        pattern=pattern,
        file=reading.number(source),
        level=read_level(level),
        since=read_time(since, "since"),
        until=read_time(until, "until"),
    )
    if cursor and not cursor.isdigit():
        raise Correctable(
            f"{cursor!r} is no cursor", next_step="Pass the cursor of the page before, or nothing."
        )
    return search_of(reading, query, limit=limit, skip=int(cursor or 0), newest=newest_first)


@tool(timeout=SCAN_SECONDS)
def context(ctx: ToolContext, source: str, line: int, before: int = 5, after: int = 10) -> dict[str, Any]:
    """Read the lines round one line, for instance a whole stack trace.

    Args:
        source: The source as cited.
        line: Line number, from 1.
        before: Lines before it, at most 40.
        after: Lines after it, at most 40.

    Example: context(source="app.log", line=120, before=3, after=12)
    """
    reading = open_reading(ctx)
    file = reading.number(source)
    if file is None:
        raise Correctable("context needs a source", next_step="Pass the source of the line, as it was cited.")
    body = reading.scan.body(file)
    if not 1 <= line <= body.lines:
        raise Correctable(f"{source!r} has no line {line}", why=f"it has lines 1 to {body.lines}")
    first = max(1, line - min(max(before, 0), _CONTEXT_LINES))
    texts = body.read(first, line + min(max(after, 0), _CONTEXT_LINES))
    rows = [
        {"line": first + n, "quote": cut(reading.redactor.text(t), _CONTEXT_WIDTH)}
        for n, t in enumerate(texts)
    ]
    return fit({"source": reading.name(file), "asked": line, "lines": rows, "last_line": body.lines}, "lines")


@tool(timeout=SCAN_SECONDS)
def histogram(
    ctx: ToolContext, bucket: str = "auto", level: str = "", pattern: str = "", source: str = ""
) -> dict[str, Any]:
    """Count lines over time, to see when something began, peaked or stopped.

    Args:
        bucket: Width such as 10s, 1m, 1h, or auto.
        level: Lowest level to count; empty for all.
        pattern: RE2 expression that lines must match; empty for all.
        source: One source by name; empty for all.

    Example: histogram(bucket="1m", level="error")
    """
    reading = open_reading(ctx)
    query = Query(pattern=pattern, file=reading.number(source), level=read_level(level))
    return histogram_of(reading, query, bucket)


@tool(timeout=SCAN_SECONDS)
def compare(
    ctx: ToolContext, split_at: str = "", before: str = "", after: str = "", source: str = ""
) -> dict[str, Any]:
    """Compare two windows: which kinds of lines are new, got more, got fewer or vanished, per 1,000 events.

    Args:
        split_at: ISO time (or `line 1302` for logs without times) that parts before from after.
        before: A window `FROM..TO` of ISO times instead; with `after`.
        after: The other window `FROM..TO`.
        source: One source by name; empty for all.

    Example: compare(split_at="2026-11-29T10:20:00Z")
    """
    reading = open_reading(ctx)
    file = reading.number(source)
    windows = _windows(reading, file, split_at, before, after)
    return compare_of(reading, file, *windows, by_line=split_at.startswith("line "))


def _windows(
    reading: Reading, file: int | None, split_at: str, before: str, after: str
) -> tuple[Window, Window]:
    infinite = float("inf")
    if split_at.startswith("line ") and split_at[5:].strip().isdigit():
        line = float(split_at[5:])
        return Window(0.0, line), Window(line, infinite)
    if before and after:
        return _window(before), _window(after)
    moment = read_time(split_at, "split_at")
    if moment is None:
        raise Correctable(
            "nothing to compare", next_step="Pass split_at, or both before and after as FROM..TO."
        )
    summary = summarise(reading.scan, file)
    if summary.start is None or summary.end is None:
        raise Correctable("the log has no times", next_step="Split it at a line: split_at='line 1302'.")
    return Window(summary.start, moment), Window(moment, summary.end + 1e-6)


def _window(text: str) -> Window:
    start, _, end = text.partition("..")
    first, last = read_time(start, "the window's start"), read_time(end, "the window's end")
    if first is None or last is None or first >= last:
        raise Correctable(
            f"{text!r} is no window", next_step="Write FROM..TO with two ISO times, the earlier first."
        )
    return Window(first, last)


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
    return [overview, search, context, histogram, compare]
