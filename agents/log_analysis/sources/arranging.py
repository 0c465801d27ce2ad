"""The order in which a run reads its files, and the names by which it tells them apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from agents.log_analysis.sources.files import LogFile
from agents.log_analysis.sources.rotation import Turn, turn
from kernel.errors import Correctable, NightdeskError

#: More files than this in one run are not a log but a tree; the newest are read, and the result says so.
FILE_LIMIT = 200


def arrange(files: Iterable[LogFile]) -> tuple[list[LogFile], list[NightdeskError]]:
    """Return each file once, rotated sets oldest first; of too many the newest, and a word on the rest.

    Sets keep the order in which they were given; two files of one name are told apart by their paths.
    """
    once: dict[tuple[Path, str], LogFile] = {}
    for file in files:
        once.setdefault((file.path, "" if file.roots else file.name), file)
    kept, problems = list(once.values()), []
    if len(kept) > FILE_LIMIT:
        newest = {id(file) for file in sorted(kept, key=_age)[:FILE_LIMIT]}
        kept = [file for file in kept if id(file) in newest]
        problems = [
            Correctable(
                f"only the newest {FILE_LIMIT} of {len(once)} files were read",
                next_step="Name fewer files, or a narrower glob.",
            )
        ]
    return _distinct(_ordered(kept)), list(problems)


def _age(file: LogFile) -> float:
    if file.changed is not None:
        return -file.changed.timestamp()
    try:
        return -file.path.stat().st_mtime
    except OSError:
        return 0.0


def _distinct(files: list[LogFile]) -> list[LogFile]:
    """Give files of one name names of their own: their paths, or a number where they have none."""
    taken: dict[str, int] = {}
    named = []
    for file in files:
        seen = taken[file.name] = taken.get(file.name, 0) + 1
        other = (file.place if file.roots else "") or f"{file.name} ({seen})"
        named.append(file if seen == 1 else replace(file, name=other))
    return named


def _ordered(files: list[LogFile]) -> list[LogFile]:
    first_seen: dict[str, int] = {}

    def place(entry: tuple[int, LogFile]) -> tuple[int, Turn, int]:
        position, file = entry
        stem, when = turn(file.place or file.name)
        return (first_seen.setdefault(stem, len(first_seen)), when, position)

    return [file for _, file in sorted(enumerate(files), key=place)]
