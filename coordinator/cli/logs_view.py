"""What `nightdesk logs` prints for people: tables, bars and sparklines; every text of a log is made plain first."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any

from coordinator.cli import screen
from coordinator.cli.logs_text import plain, span, when

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from coordinator.cli.logs_reader import Hits, Logs

#: The lists of a comparison, in the order in which they are told.
CHANGES = ("new", "more", "vanished", "fewer", "rare")
#: Characters of the longest bar of a histogram.
_BAR = 60
#: Empty parts shown before and after those that are only counted.
_EMPTY = 2
#: Below so many columns a table of templates has no room for its times.
_ROOMY = 120
#: Columns that a table must leave to its last one; where it cannot, rows stand below each other.
_ROOM = 60
STYLES = {"fatal": "bold red", "error": "red", "warning": "yellow"}


def table_of(*titles: str, right: Sequence[str] = ()) -> Table:
    """Return an empty table whose last column folds; those of `right` hold numbers."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for title in titles[:-1]:
        made.add_column(title, no_wrap=True, justify="right" if title in right else "left")
    made.add_column(titles[-1], overflow="fold")
    return made


def cell(*lines: object, style: str = "") -> Any:
    """Return a cell of lines that hold a log's text as it is, and nothing that a terminal obeys."""
    from rich.text import Text

    return Text("\n".join(plain(str(line)) for line in lines), style=style)


def listed(
    console: Console, titles: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = ()
) -> None:
    """Print a table, or, where the screen has no room for the last column, that below the others of its row."""
    from rich.cells import cell_len

    if not rows:
        return
    shown = [[plain(part) for part in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(titles, *shown, strict=True)]
    if console.width - sum(widths[:-1]) - len(titles) >= min(_ROOM, widths[-1]):
        table = table_of(*titles, right=right)
        for row in shown:
            table.add_row(*(cell(part, style=STYLES.get(part, "")) for part in row))
        console.print(table)
        return
    console.print(cell("  ".join(titles[:-1]), f"    {titles[-1]}", style="bold"))
    for row in shown:
        style = next((STYLES[part] for part in row if part in STYLES), "")
        console.print(cell("  ".join(part for part in row[:-1] if part), f"    {row[-1]}", style=style))


def print_notes(notes: Sequence[str]) -> None:
    """Print what was cut, skipped or assumed, aside from the output."""
    for note in notes:
        screen.remark(f"note: {plain(note)}")


def print_templates(found: dict[str, Any], *, utc: bool) -> None:
    """Print templates as a table."""
    console = screen.out()
    times = ("first", "last") if console.width >= _ROOMY else ()
    titles = ("count", "share", "level", *times, "over time", "template")
    table = table_of(*titles, right=("count", "share"))
    for row in found["templates"]:
        table.add_row(
            cell(f"{row['count']:,}"),
            cell(f"{row['share'] * 100:.1f}%"),
            cell(row["level"], style=STYLES.get(row["level"], "")),
            *(cell(when(row[n], utc=utc)) for n in times),
            cell(row["over_time"]),
            cell(row["template"], *map(parameter, row.get("parameters", []))),
        )
    console.print(table)
    shown, total = len(found["templates"]), found["total"]
    more = f"; {total - shown:,} more: raise --limit" if shown < total else ""
    kinds, events = "template" if total == 1 else "templates", "event" if found["events"] == 1 else "events"
    screen.remark(f"{shown:,} of {total:,} {kinds}, {found['events']:,} {events}{more}")


def parameter(told: Mapping[str, Any]) -> str:
    """Return what is remarkable of one parameter as a line below its template."""
    return f"  {told['name']}: {told['note']}"


def print_comparison(found: dict[str, Any], *, utc: bool) -> None:
    """Print what differs between two windows, both ways."""
    console = screen.out()
    if found.get("chosen"):
        console.print(cell(f"{found['baseline']}: {found['chosen']}"))
    for side in ("before", "after"):
        window = found[side]
        console.print(cell(f"{side:<7} {_window(window, utc=utc)}  {window['events']:,} events"))
    rows = [_change(name, row) for name in CHANGES for row in found.get(name, [])]
    console.print()
    listed(
        console,
        ("change", "before", "after", "level", "where", "template"),
        rows,
        right=("before", "after"),
    )
    for number, row in enumerate(found.get("services", []), 1):
        head = ("", "Services, the likeliest culprit first") if number == 1 else ()
        console.print(
            cell(*head, f"  {number}. {row['service']} ({row['score']:g}): {'; '.join(row['reasons'])}")
        )
    if found.get("services_note"):
        screen.remark(f"note: {plain(found['services_note'])}")
    print_totals(found)


def print_totals(found: Mapping[str, Any]) -> None:
    """Say how many kinds of lines changed, and how many of them are not shown."""
    totals = ", ".join(f"{found.get(f'{n}_total', 0):,} {n}" for n in CHANGES)
    left = sum(found.get(f"{n}_total", 0) - len(found.get(n, [])) for n in CHANGES)
    more = f"; {left:,} more: raise --limit" if left else ""
    screen.remark(f"{totals}, {found.get('unchanged', 0):,} unchanged; {found['normalised']}{more}")


def _change(name: str, row: Mapping[str, Any]) -> tuple[str, ...]:
    where = f"{row['source']}:{row['line']}"
    return name, f"{row['before']:,}", f"{row['after']:,}", row["level"], where, row["template"]


def _window(window: Mapping[str, Any], *, utc: bool) -> str:
    first, last = window.get("from", ""), window.get("to", "")
    if isinstance(first, str) and isinstance(last, str):
        return span(first, last, utc=utc) if first and last else str(window.get("source", ""))
    return f"lines {first:g} to {last:g}" if last != float("inf") else f"lines {first:g} to the end"


def print_hits(hits: Hits) -> None:
    """Print lines as they are found, as grep does: the hit after `:`, lines round it after `-`."""
    for number, hit in enumerate(hits):
        if not hit.get("context"):
            _print_line(f"{hit['source']}:{hit['line']}:{hit['quote']}")
            continue
        if number:
            _print_line("--")
        for row in hit["context"]:
            mark = ":" if row["line"] == hit["line"] else "-"
            _print_line(f"{hit['source']}{mark}{row['line']}{mark}{row['quote']}")
    sys.stdout.flush()
    more = "; raise --limit for more" if hits.shown < hits.total else ""
    screen.remark(f"{hits.shown:,} of {hits.total:,} lines{more}")


def _print_line(text: str) -> None:
    # a console measures and folds each line: a hundred thousand of them would wait for it
    sys.stdout.write(plain(text) + "\n")


def print_where(logs: Logs, total: int, *, utc: bool) -> None:
    """Say where the log has lines, where none fits what was asked."""
    if total:
        return
    where = span(*logs.window, utc=utc)
    screen.remark(
        f"no line fits; the log runs from {where}"
        if " to " in where
        else "no line fits; the log has no times"
    )


def print_histogram(found: dict[str, Any], *, utc: bool) -> None:
    """Print counts over time with a bar each."""
    highest = max((row["count"] for row in found["buckets"]), default=0)
    if not found["buckets"]:
        screen.remark(f"{found['total']:,} lines with a time")
        return
    table = table_of("from", "count", "", right=("count",))
    for several, rows in groupby(every_bucket(found), key=lambda row: not row["count"]):
        shown = list(rows)
        left = len(shown) - 2 * _EMPTY if several else 0
        for number, row in enumerate(shown):
            if left > 1 and number == _EMPTY:
                table.add_row(cell(f"… {left:,} more"), cell("0"), cell(""))
            if left <= 1 or not _EMPTY <= number < len(shown) - _EMPTY:
                bar = "█" * max(bool(row["count"]), round(row["count"] * _BAR / highest))
                bar += " a part of it: the window begins or ends here" if row.get("partial") else ""
                table.add_row(*map(cell, (when(row["from"], utc=utc), f"{row['count']:,}", bar)))
    screen.out().print(table)
    untimed = f", {found['without_time']:,} without a time" if found.get("without_time") else ""
    screen.remark(f"{found['total']:,} lines in parts of {found['bucket_seconds']:g} s{untimed}")


def every_bucket(found: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the buckets of a histogram with the empty ones, from the first to the last of its window."""
    width = timedelta(seconds=found["bucket_seconds"])
    begin, end = (datetime.fromisoformat(found[n]) for n in ("from", "to"))
    rows = {round((datetime.fromisoformat(r["from"]) - begin) / width): r for r in found["buckets"]}
    for number in range(max([round((end - begin) / width), *rows]) + 1):
        yield rows.get(number) or {"from": (begin + number * width).isoformat(), "count": 0}
