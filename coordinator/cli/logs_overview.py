"""What `nightdesk logs overview` prints for people; what was left out is said where it is missing."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from coordinator.cli import screen
from coordinator.cli.logs_text import plain, span, when
from coordinator.cli.logs_view import STYLES, cell, table_of

if TYPE_CHECKING:
    from rich.console import Console

#: Characters of the longest bar of levels, and of a quote below a problem.
_BAR, _QUOTE = 30, 160
#: Columns that a table must leave to what a line says; where it cannot, its rows stand below each other.
_ROOM = 60


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
    _print_files(console, found)
    _print_problems(console, found, utc=utc)
    _print_lines(console, "Warnings, those that came most", found, "warned", utc=utc)
    _print_lines(console, "Shortly before the trouble, and hardly ever else", found, "before", utc=utc)
    _print_lines(console, "Changes (deploys, settings)", found, "changes", utc=utc)
    _print_lines(console, "New since the trouble began", found, "new", utc=utc)
    _print_lines(console, "Rare", found, "rare", utc=utc)
    for name, title, told_of in _LISTS:
        rows = [told_of(row, utc) for row in found.get(name, [])]
        _print_told(console, title, rows, found.get(f"{name}_left_out", 0))


def _print_told(console: Console, title: str, lines: Sequence[str], left: int) -> None:
    more = [f"… {left:,} more"] if left else []
    if lines or more:
        console.print(cell("", title, *(f"  {plain(line)}" for line in (*lines, *more))))


def _trace(row: Mapping[str, Any], _utc: bool) -> str:
    where = f"{row['source']}:{row['line']}"
    least = "≥ " if row.get("at_least") else ""
    return f"{least}{row['count']:,} × {row['exception']}  {row.get('frame', '')}  {where}"


def _at(row: Mapping[str, Any], text: str, *, utc: bool) -> str:
    where = f"  {row['source']}:{row['line']}" if row.get("source") else ""
    return f"{when(row.get('time', ''), utc=utc)}  {text}{where}"


def _restart(row: Mapping[str, Any], utc: bool) -> str:
    return _at(row, f"{row.get('service', '')} {row.get('how', '')}", utc=utc)


def _turn(row: Mapping[str, Any], utc: bool) -> str:
    return _at(row, f"{row['direction']:<6} {_severe(row)}{row['template']}", utc=utc)


def _severe(row: Mapping[str, Any]) -> str:
    """Return the level of a kind of line where it is a severe one: harmless lines may read the same."""
    return f"{row['level']}: " if row.get("level") in STYLES else ""


def _silence(row: Mapping[str, Any], utc: bool) -> str:
    whose = f"{row.get('of', 'log')} {row.get('name', '')}".strip()
    if "events" in row:
        return f"{row['events']:,} events of the {whose}, from event {row['from']:,} to {row['to']:,}"
    return f"{row.get('told') or row['seconds']} of the {whose}, {span(row['from'], row['to'], utc=utc)}"


def _levels(levels: Mapping[str, int]) -> Any:
    from rich.text import Text

    made, highest = Text("levels   "), max(levels.values(), default=0)
    for number, (name, count) in enumerate(reversed(list(levels.items()))):
        bar = "█" * max(1, round(count * _BAR / highest)) if count else ""
        made.append(
            f"{'' if not number else '         '}{name:<8} {bar} {count:,}\n", style=STYLES.get(name, "")
        )
    made.rstrip()
    return made


def _print_files(console: Console, found: Mapping[str, Any]) -> None:
    table = table_of("lines", "events", "format", "source", right=("lines", "events"))
    for file in found.get("files", []):
        numbers = [f"{file[n]:,}" if n in file else "" for n in ("lines", "events")]
        table.add_row(*map(cell, (*numbers, _format(file), file["source"])))
    console.print()
    console.print(table)
    _print_more(console, found, "files")


def _format(file: Mapping[str, Any]) -> str:
    """Return a format with how sure it is: all lines are of it unless a share is told."""
    if not file.get("format"):
        return ""
    share = file.get("confidence")
    # of 99.6 % it is not said that they are all
    return f"{file['format']}, {'sure' if share is None else f'{math.floor(share * 100)} % of lines'}"


def _print_more(console: Console, found: Mapping[str, Any], name: str) -> None:
    if left := found.get(f"{name}_left_out", 0):
        console.print(cell(f"  … {left:,} more"))


def _print_problems(console: Console, found: Mapping[str, Any], *, utc: bool) -> None:
    problems = found.get("problems", [])
    if not problems:
        console.print(cell("", _nothing(found.get("levels", {}))))
        return
    console.print(cell("", f"Problems ({len(problems)} of {found.get('problem_count', len(problems))})"))
    for number, problem in enumerate(problems, 1):
        first, last = problem.get("first", {}), problem.get("last", {})
        head = f"{number:>3}. {problem['label']}: {problem['message']}"
        console.print(cell(head, style=STYLES.get(problem["level"], "")))
        times = when(first.get("time", ""), utc=utc)
        if last.get("time") and last["time"] != first.get("time"):
            times += f" to {when(last['time'], utc=utc)}"
        services = f"  in {', '.join(problem['services'])}" if problem.get("services") else ""
        facts = f"{problem['count']:,} × {problem['level']}, score {problem['score']:.2f}, {times}{services}"
        console.print(cell(f"     {facts}"))
        if problem.get("where"):
            console.print(cell(f"     from {problem['where']}"))
        for spot in (first, problem.get("root")):
            if spot and spot.get("quote"):
                where = f"{spot['source']}:{spot['line']}"
                console.print(cell(f"     {where}  {_cut(spot['quote'])}", style="dim"))


def _nothing(levels: Mapping[str, int]) -> str:
    """Return that no problem was found, and what was looked for; lines that warn are not called nothing."""
    severe = sum(levels.get(name, 0) for name in ("error", "fatal"))
    warn = levels.get("warning", 0)
    if severe:
        told = f"what the {severe:,} {'line' if severe == 1 else 'lines'} of level error or worse"
        return f"No problem was found: {told} tell is no failure of its own."
    if warn:
        told = "1 line warns" if warn == 1 else f"{warn:,} lines warn"
        return f"No problem was found: no line of level error; {told}, which is too little to call it one."
    return "No problem was found: no line of level error, and none that names a failure."


def _cut(quote: str) -> str:
    return quote if len(quote) <= _QUOTE else f"{quote[: _QUOTE - 1]}…"


def _print_lines(console: Console, title: str, found: Mapping[str, Any], name: str, *, utc: bool) -> None:
    rows = found.get(name, [])
    if not rows and not found.get(f"{name}_left_out"):
        return
    console.print(cell("", title))
    timed = any(row.get("time") for row in rows)
    spots = [_spot(row, utc=utc) if timed else (_where(row),) for row in rows]
    taken = max((sum(map(len, spot)) for spot in spots), default=0)
    table = table_of(*(("time",) if timed else ()), "where", "what")
    for row, spot in zip(rows, spots, strict=True):
        text = row.get("quote") or row.get("template", "")
        text = f"{row['count']:,} × {text}" if "count" in row else text
        if console.width - taken < _ROOM:
            console.print(cell(f"  {'  '.join(spot)}", f"     {text}"))
        else:
            table.add_row(*map(cell, (*spot, text)))
    if table.row_count:
        console.print(table)
    _print_more(console, found, name)


def _spot(row: Mapping[str, Any], *, utc: bool) -> tuple[str, str]:
    return when(row.get("time", ""), utc=utc), _where(row)


def _where(row: Mapping[str, Any]) -> str:
    return f"{row['source']}:{row['line']}" if row.get("source") else str(row["line"])


_LISTS: tuple[tuple[str, str, Callable[[Mapping[str, Any], bool], str]], ...] = (
    ("traces", "Stack traces", _trace),
    ("restarts", "Restarts", _restart),
    ("silences", "Silences", _silence),
    ("turns", "Change points", _turn),
)
