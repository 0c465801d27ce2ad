"""How text and times of logs are printed: no control or direction character reaches a terminal raw."""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime, time, timedelta
from typing import Any

from coordinator.cli.screen import remark
from kernel.clock import now as clock
from kernel.errors import Correctable

#: As JSON escapes them: C1 controls, separators, direction and zero-width characters, which json.dumps leaves.
_RAW = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)

#: Times as people say them: so long ago, or what the clock said today or yesterday.
_AGO = re.compile(r"(?:-\s?(\d{1,6})\s?([smhdw])|(\d{1,6})\s?([smhdw]) ago)")
_CLOCK = re.compile(
    r"(?:(today|yesterday)(?:[ T](?=\d)|$))?(?:(\d{1,2}:\d{2}(?::\d{2})?)(Z|[+-]\d{2}:?\d{2})?)?"
)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def plain(text: str) -> str:
    """Return text as a terminal may get it: what is no printable character stands as an escape."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number <= 0xFF else f"\\u{number:04x}"  # noqa: PLR2004 - two hex digits


def print_document(document: Any) -> None:
    """Print the one JSON document of a command; what a terminal would obey is escaped, and reads the same."""
    text = json.dumps(document, ensure_ascii=False, indent=2, default=str)
    sys.stdout.write(_RAW.sub(_json_escape, text) + "\n")


def _json_escape(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


def when(moment: str, *, utc: bool) -> str:
    """Return an ISO time in the reader's own zone, or in UTC, with its offset; milliseconds where there are any."""
    if not moment:
        return ""
    told = datetime.fromisoformat(moment)
    told = told.astimezone(UTC) if utc else told.astimezone()
    fraction = f".{told.microsecond // 1000:03d}" if told.microsecond >= 1000 else ""  # noqa: PLR2004 - one millisecond
    return f"{told:%Y-%m-%d %H:%M:%S}{fraction} {told:%z}"


def span(first: str, last: str, *, utc: bool) -> str:
    """Return two times as one span."""
    return f"{when(first, utc=utc)} to {when(last, utc=utc)}" if first and last else "no times"


def asked_window(since: str, until: str, *, utc: bool, quiet: bool = False) -> tuple[str, str]:
    """Return the two ends of a window that a person wrote, as ISO; what was not written out is told."""
    now = clock()
    first = asked_time(since, utc=utc, now=now)
    if first and until.strip()[:1].isdigit() and _CLOCK.fullmatch(until.strip()):
        now = datetime.fromisoformat(first) + timedelta(days=1)  # 10:40 is the first one after --since
    ends = first, asked_time(until, utc=utc, last=True, now=now)
    for name, text, end in zip(("since", "until"), (since, until), ends, strict=True):
        if end and not quiet and not text.strip()[:4].isdigit():
            remark(f"{name} {plain(text.strip())} is {when(end, utc=utc)}")
    if all(ends) and datetime.fromisoformat(ends[0]) > datetime.fromisoformat(ends[1]):
        told = [when(end, utc=utc) for end in ends]
        raise Correctable(
            "the window ends before it begins",
            why=f"--since is {told[0]}, and --until is {told[1]}",
            next_step="Write the earlier time behind --since.",
        )
    return ends


def asked_time(text: str, *, utc: bool, last: bool = False, now: datetime | None = None) -> str:
    """Return the time a person wrote as ISO with its zone: the zone that times are shown in where it names none.

    Where the clock was put back, a time comes twice: the earlier is taken, or the later if it ends a window (`last`).
    """
    if not text.strip():
        return ""
    try:
        return _moment(text.strip(), utc=utc, last=last, now=now or clock()).isoformat()
    except (ValueError, OverflowError) as error:
        raise Correctable(
            f"{plain(text)!r} is no time",
            why="a time is written as in ISO 8601, or as 10:20, yesterday, or -1h",
            next_step="Write it like 2026-11-29T10:20:00, with +08:00 or Z behind it for another zone.",
        ) from error


def _moment(text: str, *, utc: bool, last: bool, now: datetime) -> datetime:
    if text == "now":
        return now
    if ago := _AGO.fullmatch(text):
        return now - timedelta(**{_UNITS[ago[2] or ago[4]]: int(ago[1] or ago[3])})
    if said := _CLOCK.fullmatch(text):
        hours, _, rest = (said[2] or "0:00").partition(":")
        at = time.fromisoformat(f"{hours:0>2}:{rest}{said[3] or ''}")
        here = now.astimezone(at.tzinfo or (UTC if utc else None))
        day = here.date() - timedelta(days=said[1] == "yesterday")
        moment = _zoned(datetime.combine(day, at), utc=utc, last=last)
        if not said[1] and moment > now:  # what the clock has not said yet today it said yesterday
            moment = _zoned(datetime.combine(day - timedelta(days=1), at), utc=utc, last=last)
        return moment
    moment = datetime.fromisoformat(text)
    return _zoned(moment, utc=utc, last=last)


def _zoned(moment: datetime, *, utc: bool, last: bool) -> datetime:
    if moment.tzinfo:
        return moment
    if utc:
        return moment.replace(tzinfo=UTC)
    return (max if last else min)(moment.replace(fold=fold).astimezone() for fold in (0, 1))


def asked_span(text: str, *, utc: bool) -> str:
    """Return the window FROM..TO that a person wrote, both with their zones."""
    first, dots, last = text.partition("..")
    if not dots or not first.strip() or not last.strip():
        raise Correctable(
            f"{plain(text)!r} is no window",
            why="a window has two ends",
            next_step="Write FROM..TO, such as 2026-11-29T10:00..2026-11-29T11:00.",
        )
    ends = asked_window(first, last, utc=utc, quiet=True)
    return "..".join(ends)
