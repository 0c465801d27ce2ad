"""Words a cause: its title for people, and the phrase a later search can look for; pure."""

from __future__ import annotations

import re
from typing import Any

from agents.log_analysis.formats.text import cut_words
from agents.log_analysis.kinds import ERROR, kind_of
from kernel.wording import ENGLISH, Words

#: A phrase must stand in one line as written: no value, no joint of message and exception, no quote that JSON escapes.
_BREAKS = re.compile(r"<\*>| \| |[\"\\…]")
_PHRASE = 8
_TITLE = 200
#: What shows in more services than this is not told by the name of one.
_NAMED = 2
#: A title's reader has lost the thread by so many characters.
_LATE = 140

_Row = dict[str, Any]


def title(row: _Row, key: str, say: Words = ENGLISH) -> str:
    """Return one sentence that names a cause: its service, its kind, and what the most telling line says."""
    services = row.get("services") or []
    service = services[0] if 0 < len(services) <= _NAMED else ""
    label = row["label"]
    message = _clause(row).rstrip(" -:.,") or _clause(row)
    head = f"{service}: " if service and service.lower() not in message.lower() else ""
    said = key == ERROR.key or " ".join(label.lower().split()[:2]) in message.lower()
    text = message if said else say("{label}: {message}", label=say.plain(label), message=message)
    if timing := row.get("timing"):
        text += say(
            " ({low} to {high}, {count} times)", low=timing["low"], high=timing["high"], count=row["count"]
        )
    return cut_words(f"{head}{text}", _TITLE).rstrip(" -:.,")


def _clause(row: _Row) -> str:
    """Return a message, or where what it says of its kind comes late in it, the part from there on."""
    message = str(row["message"])
    kind = kind_of(message)
    found = kind.pattern.search(message) if kind and kind.key == row["kind"] else None
    if found is None or found.end() <= _LATE:
        return message
    start = max(message.rfind(": ", 0, found.start() - 20), message.rfind(", ", 0, found.start() - 20))
    return f"…{message[start + 2 :]}" if start > 0 else message


def phrase(row: _Row) -> str:
    """Return a fixed piece of a problem's template, which a later search can look for.

    The message before its exception, where it tells the kind of the cause itself: that line comes first.
    """
    parts = [_pieces(part) for part in str(row.get("template", "")).split(" | ")]
    for part in parts:
        told = [piece for piece in part if (kind := kind_of(piece)) and kind.key == row["kind"]]
        if told:
            return max(told, key=len)
    best = max((piece for part in parts for piece in part), key=len, default="")
    return best or str(row["message"])[:80]


def _pieces(text: str) -> list[str]:
    """Return what is fixed in a template and long enough to be looked for."""
    pieces = (piece.strip(" :;,.-|()[]'") for piece in _BREAKS.split(text))
    return [piece for piece in pieces if len(piece) >= _PHRASE]
