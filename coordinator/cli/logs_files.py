"""What `nightdesk logs` writes for programs: CSV by RFC 4180 in UTF-8, and a small plot as SVG."""

from __future__ import annotations

import csv
import io
import re
import secrets
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from coordinator.cli.logs_text import plain, when
from kernel.errors import Correctable, Refused

_WIDTH, _HEIGHT, _LEFT, _TOP, _BOTTOM = 900, 260, 60, 30, 40
_COLOURS = {"fatal": "#7f1d1d", "error": "#dc2626", "warning": "#f59e0b", "info": "#3b82f6"}
_OTHER = "#94a3b8"
#: Marks of changes beyond this hide the plot.
_MARKS = 12
_ENDING = ".svg"
#: What begins a formula in spreadsheets, except where it is a number alone.
_FORMULA = ("=", "+", "-", "@")
_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?")
#: So much of a file shows whether it is a drawing.
_HEAD = 64


def write_csv(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table to standard output as it comes, CRLF after each row."""
    out = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="", write_through=False)
    try:
        writer = csv.writer(out)
        writer.writerow(titles)
        for row in rows:
            writer.writerow([_cell(value) if isinstance(value, str) else value for value in row])
        out.flush()
    finally:
        out.detach()  # standard output is not ours to close


def _cell(text: str) -> str:
    """Return text that no spreadsheet computes: what a log says would be its formula."""
    return f"'{plain(text)}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else plain(text)


def template_lines(lines: Iterable[tuple[str, str]]) -> Iterator[Sequence[object]]:
    """Yield a row per physical line, as the public scorers read them."""
    for number, (event, template) in enumerate(lines, 1):
        yield number, event, template


def rows_of(rows: Iterable[Mapping[str, Any]], *names: str) -> Iterator[Sequence[object]]:
    """Yield the named fields of each row."""
    for row in rows:
        yield [row.get(name, "") for name in names]


def check_plot(path: Path, files: Sequence[str]) -> None:
    """Refuse a place for a plot where something would be lost: a log that is read, or a file that is no plot."""
    told = repr(plain(str(path)))
    if path.suffix.lower() != _ENDING:
        raise Correctable(
            f"{told} does not end in {_ENDING}",
            why="a plot is written as SVG",
            next_step=f"Name a new file, such as {plain(path.stem or 'levels')}{_ENDING}.",
        )
    try:
        if any(path.exists() and Path(f).exists() and path.samefile(f) for f in files):
            raise Refused(
                f"{told} is one of the logs", why="the plot would replace it", next_step="Name another file."
            )
        if path.exists() and not _is_drawing(path):
            raise Refused(
                f"{told} exists and is no SVG",
                why="the plot would replace what is in it",
                next_step="Name a new file, or remove this one first.",
            )
    except OSError as error:
        raise _unwritable(path, error) from error


def _is_drawing(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(_HEAD).lstrip().startswith((b"<svg", b"<?xml"))


def write_plot(
    path: Path, timeline: Mapping[str, Any], marks: Sequence[Mapping[str, Any]], *, utc: bool
) -> None:
    """Write levels over time as stacked bars, with a line at each change; what a log says is escaped.

    What stood there before stays until all is written.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        try:
            with beside.open("x", encoding="utf-8") as file:
                file.write(plot(timeline, marks, utc=utc))
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> Refused:
    return Refused(
        f"{plain(str(path))!r} cannot be written",
        why=error.strerror or str(error),
        next_step="Name a file in a folder that you may write to.",
    )


def plot(timeline: Mapping[str, Any], marks: Sequence[Mapping[str, Any]], *, utc: bool) -> str:
    """Return the plot as SVG text."""
    levels = timeline["levels"]
    order = sorted(levels, key=lambda name: list(_COLOURS).index(name) if name in _COLOURS else len(_COLOURS))
    totals = [sum(column) for column in zip(*levels.values(), strict=True)]
    highest, parts = max(totals, default=0) or 1, len(totals) or 1
    bar, room = (_WIDTH - _LEFT - 10) / parts, _HEIGHT - _TOP - _BOTTOM
    shapes: list[str] = []
    for place in range(len(totals)):
        foot = float(_HEIGHT - _BOTTOM)
        for name in order:
            height = levels[name][place] * room / highest
            if height:
                foot -= height
                shapes.append(
                    _box(_LEFT + place * bar, foot, max(bar - 1, 0.5), height, name, levels[name][place])
                )
    shapes += [_mark(timeline, mark, utc=utc) for mark in marks[:_MARKS]]
    shapes += _legend(order, {name: sum(levels[name]) for name in order})
    axis = [
        _text(_LEFT - 6, _TOP + 8, f"{highest:,}", "end"),
        _text(_LEFT - 6, _HEIGHT - _BOTTOM, "0", "end"),
        _text(_LEFT, _HEIGHT - 12, when(timeline["from"], utc=utc) or "first event", "start"),
        _text(_WIDTH - 10, _HEIGHT - 12, when(timeline["to"], utc=utc) or "last event", "end"),
    ]
    font = 'font-family="sans-serif" font-size="11"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" {font}>'
    ground = f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>'
    return "\n".join([head, ground, *shapes, *axis, "</svg>"]) + "\n"


def _box(x: float, y: float, width: float, height: float, name: str, count: int) -> str:
    colour = _COLOURS.get(name, _OTHER)
    size = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {size} fill="{colour}"><title>{escape(name)}: {count:,}</title></rect>'


def _mark(timeline: Mapping[str, Any], mark: Mapping[str, Any], *, utc: bool) -> str:
    from datetime import datetime

    if not (mark.get("time") and timeline["from"] and timeline["to"]):
        return ""
    first, last, at = (datetime.fromisoformat(t) for t in (timeline["from"], timeline["to"], mark["time"]))
    share = (at - first) / (last - first) if last > first else 0.0
    if not 0 <= share <= 1:
        return ""
    x = _LEFT + share * (_WIDTH - _LEFT - 10)
    told = escape(plain(f"{when(mark['time'], utc=utc)} {mark.get('label', '')}"))
    line = f'x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{_HEIGHT - _BOTTOM}"'
    return f'<line {line} stroke="#111" stroke-dasharray="4 3"><title>{told}</title></line>'


def _legend(order: Sequence[str], totals: Mapping[str, int]) -> list[str]:
    shapes, x = [], float(_LEFT)
    for name in order:
        told = f"{name} {totals[name]:,}"
        shapes.append(f'<rect x="{x:.0f}" y="8" width="10" height="10" fill="{_COLOURS.get(name, _OTHER)}"/>')
        shapes.append(_text(x + 14, 17, told, "start"))
        x += 30 + 7 * len(told)
    return shapes


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="#334155">{escape(plain(text))}</text>'
