"""How the command line words things: one line, cut at a word; ages; the time of an event."""

from __future__ import annotations

from datetime import datetime

from kernel.clock import now

_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_UNITS = ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min"))
_ELLIPSIS = "…"
_THOUSAND = 1000


def one_line(text: str, limit: int) -> str:
    """Return the text as one line of at most `limit` characters, cut at a word with … where it is longer."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    kept = line[: limit - 1]
    whole = kept.rpartition(" ")[0] if line[limit - 1] != " " else kept
    # a word longer than half the room (a path, a language without blanks) is cut itself
    return (whole if len(whole) > limit // 2 else kept).rstrip() + _ELLIPSIS


def age(days: float) -> str:
    """Return an age in the largest unit that fits: "just now", "5 min", "3 h", "2 d"."""
    seconds = days * _DAY
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{seconds / length:.0f} {unit}"
    return "just now"


def event_time(at: str) -> str:
    """Return when an event was logged (ISO, as it carries it), in the reader's zone with its offset."""
    moment = datetime.fromisoformat(at) if at else now()
    return moment.astimezone().strftime("%H:%M:%S %z")


def size(count: int) -> str:
    """Return a number of bytes in the unit that fits: "812 B", "40.5 MB", "1.2 GB"."""
    number, unit = float(count), "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if number < _THOUSAND - 0.5:
            break
        number, unit = number / _THOUSAND, larger
    return f"{number:.1f}".removesuffix(".0") + f" {unit}"


def elapsed(seconds: float) -> str:
    """Return a running clock in whole seconds; clocks of two machines may differ, so never below zero."""
    return f"{max(seconds, 0):.0f} s"
