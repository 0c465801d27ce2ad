"""Patterns and folders of paths: what one opens, which files it leads to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

#: Files looked at under one folder; more are no logs but a tree.
WALK_LIMIT = 20_000

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


def matches(pattern: str) -> list[Path]:
    """Return the files that a path, a folder or a pattern leads to, sorted by name."""
    path = Path(pattern).expanduser()
    if path.is_dir():
        return sorted(_below(path))
    if path.exists() or not is_pattern(pattern):
        return [path]
    return sorted(_matching(path))


def holds_file(pattern: str) -> bool:
    """Tell whether a path, folder or pattern leads to at least one file here."""
    path = Path(pattern).expanduser()
    if path.is_dir():
        return any(True for _ in _below(path))
    return path.is_file() or (is_pattern(pattern) and any(True for _ in _matching(path)))


def under(path: Path, roots: Sequence[Path]) -> bool:
    """Tell whether a path without links lies in one of the folders."""
    return any(path == root or root in path.parents for root in roots)


def _matching(pattern: Path) -> Iterator[Path]:
    """Yield the files of a pattern; `**` follows no links, which may lead in circles, and nothing hidden is found."""
    root = root_of(str(pattern))
    rest = pattern.parts[len(root.parts) :]
    shown = not any(part.startswith(".") for part in rest)
    try:
        found = root.glob(str(Path(*rest, "*") if rest[-1] == "**" else Path(*rest)))
        for path in islice(found, WALK_LIMIT):
            hidden = shown and any(part.startswith(".") for part in path.parts[len(root.parts) :])
            if not hidden and path.is_file():
                yield path
    except (OSError, ValueError):  # a folder that went meanwhile; `**` as a part of a name
        return


def _below(folder: Path) -> Iterator[Path]:
    seen = 0
    for place, folders, names in os.walk(folder):  # does not follow links
        folders[:] = sorted(f for f in folders if not f.startswith("."))
        for name in sorted(names):
            path = Path(place) / name
            if not name.startswith(".") and path.is_file():
                yield path
        seen += len(names)
        if seen > WALK_LIMIT:
            return
