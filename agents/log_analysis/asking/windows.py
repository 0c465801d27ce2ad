"""Reads which two windows a comparison is about: a split, or two spans, of times or of lines."""

from __future__ import annotations

from agents.log_analysis.asking.searching import read_time
from agents.log_analysis.judging.baselines import Window
from agents.log_analysis.reading import Reading
from agents.log_analysis.scanning.summary import summarise
from kernel.errors import Correctable


def split_windows(
    reading: Reading, file: int | None, split_at: str, before: str, after: str
) -> tuple[Window, Window]:
    """Return the windows before and after; raise Correctable with how to name them."""
    infinite = float("inf")
    if split_at.startswith("line ") and split_at[5:].strip().isdigit():
        line = float(split_at[5:])
        return Window(0.0, line), Window(line, infinite)
    if before and after:
        return _window(before), _window(after)
    moment = read_time(split_at, "split_at")
    if moment is None:
        raise Correctable(
            "nothing to compare", next_step="Pass split_at, or both before and after as FROM..TO."
        )
    summary = summarise(reading.scan, file)
    if summary.start is None or summary.end is None:
        raise Correctable("the log has no times", next_step="Split it at a line: split_at='line 1302'.")
    return Window(summary.start, moment), Window(moment, summary.end + 1e-6)


def _window(text: str) -> Window:
    start, _, end = text.partition("..")
    first, last = read_time(start, "the window's start"), read_time(end, "the window's end")
    if first is None or last is None or first >= last:
        raise Correctable(
            f"{text!r} is no window", next_step="Write FROM..TO with two ISO times, the earlier first."
        )
    return Window(first, last)
