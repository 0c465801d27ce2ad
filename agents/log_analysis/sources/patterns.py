"""Patterns of paths: which folder one opens, which files it matches."""

from __future__ import annotations

import glob
import re
from collections.abc import Iterator
from pathlib import Path

_GLOB = re.compile(r"[*?\[]")


def is_pattern(text: str) -> bool:
    """Tell whether a path has wildcards."""
    return _GLOB.search(text) is not None


def root_of(pattern: str) -> Path:
    """Return the folder that a path or pattern opens: its parts before the first wildcard, without the file's name."""
    path = Path(pattern).expanduser()
    parts: list[str] = []
    for part in path.parts:
        if is_pattern(part):
            return Path(*parts)
        parts.append(part)
    return path if path.is_dir() else path.parent


def matches(pattern: str) -> Iterator[Path]:
    """Yield the files that a pattern matches, in no order."""
    for found in glob.iglob(str(Path(pattern).expanduser()), recursive=True):  # noqa: PTH207 - absolute patterns
        path = Path(found)
        if path.is_file():
            yield path


def holds_file(pattern: str) -> bool:
    """Tell whether a path or pattern leads to at least one file here."""
    path = Path(pattern).expanduser()
    if path.is_dir():
        return any(entry.is_file() for entry in path.rglob("*"))
    return path.is_file() or (is_pattern(pattern) and any(True for _ in matches(pattern)))
