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
    "date and time",
    "时间",
    "日期",
}
#: W3C's directive for a log whose times are not GMT, and a time that names no zone.
_OFFSET = re.compile(r"#GMT-Offset:\s*([+-]\d{2}:?\d{2})\b")
_CLOCK = re.compile(r"\d{1,2}:\d{2}:\d{2}(?:\.\d{1,9})?")
_LEAST = 3  # columns; two names with a comma between them are prose
_EXTRA = 8  # IIS writes fewer names than cells when its fields are changed
#: Columns of PostgreSQL's csvlog, which has no header, and how its rows begin.
_CSVLOG = (
    "log_time user_name database_name process_id connection_from session_id session_line_num command_tag"
    " session_start_time virtual_transaction_id transaction_id error_severity sql_state_code message detail hint"
    " internal_query internal_query_pos context query query_pos location application_name backend_type leader_pid"
    " query_id"
)
_POSTGRES = _CSVLOG.split()
_POSTGRES_ROW = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} [A-Z+-][\w:+-]{0,8},")
_SEVERITY = re.compile(r"[A-Z]{3,7}\d?")
_STATE = re.compile(r"[0-9A-Z]{5}")
#: A header of blanks has so many names, some of them of two words; with fewer it is prose.
_MANY, _COMPOUND = 8, 3
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
        if _POSTGRES_ROW.match(text):
            return self._postgres(text)
        names = text.split()
        if len(names) >= _MANY and _flows(names):
            self.columns, self.separator = names, " "
            return True
        for separator in (",", "\t", ";"):
            names = [n.strip('" ') for n in text.strip().split(separator)]
            if len(names) >= (2 if forced else _LEAST) and (
                forced or (all(map(_named, names)) and {n.lower() for n in names} & _TIMES)
            ):
                self.columns, self.separator = names, separator
                return True
        return False

    def _postgres(self, text: str) -> bool:
        """Learn that rows are those of csvlog; return False, for no header was met."""
        cells = _cells(text, ",") or []
        if (
            len(cells) > _POSTGRES.index("message")
            and _SEVERITY.fullmatch(cells[11])
            and _STATE.fullmatch(cells[12])
        ):
            self.columns, self.separator = _POSTGRES[: max(len(cells), 20)], ","
        return False

    def names(self, row: dict[str, str]) -> bool:
        """Tell whether a row is the header once more."""
        return next(iter(row.values()), None) == self.columns[0] and list(row.values()) == self.columns

    def row(self, text: str) -> dict[str, str] | None:
        """Return the cells of a row by their columns, or None where the line is no row."""
        if self.separator == "\t":
            cells = text.split("\t")
        elif self.separator == " " and '"' not in text:
            cells = text.split()
        else:
            found = _cells(text, self.separator)
            if found is None:
                return None
            cells = found
            if self.separator == " ":
                cells = [cell for cell in cells if cell]
        if not len(self.columns) - 1 <= len(cells) <= len(self.columns) + _EXTRA:
            return None
        row = dict(zip(self.columns, cells, strict=False))
        if (
            self.separator == "," and len(cells) == len(self.columns) + 1
        ):  # Windows names no column for the text
            row.setdefault("message", cells[-1])
        # the format says that `date` and `time` are GMT; `time-local` is not
        if self.form == "w3c" and "date" in row and _CLOCK.fullmatch(row.get("time", "")):
            row["time"] += self._zone
        return row


def _cells(text: str, separator: str) -> list[str] | None:
    try:
        return next(csv.reader([text], strict=True, delimiter=separator, skipinitialspace=True), [])
    except csv.Error:
        return None


def _flows(names: list[str]) -> bool:
    """Tell whether names between blanks are the header of a log of flows: when each began and ended."""
    compound = sum("-" in name or "_" in name for name in names)
    return compound >= _COMPOUND and {"start", "end"} <= set(names) and all(map(_named, names))


def _named(name: str) -> bool:
    return _NAME.fullmatch(name) is not None or name.lower() in _TIMES
