"""What `nightdesk logs` prints for people: tables, bars and sparklines; every text of a log is made plain first."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from coordinator.cli import screen
from coordinator.cli.logs_text import plain, span, when

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from coordinator.cli.logs_reader import Hits

#: The lists of a comparison, in the order in which they are told.
CHANGES = ("new", "more", "vanished", "fewer", "rare")
#: Characters of the longest bar of levels, and of a quote below a problem.
_BAR, _QUOTE = 30, 160
_STYLES = {"fatal": "bold red", "error": "red", "warning": "yellow"}


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


def print_overview(found: dict[str, Any], timeline: dict[str, Any], *, utc: bool) -> None:
    """Print the first look."""
    console = screen.out()
    window = found.get("window") or {}
    told = span(window.get("from", ""), window.get("to", ""), utc=utc)
    counts = f"{found['events']:,} events in {found['lines']:,} lines, {found['templates']:,} templates"
    console.print(cell(f"window   {told}", f"         {counts}"))
    console.print(_levels(found.get("levels", {})))
    for name, title in (("all", "all"), ("errors", "errors")):
        if timeline.get(name, "").strip():
            console.print(cell(f"{title:<8} {timeline[name]}"))
    if found.get("onset"):
        begins = "; the log begins in the trouble" if found.get("begins_in_trouble") else ""
        console.print(cell(f"onset    {when(found['onset'], utc=utc)}{begins}"))
    _print_files(console, found.get("files", []))
    _print_problems(console, found, utc=utc)
    _print_lines(console, "Changes (deploys, settings)", found.get("changes", []), utc=utc)
    _print_lines(console, "New since the trouble began", found.get("new", []), utc=utc)
    _print_lines(console, "Rare", found.get("rare", []), utc=utc)
    _print_told(console, "Stack traces", [_trace(row) for row in found.get("traces", [])])
    again = [
        _at(row, f"{row.get('service', '')} {row.get('how', '')}", utc=utc)
        for row in found.get("restarts", [])
    ]
    _print_told(console, "Restarts", again)
    _print_told(console, "Silences", [_silence(row, utc=utc) for row in found.get("silences", [])])
    turns = [_at(row, f"{row['direction']:<6} {row['template']}", utc=utc) for row in found.get("turns", [])]
    _print_told(console, "Change points", turns)


def _print_told(console: Console, title: str, lines: Sequence[str]) -> None:
    if lines:
        console.print(cell("", title, *(f"  {plain(line)}" for line in lines)))


def _trace(row: Mapping[str, Any]) -> str:
    where = f"{row['source']}:{row['line']}"
    least = "≥ " if row.get("at_least") else ""
    return f"{least}{row['count']:,} × {row['exception']}  {row.get('frame', '')}  {where}"


def _at(row: Mapping[str, Any], text: str, *, utc: bool) -> str:
    where = f"  {row['source']}:{row['line']}" if row.get("source") else ""
    return f"{when(row.get('time', ''), utc=utc)}  {text}{where}"


def _silence(row: Mapping[str, Any], *, utc: bool) -> str:
    whose = f"{row.get('of', 'log')} {row.get('name', '')}".strip()
    if "events" in row:
        return f"{row['events']:,} events of the {whose}, from event {row['from']:,} to {row['to']:,}"
    return f"{row.get('told') or row['seconds']} of the {whose}, {span(row['from'], row['to'], utc=utc)}"


def print_notes(notes: Sequence[str]) -> None:
    """Print what was cut, skipped or assumed, aside from the output."""
    for note in notes:
        screen.remark(f"note: {plain(note)}")


def _levels(levels: Mapping[str, int]) -> Any:
    from rich.text import Text

    made, highest = Text("levels   "), max(levels.values(), default=0)
    for number, (name, count) in enumerate(reversed(list(levels.items()))):
        bar = "█" * max(1, round(count * _BAR / highest)) if count else ""
        made.append(
            f"{'' if not number else '         '}{name:<8} {bar} {count:,}\n", style=_STYLES.get(name, "")
        )
    made.rstrip()
    return made


def _print_files(console: Console, files: Sequence[Mapping[str, Any]]) -> None:
    table = table_of("lines", "events", "format", "source", right=("lines", "events"))
    for file in files:
        numbers = [f"{file[n]:,}" if n in file else "" for n in ("lines", "events")]
        table.add_row(*map(cell, (*numbers, file.get("format", ""), file["source"])))
    console.print()
    console.print(table)


def _print_problems(console: Console, found: Mapping[str, Any], *, utc: bool) -> None:
    problems = found.get("problems", [])
    if not problems:
        console.print(
            cell("", "No problem was found: no line of level error, and none that names a failure.")
        )
        return
    console.print(cell("", f"Problems ({len(problems)} of {found.get('problem_count', len(problems))})"))
    for number, problem in enumerate(problems, 1):
        first, last = problem.get("first", {}), problem.get("last", {})
        head = f"{number:>3}. {problem['label']}: {problem['message']}"
        console.print(cell(head, style=_STYLES.get(problem["level"], "")))
        times = when(first.get("time", ""), utc=utc)
        if last.get("time") and last["time"] != first.get("time"):
            times += f" to {when(last['time'], utc=utc)}"
        services = f"  in {', '.join(problem['services'])}" if problem.get("services") else ""
        facts = f"{problem['count']:,} × {problem['level']}, score {problem['score']:.2f}, {times}{services}"
        console.print(cell(f"     {facts}"))
        for spot in (first, problem.get("root")):
            if spot and spot.get("quote"):
                where = f"{spot['source']}:{spot['line']}"
                console.print(cell(f"     {where}  {_cut(spot['quote'])}", style="dim"))


def _cut(quote: str) -> str:
    return quote if len(quote) <= _QUOTE else f"{quote[: _QUOTE - 1]}…"


def _print_lines(console: Console, title: str, rows: Sequence[Mapping[str, Any]], *, utc: bool) -> None:
    if not rows:
        return
    console.print(cell("", title))
    table = table_of("time", "where", "what")
    for row in rows:
        where = f"{row['source']}:{row['line']}" if row.get("source") else str(row["line"])
        text = row.get("quote") or row.get("template", "")
        table.add_row(*map(cell, (when(row.get("time", ""), utc=utc), where, text)))
    console.print(table)


def print_templates(found: dict[str, Any], *, utc: bool) -> None:
    """Print templates as a table."""
    titles = ("count", "share", "level", "first", "last", "over time", "template")
    table = table_of(*titles, right=("count", "share"))
    for row in found["templates"]:
        table.add_row(
            cell(f"{row['count']:,}"),
            cell(f"{row['share'] * 100:.1f}%"),
            cell(row["level"], style=_STYLES.get(row["level"], "")),
            *(cell(when(row[n], utc=utc)) for n in ("first", "last")),
            cell(row["over_time"]),
            cell(row["template"], *map(parameter, row.get("parameters", []))),
        )
    screen.out().print(table)
    shown, total = len(found["templates"]), found["total"]
    more = f"; {total - shown:,} more: raise --limit" if shown < total else ""
    screen.remark(f"{shown:,} of {total:,} templates, {found['events']:,} events{more}")


def parameter(told: Mapping[str, Any]) -> str:
    """Return what is remarkable of one parameter as a line below its template."""
    return f"  {told['name']}: {told['note']}"


def print_comparison(found: dict[str, Any], *, utc: bool) -> None:
    """Print what differs between two windows, both ways."""
    console = screen.out()
    for side in ("before", "after"):
        window = found[side]
        console.print(cell(f"{side:<7} {_window(window, utc=utc)}  {window['events']:,} events"))
    table = table_of("change", "before", "after", "level", "where", "template", right=("before", "after"))
    for name in CHANGES:
        for row in found.get(name, []):
            where = f"{row['source']}:{row['line']}"
            counts = (f"{row['before']:,}", f"{row['after']:,}")
            table.add_row(*map(cell, (name, *counts, row["level"], where, row["template"])))
    console.print()
    console.print(table)
    totals = ", ".join(f"{found.get(f'{n}_total', 0)} {n}" for n in CHANGES)
    screen.remark(f"{totals}, {found.get('unchanged', 0)} unchanged")


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


def print_histogram(found: dict[str, Any], *, utc: bool) -> None:
    """Print counts over time with a bar each."""
    highest = max((row["count"] for row in found["buckets"]), default=0)
    table = table_of("from", "count", "", right=("count",))
    for row in found["buckets"]:
        bar = "█" * max(1, round(row["count"] * _BAR * 2 / highest))
        table.add_row(*map(cell, (when(row["from"], utc=utc), f"{row['count']:,}", bar)))
    screen.out().print(table)
    untimed = f", {found['without_time']:,} without a time" if found.get("without_time") else ""
    screen.remark(f"{found['total']:,} lines in parts of {found['bucket_seconds']:g} s{untimed}")
