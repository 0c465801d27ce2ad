"""The figures of reading large logs as text; pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_COLUMNS = (
    ("MB", "mb", "g"),
    ("processes", "readers", "d"),
    ("MB/s", "mb_per_second", ".1f"),
    ("lines/s", "lines_per_second", ",d"),
    ("s per MB", "seconds_per_mb", ".4f"),
    ("CPU ms per MB", "cpu_ms_per_mb", ".1f"),
    ("peak MB", "peak_mb", ".0f"),
    ("events", "events", ",d"),
    ("templates", "templates", "d"),
    ("needle at", "needle", ",d"),
    ("progress told", "progress", "d"),
    ("load", "load_1m", ".1f"),
)


def render(found: Mapping[str, Any]) -> str:
    """Return the figures as a table."""
    machine = found["machine"]
    head = [title for title, _, _ in _COLUMNS]
    body = [[format(row[name], form) for _, name, form in _COLUMNS] for row in found["rows"]]
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    lines = [
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in [head, *body]
    ]
    return "\n".join(
        [f"{machine['cores']} cores, {machine['system']}, Python {machine['python']}", "", *lines]
    )
