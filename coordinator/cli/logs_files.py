"""What `nightdesk logs` writes for programs and spreadsheets: CSV by RFC 4180 in UTF-8."""

from __future__ import annotations

import csv
import io
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from coordinator.cli.logs_text import plain

#: What begins a formula in spreadsheets, except where it is a number alone.
_FORMULA = ("=", "+", "-", "@")
_NUMBER = re.compile(r"[+-]?\d{1,30}(?:\.\d{1,30})?")


def write_csv(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table to standard output as it comes, CRLF after each row."""
    out = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8", newline="", write_through=False)
    try:
        writer = csv.writer(out)
        writer.writerow(titles)
        for row in rows:
            writer.writerow([_cell(value) if isinstance(value, str) else value for value in row])
        out.flush()
    finally:
        out.detach()  # standard output is not ours to close


def _cell(text: str) -> str:
    """Return text that no spreadsheet computes: what a log says would be its formula."""
    return f"'{plain(text)}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else plain(text)


def template_lines(lines: Iterable[tuple[str, str]]) -> Iterator[Sequence[object]]:
    """Yield a row per physical line, as the public scorers read them."""
    for number, (event, template) in enumerate(lines, 1):
        yield number, event, template


def rows_of(rows: Iterable[Mapping[str, Any]], *names: str) -> Iterator[Sequence[object]]:
    """Yield the named fields of each row."""
    for row in rows:
        yield [row.get(name, "") for name in names]
