"""Unfolds lines to what a program wrote: texts of several lines in JSON, lines that runtimes or syslog wrap; pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

#: What CRI writes before each line of a container, and syslog before each line of a program; `#011` is its tab.
_WRAP = re.compile(
    r"^(?:\d{4}-\d\d-\d\dT\S{8,40} std(?:out|err) [FP] "
    r"|(?:<\d{1,3}>)?(?:[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d"
    r"|\d{4}-\d\d-\d\dT\S{8,24}) \S{1,255} [^\s:\[]{1,80}\[\d{1,10}\]: )"
)
_TAB = "#011"
#: What Docker calls the line of a container in its file.
_DOCKER = "log"
#: Fields within fields are looked at so deep, and so many lines of one field are read.
_DEPTH, _LINES = 4, 200


def unfolded(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return the lines that were written, each with the offset of the line of the log that holds it."""
    found: list[tuple[int, str]] = []
    for offset, text in enumerate(lines):
        parts = _of_json(text) if text.lstrip()[:1] == "{" else []
        found += [(offset, part) for part in parts or [_WRAP.sub("", text, 1).replace(_TAB, "\t", 1)]]
    return found


def _of_json(text: str) -> list[str]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return []  # a long line that was cut, or no JSON at all
    if isinstance(document, dict) and isinstance(document.get(_DOCKER), str):
        return str(document[_DOCKER]).rstrip("\n").split("\n")
    return [line for value in _texts(document, _DEPTH) for line in value.split("\n")[:_LINES]]


def _texts(value: Any, depth: int) -> Iterator[str]:
    """Yield the texts of several lines: nothing else can be a trace."""
    if isinstance(value, str):
        if "\n" in value.strip():
            yield value
    elif depth and isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item, depth - 1)
