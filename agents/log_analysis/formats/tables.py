"""Rows of tables with a header: CSV, W3C extended, Zeek; pure."""

from __future__ import annotations

import csv
import re

_NAME = re.compile(r"\"?[A-Za-z_@][\w .@()-]{0,60}\"?")
#: A header of commas names at least one of these; other lines with commas are prose.
_TIMES = {
    "timestamp",
    "time",
    "date",
    "datetime",
    "@timestamp",
    "timeunixnano",
    "ts",
    "logged_at",
    "时间",
    "日期",
}
#: W3C's directive for a log whose times are not GMT, and a time that names no zone.
_OFFSET = re.compile(r"#GMT-Offset:\s*([+-]\d{2}:?\d{2})\b")
_CLOCK = re.compile(r"\d{1,2}:\d{2}:\d{2}(?:\.\d{1,9})?")
_LEAST = 3  # columns; two names with a comma between them are prose
_EXTRA = 8  # IIS writes fewer names than cells when its fields are changed
_KINDS = {",": "csv", ";": "csv", "\t": "tsv", " ": "w3c"}


class Table:
    """The columns of one file, as its header names them."""

    def __init__(self) -> None:
        self.columns: list[str] = []
        self.separator = ","
        self._zone = "Z"

    @property
    def form(self) -> str:
        """Return the kind of table."""
        return _KINDS[self.separator]

    def header(self, text: str, *, forced: bool = False) -> bool:
        """Learn the columns from a header; return whether the line is one."""
        if text.startswith(("#Fields:", "#fields")):
            self.separator = "\t" if "\t" in text else " "
            self.columns = text.split("\t")[1:] if "\t" in text else text.split()[1:]
            return True
        if text[:1] == "#":
            found = _OFFSET.match(text)
            self._zone = found[1] if found else self._zone
            return False
        for separator in (",", "\t", ";"):
            names = [n.strip('" ') for n in text.strip().split(separator)]
            if len(names) >= (2 if forced else _LEAST) and (
                forced or (all(map(_named, names)) and {n.lower() for n in names} & _TIMES)
            ):
                self.columns, self.separator = names, separator
                return True
        return False

    def row(self, text: str) -> dict[str, str] | None:
        """Return the cells of a row by their columns, or None where the line is no row."""
        if self.separator == "\t":
            cells = text.split("\t")
        elif self.separator == " " and '"' not in text:
            cells = text.split()
        else:
            try:
                reader = csv.reader([text], strict=True, delimiter=self.separator, skipinitialspace=True)
                cells = next(reader, [])
            except csv.Error:
                return None
            if self.separator == " ":
                cells = [cell for cell in cells if cell]
        if not len(self.columns) - 1 <= len(cells) <= len(self.columns) + _EXTRA:
            return None
        row = dict(zip(self.columns, cells, strict=False))
        # the format says that `date` and `time` are GMT; `time-local` is not
        if self.form == "w3c" and "date" in row and _CLOCK.fullmatch(row.get("time", "")):
            row["time"] += self._zone
        return row


def _named(name: str) -> bool:
    return _NAME.fullmatch(name) is not None or name.lower() in _TIMES
