"""The tools that ask who and when: comparison, change points, entities, and one id through all files."""

from __future__ import annotations

from typing import Any

from agents.log_analysis.asking.checking import check_asked
from agents.log_analysis.asking.comparing import compare_baseline_of, compare_of, compare_sources_of
from agents.log_analysis.asking.entities import entities_of
from agents.log_analysis.asking.following import follow_of
from agents.log_analysis.asking.searching import Query, read_level, read_query
from agents.log_analysis.asking.turning import changes_answer
from agents.log_analysis.asking.windows import split_windows
from agents.log_analysis.reading import open_reading
from agents.runtime.tools import ToolContext, tool

#: Seconds: each tool may be the first to read the log. At 5 MB/s (`make bench-logsize` at load 9) a log of a
#: gigabyte takes some three and a half minutes; what bounds a run is its deadline.
SCAN_SECONDS = 600.0


@tool(timeout=SCAN_SECONDS)
def compare(
    ctx: ToolContext,
    split_at: str = "",
    before: str = "",
    after: str = "",
    source: str = "",
    baseline: str = "",
) -> dict[str, Any]:
    """Compare two windows both ways: which kinds of lines are new, got more, got fewer or vanished, and how surely.

    Rows have `fold` (after by before), `p`, and `q` (p corrected for how many were tested). `services` ranks the
    services by what rose, what vanished and whom others blame, with reasons.

    Args:
        split_at: ISO time (or `line 1302` for logs without times) that parts before from after.
        before: A window `FROM..TO` of ISO times, or a source by name; with `after`.
        after: The other window, or the other source.
        source: One source by name; empty for all.
        baseline: Or let the log choose: auto, recordings (far apart), first_error, deploy, hour (earlier), half.

    Example: compare(split_at="2026-11-29T10:20:00Z")
    """
    check_asked(baseline=baseline)
    reading = open_reading(ctx)
    if before and after and (found := compare_sources_of(reading, before, after)) is not None:
        return found
    file = reading.number(source)
    if baseline:
        return compare_baseline_of(reading, file, baseline)
    windows = split_windows(reading, file, split_at, before, after)
    return compare_of(reading, file, *windows, by_line=split_at.startswith("line "))


@tool(timeout=SCAN_SECONDS)
def changes(ctx: ToolContext, level: str = "", source: str = "") -> dict[str, Any]:
    """Tell when something changed: kinds of lines that began, stopped, rose, fell or burst, restarts and silences.

    Changes that coincide are one group. Each is more than chance and the template's own burstiness explain.
    A silence is a finding: a heartbeat that stopped, a service that says nothing any more.

    Args:
        level: Lowest level of the kinds of lines wanted: warning, error, fatal; empty for all.
        source: One source by name; empty for all.

    Example: changes(level="warning")
    """
    lowest = read_level(level)
    reading = open_reading(ctx)
    return changes_answer(reading, reading.number(source), lowest)


@tool(timeout=SCAN_SECONDS)
def entities(  # noqa: PLR0913, PLR0917 each is what a caller may ask for
    ctx: ToolContext,
    by: str = "auto",
    pattern: str = "",
    level: str = "",
    since: str = "",
    until: str = "",
    source: str = "",
    limit: int = 15,
    cursor: str = "",
    of: str = "",
) -> dict[str, Any]:
    """Count lines per host, service, pod, node, user, IP, HTTP status, trace or field: is it one of them, or all?

    Each row has its count beside its count in all lines; `statement` says "only X", "mostly X" or how many have it,
    where chance does not explain it. Use it for questions such as "which IP most often".

    Args:
        by: auto, host, service, pod, node, user, ip, status, trace, or the name of a field such as tenant.
        pattern: RE2 expression that lines must match; empty for all.
        level: Lowest level to count; empty for all.
        since: ISO time, inclusive; empty for the beginning.
        until: ISO time, inclusive; empty for the end.
        source: One source by name; empty for all.
        limit: Rows of one page, at most 40.
        cursor: What the previous page gave, to go on.
        of: Only lines of one entity, such as service=payments or host=web-1; empty for all.

    Example: entities(by="ip", pattern="Failed password")
    """
    check_asked(by=by, pattern=pattern, level=level, since=since, until=until, cursor=cursor, of=of)
    reading = open_reading(ctx)
    query = read_query(reading, pattern, source, level, since, until)
    return entities_of(reading, by, query, limit=limit, cursor=cursor, of=of)


@tool(timeout=SCAN_SECONDS)
def follow(
    ctx: ToolContext,
    id: str = "",  # noqa: A002 - what a caller would call it
    source: str = "",
    limit: int = 30,
    cursor: str = "",
) -> dict[str, Any]:
    """Follow one trace, request, session, order or block id through all files, in the order of time.

    Tells the services, gaps, the first error, and lines that paths like it usually have and this one lacks.
    Without an id it proposes ids with errors and says which services fail first, and in which order.

    Args:
        id: The id as it stands in the lines; empty for proposals.
        source: One source by name; empty for all.
        limit: Lines of one page, at most 50.
        cursor: What the previous page gave, to go on.

    Example: follow(id="8f3a0c1e9b7d4e52")
    """
    reading = open_reading(ctx)
    return follow_of(reading, id.strip(), Query(file=reading.number(source)), limit=limit, cursor=cursor)
