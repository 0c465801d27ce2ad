"""How text and times of logs are printed: no control or direction character reaches a terminal raw."""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime
from typing import Any

from kernel.errors import Correctable

#: As JSON escapes them: C1 controls, separators, direction and zero-width characters, which json.dumps leaves.
_RAW = re.compile(
    "[\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


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


def asked_time(text: str, *, utc: bool) -> str:
    """Return the time a person wrote as ISO with its zone: the zone that times are shown in where it names none."""
    if not text.strip():
        return ""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise Correctable(
            f"{plain(text)!r} is no time",
            why="times are written as in ISO 8601",
            next_step="Write it like 2026-11-29T10:20:00, with +08:00 or Z behind it for another zone.",
        ) from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC) if utc else moment.astimezone()
    return moment.isoformat()


def asked_span(text: str, *, utc: bool) -> str:
    """Return the window FROM..TO that a person wrote, both with their zones."""
    first, dots, last = text.partition("..")
    if not dots:
        raise Correctable(f"{plain(text)!r} is no window", next_step="Write FROM..TO with two ISO times.")
    return f"{asked_time(first, utc=utc)}..{asked_time(last, utc=utc)}"
