"""The picture that `nightdesk logs overview --plot` draws: levels over time as SVG, what changed when beside it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from html import escape
from pathlib import Path
from typing import Any

from coordinator.cli.logs_text import plain, when
from kernel.errors import Correctable, Refused

_WIDTH, _LEFT, _RIGHT, _TOP, _FOOT = 960, 60, 20, 52, 250
#: Heights of the time axis and of one line that says what a mark is.
_AXIS, _LINE = 44, 17
_COLOURS = {"fatal": "#7f1d1d", "error": "#dc2626", "warning": "#f59e0b", "info": "#3b82f6"}
_OTHER, _INK, _ONSET = "#94a3b8", "#334155", "#7f1d1d"
#: One error among ten thousand lines is seen: so high is it at least.
_SEEN = 3.0
#: Marks of changes beyond this hide the plot; characters of what is said of one.
_MARKS, _SAID = 12, 130
#: Numbers of marks closer than this stand below each other, in so many rows.
_APART, _ROWS = 16, 2
#: Seconds between two ticks of the time axis, and how many ticks have room.
_STEPS = (0.1, 1, 5, 15, 60, 300, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400, 604_800, 2_592_000)
_TICKS, _DAY, _MINUTE = 8, 86_400, 60
_ENDING = ".svg"
#: So much of a file shows whether it is a drawing.
_HEAD = 64


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
    """Return the plot as SVG text: stacked bars, a numbered line at each mark, and what each is below."""
    levels = timeline["levels"]
    order = sorted(levels, key=lambda name: list(_COLOURS).index(name) if name in _COLOURS else len(_COLOURS))
    placed = sorted(_placed(timeline, marks), key=lambda one: one[0])
    height = _FOOT + _AXIS + _LINE * len(placed)
    font = 'font-family="sans-serif" font-size="12"'
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" {font}>',
            f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
            *_legend(order, {name: sum(levels[name]) for name in order}),
            *_bars(levels, order),
            *_axis(timeline, utc=utc),
            *_marks(placed, utc=utc),
            "</svg>\n",
        ]
    )


def _bars(levels: Mapping[str, Sequence[int]], order: Sequence[str]) -> Iterator[str]:
    totals = [sum(column) for column in zip(*levels.values(), strict=True)]
    highest, parts = max(totals, default=0) or 1, len(totals) or 1
    bar, room = (_WIDTH - _LEFT - _RIGHT) / parts, _FOOT - _TOP
    for place in range(len(totals)):
        foot = float(_FOOT)
        for name in order:
            count = levels[name][place]
            if count:
                tall = count * room / highest
                tall = max(tall, _SEEN) if name in ("fatal", "error") else tall
                foot -= tall
                yield _box(_LEFT + place * bar, foot, max(bar - 1, 0.5), tall, name, count)
    yield _text(_LEFT - 6, _TOP + 10, f"{highest:,}", "end")
    yield _text(_LEFT - 6, _FOOT, "0", "end")
    yield f'<line x1="{_LEFT}" y1="{_FOOT}" x2="{_WIDTH - _RIGHT}" y2="{_FOOT}" stroke="{_INK}"/>'


def _box(x: float, y: float, width: float, height: float, name: str, count: int) -> str:
    colour = _COLOURS.get(name, _OTHER)
    size = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {size} fill="{colour}"><title>{escape(name)}: {count:,}</title></rect>'


def _axis(timeline: Mapping[str, Any], *, utc: bool) -> Iterator[str]:
    """Yield round times below the bars, in the reader's zone, and the window with its zone."""
    if not (timeline["from"] and timeline["to"]):
        yield _text(_LEFT, _FOOT + 16, "first event", "start")
        yield _text(_WIDTH - _RIGHT, _FOOT + 16, "last event", "end")
        return
    first, last = (
        datetime.fromisoformat(t).astimezone(UTC if utc else None) for t in (timeline["from"], timeline["to"])
    )
    window = (last - first).total_seconds()
    step = next((s for s in _STEPS if window / s <= _TICKS), window / _TICKS)
    midnight = first.replace(hour=0, minute=0, second=0, microsecond=0)
    tick = midnight + timedelta(seconds=-(-(first - midnight).total_seconds() // step) * step)
    while window and tick <= last:
        x = _x((tick - first).total_seconds() / window)
        yield f'<line x1="{x:.1f}" y1="{_FOOT}" x2="{x:.1f}" y2="{_FOOT + 5}" stroke="{_INK}"/>'
        here = tick.astimezone(UTC if utc else None)
        shape = "%m-%d" if step >= _DAY else "%H:%M" if step >= _MINUTE else "%H:%M:%S"
        yield _text(x, _FOOT + 18, f"{here:{shape}}", "middle")
        tick += timedelta(seconds=step)
    yield _text(
        _LEFT, _FOOT + 36, f"{when(timeline['from'], utc=utc)} to {when(timeline['to'], utc=utc)}", "start"
    )


def _placed(
    timeline: Mapping[str, Any], marks: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[float, Mapping[str, Any]]]:
    """Yield where the first marks stand that lie in the window."""
    if not (timeline["from"] and timeline["to"]):
        return
    first, last = (datetime.fromisoformat(timeline[name]) for name in ("from", "to"))
    for mark in [mark for mark in marks if mark.get("time")][:_MARKS]:
        share = (datetime.fromisoformat(mark["time"]) - first) / (last - first) if last > first else 0.0
        if 0 <= share <= 1:
            yield _x(share), mark


def _marks(placed: Sequence[tuple[float, Mapping[str, Any]]], *, utc: bool) -> Iterator[str]:
    row, before = 0, float("-inf")
    for number, (x, mark) in enumerate(placed, 1):
        row = (row + 1) % _ROWS if x - before < _APART else 0
        before = x
        onset = mark.get("label") == "onset"
        line = f'stroke="{_ONSET}" stroke-width="2"' if onset else 'stroke="#111" stroke-dasharray="4 3"'
        told = plain(f"{when(mark['time'], utc=utc)}  {mark.get('label', '')}")
        where = f'x1="{x:.1f}" y1="{_TOP - 2}" x2="{x:.1f}" y2="{_FOOT}"'
        yield f"<line {where} {line}><title>{escape(told)}</title></line>"
        yield _text(x, _TOP - 6 - 12 * row, str(number), "middle")
        said = told if len(told) <= _SAID else f"{told[: _SAID - 1]}…"
        yield _text(_LEFT, _FOOT + _AXIS + _LINE * number - 4, f"{number}  {said}", "start")


def _x(share: float) -> float:
    return _LEFT + share * (_WIDTH - _LEFT - _RIGHT)


def _legend(order: Sequence[str], totals: Mapping[str, int]) -> Iterator[str]:
    x = float(_LEFT)
    for name in order:
        told = f"{name} {totals[name]:,}"
        yield f'<rect x="{x:.0f}" y="6" width="11" height="11" fill="{_COLOURS.get(name, _OTHER)}"/>'
        yield _text(x + 15, 16, told, "start")
        x += 34 + 7.5 * len(told)


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{_INK}">{escape(plain(text))}</text>'
