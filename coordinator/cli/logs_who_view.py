"""What `nightdesk logs entities` and `follow` print for people; on a narrow screen rows stand below each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coordinator.cli import screen
from coordinator.cli.logs_text import span, when
from coordinator.cli.logs_view import STYLES, cell, listed

#: A pause of a request below this many seconds is not shown: clocks are not finer.
_PAUSE = 0.001


def print_entities(found: Mapping[str, Any], *, asked: bool, utc: bool) -> None:
    """Print who has how many, and whether it is one of them or all."""
    console = screen.out()
    rows = found["entities"]
    if told := found.get("statement"):
        console.print(cell(f"by {found['by']}: {told}", ""))
    titles = [found["by"], "lines", "share", *(["of all"] if asked else []), "first"]
    listed(
        console,
        titles,
        [
            (
                row["entity"],
                f"{row['count']:,}",
                f"{row['share'] * 100:.1f}%",
                *([f"{row['share_of_all'] * 100:.1f}%"] if asked else []),
                f"{_where(row['first'])}  {when(row['first']['time'], utc=utc)}",
            )
            for row in rows
        ],
        right=("lines", "share", "of all"),
    )
    total = found["entities_total"]
    more = f"; {total - len(rows):,} more: raise --limit" if len(rows) < total else ""
    unnamed = found["events"] - found["named"]
    none = f"; {unnamed:,} lines name none" if unnamed > 0 else ""
    screen.remark(f"{len(rows):,} of {total:,} by {found['by']}, {found['events']:,} lines{none}{more}")
    if found.get("note"):
        screen.remark(f"note: {found['note']}")
    if not total and found["events"]:
        screen.remark(f"no line names a {found['by']}: try another --by, or the name of a field")
    elif not asked and found["events"]:
        screen.remark("to see whether it is one or all, say what: --level error, or --pattern")


def print_steps(found: Mapping[str, Any], *, utc: bool) -> None:
    """Print the lines of one id in the order of time, with the pauses between them."""
    console = screen.out()
    files, events = found["files"], found["events"]
    console.print(
        cell(f"{found['id']}  {events:,} {_many(events, 'event')} in {files:,} {_many(files, 'file')}")
    )
    console.print(cell(f"window   {span(found['from_time'], found['to_time'], utc=utc)}"))
    if any(found["services"]):
        console.print(cell(f"services {' → '.join(found['services'])}"))
    if gap := found.get("longest_gap"):
        first, last = gap["between"]
        console.print(cell(f"longest  {_seconds(gap['seconds'])} between {_where(first)} and {_where(last)}"))
    if error := found["first_error"]:
        console.print(cell(f"failed   {_where(error)}  {error['quote']}", style=STYLES["error"]))
    console.print()
    rows = [
        (when(row["time"], utc=utc), _pause(row), row["level"], row["service"], _where(row), row["quote"])
        for row in found["lines"]
    ]
    listed(console, ("time", "after", "level", "service", "where", "line"), rows, right=("after",))
    for number, row in enumerate(found["missing"]):
        if not number:
            console.print(cell("", "Usual with ids that begin like this one, and missing here"))
        console.print(cell(f"  in {row['in']:,} of {row['of']:,}  {row['template']}"))
    left = events - len(found["lines"])
    more = f"; {left:,} more: raise --limit" if left else ""
    screen.remark(f"{len(found['lines']):,} of {events:,} events{more}")
    if found.get("note"):
        screen.remark(f"note: {found['note']}")


def print_ids(found: Mapping[str, Any], *, utc: bool) -> None:
    """Print the ids that have errors, who fails first, and in which order."""
    console = screen.out()
    total, failed = found["ids_total"], found["failed_total"]
    console.print(cell(f"{failed:,} of {total:,} {found['kind']} ids have errors"))
    if found["fails_first"]:
        told = ", ".join(f"{row['service'] or 'no service'} ({row['ids']:,})" for row in found["fails_first"])
        console.print(cell(f"fails first: {told}"))
    for row in found["chains"]:
        if any(row["order"]):
            order = " → ".join(name or "?" for name in row["order"])
            console.print(cell(f"  {row['ids']:,} × {order}, such as {row['example']}"))
    console.print()
    rows = [
        (
            row["id"],
            f"{row['events']:,}",
            f"{row['errors']:,}",
            when(row["first_error"].get("time", ""), utc=utc),
            f"{_where(row['first_error'])}  {row['first_error']['quote']}" if row["first_error"] else "",
        )
        for row in found["failed"]
    ]
    listed(console, ("id", "events", "errors", "failed", "first error"), rows, right=("events", "errors"))
    shown = len(found["failed"])
    more = f", the {shown:,} with the most are shown: raise --limit" if shown < failed else ""
    screen.remark(f"{failed:,} of {total:,} ids have errors{more}; follow one with --id ID")


def _where(spot: Mapping[str, Any]) -> str:
    return f"{spot['source']}:{spot['line']}"


def _pause(row: Mapping[str, Any]) -> str:
    return f"+{_seconds(row['gap_seconds'])}" if row["gap_seconds"] >= _PAUSE else ""


def _seconds(seconds: float) -> str:
    return f"{seconds:,.3f} s" if seconds < 10 else f"{seconds:,.0f} s"  # noqa: PLR2004 - below it parts matter


def _many(count: int, noun: str) -> str:
    return noun if count == 1 else f"{noun}s"
