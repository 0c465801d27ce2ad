"""A scan as if it held the events of one window only: what is judged over it is judged over that window."""

from __future__ import annotations

import weakref
from array import array
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import compress
from typing import Any

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.parsing import Parser
from agents.log_analysis.kinds import kind_of
from agents.log_analysis.scanning.ledger import SAMPLE, Profile
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.summary import Group, summarise
from agents.log_analysis.scanning.table import Columns, Table

#: Templates whose first message of the window is read; more of them with trouble are a log of nothing else.
_READ = 300
#: A line read anew says what its template says if it begins so, numbers apart.
_ALIKE = 6
_DAY = datetime(2000, 1, 1, tzinfo=UTC)


def within(scan: Scan, since: float | None, until: float | None) -> Scan:
    """Return a view of a scan with the events from `since` to `until`; those without a time are left out.

    Lines, names and changes stay those of the whole log; the messages of what tells of trouble are the window's.
    """
    low = float("-inf") if since is None else since
    high = float("inf") if until is None else until
    table = Table(scan.scratch)
    for columns in scan.columns():
        inside = [low <= moment <= high for moment in columns.time]
        if any(inside):
            table.extend(Columns._make(_chosen(column, inside) for column in columns))
    view = scan.over(table)
    weakref.finalize(view, table.close)
    severe = [g for g in summarise(view).groups.values() if _telling(view, g)]
    for group in severe[:_READ]:
        view.profiles[group.template] = _profile(view, group, scan.profiles[group.template])
    return view


def _chosen(column: array[Any], inside: Sequence[bool]) -> array[Any]:
    return array(column.typecode, compress(column, inside))


def _telling(view: Scan, group: Group) -> bool:
    return group.level >= Level.warning or view.profiles[group.template].kind is not None


def _profile(view: Scan, group: Group, known: Profile) -> Profile:
    """Return a template's profile as of its first event in the window, where that line says all of its message."""
    row = group.first
    lines = view.body(row.file).read(row.line, row.line)
    message = Parser(_DAY).parse(lines[0]).message[:SAMPLE] if lines else ""
    if (row.file, row.line) == (known.file, known.line) or message[:_ALIKE] != known.message[:_ALIKE]:
        return known
    if known.root_line or len(message) * 2 < len(known.message):  # the rest of it stands in lines that follow
        return replace(known, root_line=0)
    return Profile(row.file, row.line, message, kind_of(message), known.change)
