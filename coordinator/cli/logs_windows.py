"""Which two windows or logs `nightdesk logs compare` is asked to hold against each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.cli.logs_reader import Logs
from coordinator.cli.logs_text import asked_span, asked_time, plain
from kernel.errors import Correctable

_LINE = "line "


def asked_windows(split_at: str, before: str, after: str, baseline: str, *, utc: bool) -> dict[str, str]:
    """Return what a comparison is given, times with their zones; raise before any log is read."""
    if bool(before.strip()) != bool(after.strip()):
        given, other = ("--before", "--after") if before else ("--after", "--before")
        raise Correctable(
            f"nothing to compare {given} with",
            why=f"a window is compared with another one, and there is no {other}",
            next_step=f"Add {other} FROM..TO, or pass --split-at TIME instead of both.",
        )
    if split_at.startswith(_LINE):
        if not split_at[len(_LINE) :].strip().isdecimal():
            raise Correctable(
                f"{plain(split_at)!r} names no line",
                why="a line is named by its number",
                next_step="Write it like --split-at 'line 1302'.",
            )
        return {"split_at": split_at}
    if split_at:
        return {"split_at": asked_time(split_at, utc=utc)}
    if before:
        return {"before": asked_span(before, utc=utc), "after": asked_span(after, utc=utc)}
    return {"baseline": baseline} if baseline else {}


def compared(logs: Logs, asked: Mapping[str, str], *, limit: int) -> dict[str, Any]:
    """Return the comparison that was asked for: without a word on it, that of the two logs given."""
    if not asked:
        return logs.compare_given(limit=limit)
    by_line = asked.get("split_at", "").startswith(_LINE)
    source = logs.sources[0] if by_line and len(logs.sources) == 1 else ""
    return logs.compare(**asked, source=source, limit=limit)
