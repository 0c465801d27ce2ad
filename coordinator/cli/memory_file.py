"""Files of memories as `nightdesk memory export` writes them: whole or refused, and in pages for the queue."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

#: What a file of memories begins with; a reader checks it before anything else.
VERSION = 1
#: A page of an import: as much as one message may carry, with room for its frame; UTF-8 bytes and lines.
_PAGE_BYTES, _PAGE_LINES = 48 * 1024, 200


def read_file(file: Path) -> tuple[list[str], str]:
    """Return the lines of a file's memories and its namespace; raise Correctable where it is no whole export."""
    from kernel.errors import Correctable

    try:
        lines = [line for line in file.read_text(encoding="utf-8").split("\n") if line.strip()]
        head, end = json.loads(lines[0]), json.loads(lines[-1])
        of, version, count = head["namespace"], head["nightdesk_memory"], end.get("memories")
    except (OSError, ValueError, IndexError, KeyError, TypeError, AttributeError) as error:
        raise Correctable(
            f"{file} is no export of memories",
            why=_why(error),
            next_step="Give a file that `nightdesk memory export` wrote.",
        ) from error
    if version != VERSION:
        raise Correctable(f"{file} is of version {version!r}", why=f"this Nightdesk reads version {VERSION}")
    if not end.get("end") or count != len(lines) - 2:
        raise Correctable(
            f"{file} was cut off",
            why=f"it holds {len(lines) - 2} memories and its last line says {count}"
            if end.get("end")
            else "its last line is not the one that an export ends with",
            next_step="Export it again.",
        )
    return lines[1:-1], str(of)


def _why(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not text in UTF-8"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    if isinstance(error, IndexError):
        return "it is empty"
    if isinstance(error, json.JSONDecodeError):
        return "its first or its last line is not JSON"
    return "its first line is not the head of an export"


def pages(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield lines in pages that fit into a message, each with the number of its first line in the file."""
    page: list[str] = []
    size, first = 0, 2  # the first line of a file is its head
    for number, line in enumerate(lines, 2):
        length = len(line.encode("utf-8", "replace"))
        if page and (size + length > _PAGE_BYTES or len(page) == _PAGE_LINES):
            yield first, page
            page, size, first = [], 0, number
        page.append(line)
        size += length
    if page:
        yield first, page
