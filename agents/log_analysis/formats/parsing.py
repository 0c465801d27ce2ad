"""Reads one line as a record, by whatever kind of log it is or was said to be; pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from datetime import datetime
from typing import Any

from agents.log_analysis.formats.containers import Frame, frame
from agents.log_analysis.formats.detection import FRAMES, JSON, TABLES, Tally, form_named
from agents.log_analysis.formats.fields import FieldReader, Read
from agents.log_analysis.formats.json_lines import broken, loads
from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.markup import fields_of
from agents.log_analysis.formats.plain import TextReader
from agents.log_analysis.formats.record import Record, nested
from agents.log_analysis.formats.tables import Table
from agents.log_analysis.formats.times import Stamps
from agents.log_analysis.formats.traces import inside, joins

__all__ = ["Parser", "Record", "detect"]

_LOGFMT = re.compile(r"([A-Za-z_@][\w.@/-]{0,80})=(\"(?:[^\"\\]|\\.)*\"|\S*)")
_LOGFMT_START = re.compile(
    r"^(?:[A-Za-z_@][\w.@/-]{0,80}=(?:\"(?:[^\"\\]|\\.){0,4000}\"|[^\s\"]\S{0,4000}|) ?){2}"
)
#: First characters of records in XML and of Linux's audit log.
_MARKED = frozenset("< tn")
_COMMENT = re.compile(r"#[A-Za-z][\w-]{1,30}(?::|\s)")
#: Fewer pairs also stand in prose.
_PAIRS = 3
#: What fields named `error` say when there is none.
_NO_ERROR = {"", "null", "nil", "none", "<nil>", "false", "no error", "ok", "success"}
#: JSON in JSON in JSON … is followed so far.
_NESTING = 3
#: Docker splits lines at 16 KiB; a shorter piece without an end of line is one that lost it.
_SPLIT = 16_000


class Parser:
    """Reads the lines of one file in order; `form` and `confidence` say what kind of log it turned out to be."""

    def __init__(self, reference: datetime, form: str = "", zone: str = "UTC") -> None:
        """Read by the format named, else by what each line is; take stamps that name no zone in `zone`."""
        self.stamps = Stamps(reference, zone)
        self._forced = form_named(form)
        self._tally = Tally(self._forced)
        self._fields = FieldReader(self.stamps)
        self._table = Table()
        self._text = TextReader(self.stamps)

    def parse(self, text: str, nesting: int = 0) -> Record:
        """Return what a line says."""
        form, first = self._forced, text[:1]
        if first in "{[ " and (not form or form in JSON or nesting) and (found := self._json(text, nesting)):
            return found
        if first in _MARKED and (found := self._marked(text, nesting)):
            return found
        if not nesting and (not form or form in FRAMES) and (framed := frame(text)):
            return self._framed(framed)
        if not nesting and (not form or form in TABLES) and (found := self._row(text)):
            return found
        if "=" in text and (not form or form == "logfmt") and _LOGFMT_START.match(text):
            pairs = {k: _unquoted(v) for k, v in _LOGFMT.findall(text)}
            if len(pairs) >= _PAIRS:
                return self._mapping(pairs, "logfmt", nesting)
        return self._plain(text, nesting)

    def _marked(self, text: str, nesting: int) -> Record | None:
        """Read a record in XML or of the audit log."""
        form = self._forced
        if "<" in text[:9]:
            marked = fields_of(text) if form in ("", "xml") else {}
            return self._mapping(marked, "xml", nesting) if marked else None
        record = self._text.audited(text) if form in ("", "audit") else None
        if record is not None and not nesting:
            self._tally.note("audit")
        return record

    def prepare(
        self,
        first: Sequence[str],
        last: Sequence[str] = (),
        dated: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        """Learn from a file's first and last lines what the others leave open.

        That is: the columns of a table, whether dates are written day first, and the year of stamps without one.
        `dated` gives lines in between that may name a year; it is asked where it is needed.
        """
        self.stamps.learn(first)
        if not self.stamps.seek_year(first):
            self.stamps.seek_year([*dated(), *last])
        for line in reversed(last):
            if self.stamps.settle(line):
                break
        for line in first[:_HEADERS]:
            self._table.header(line)

    @property
    def separator(self) -> str:
        """Return what parts the cells of the table that the file is; nothing where it is none, or has no quotes."""
        return self._table.separator if self._table.columns and self._table.separator != " " else ""

    @property
    def form(self) -> str:
        """Return the kind of log that most lines are."""
        return self._tally.form

    @property
    def confidence(self) -> float:
        """Return the share of lines that are of that kind, 0 to 1."""
        return self._tally.confidence

    @property
    def notes(self) -> list[str]:
        """Return what was assumed while reading."""
        return self.stamps.notes

    @property
    def tally(self) -> Tally:
        """Return the count of lines by kind of log."""
        return self._tally

    def _framed(self, found: Frame) -> Record:
        """Read what stands inside a frame."""
        self._tally.note(found.form)
        time = self.stamps.value(found.time) if found.time else None
        inner = self._within(found.inner, time, 1)
        # a stamp alone is no frame: only a line that goes on the one before it is marked as joined to it
        inner.framed = found.form == "cri" or bool(found.time and joins(found.inner))
        inner.time = time if time is not None else inner.time
        inner.stream, inner.part, inner.inner = found.stream, found.part, found.inner
        inner.service = found.service or inner.service
        inner.structured = True
        return inner

    def _within(self, text: str, time: float | None, nesting: int) -> Record:
        """Read the text inside a line; where that has a time, those of the text need no guess."""
        with nullcontext() if time is None else self.stamps.aside():
            return self.parse(text, nesting)

    def _row(self, text: str) -> Record | None:
        """Read a row of a table whose header was met, or meet the header."""
        table, comment = self._table, text[:1] == "#"
        learns = comment or not (table.columns or self._tally.forms)
        if learns and table.header(text, forced=self._forced in TABLES):
            self._tally.note(table.form)
            return Record(None, Level.unknown, text)
        if table.columns and not comment:
            cells = table.row(text)
            if cells is None or not table.names(cells):
                return None if cells is None else self._mapping(cells, table.form, 0)
            self._tally.note(table.form)
            return Record(None, Level.unknown, text)
        # what a table says of itself is neither a row nor a moment of the log
        return Record(None, Level.unknown, text) if comment and _COMMENT.match(text) else None

    def _json(self, text: str, nesting: int) -> Record | None:
        if text[:1] == " ":
            text = text.lstrip()
        if text[:1] != "{" and (text[:1] != "[" or text[1:3].lstrip()[:1] != "{"):
            return None
        rows = loads(text)
        if not rows:
            pairs = broken(text) if text[0] == "{" else {}
            return self._mapping(pairs, "json", 0) if len(pairs) > 1 else None
        record = self._mapping(rows[0], "", nesting)
        if len(rows) == 1:
            return record
        record.framed, record.more = True, tuple(self._mapping(row, "", 1) for row in rows[1:])
        return record

    def _mapping(self, fields: dict[str, Any], form: str, nesting: int) -> Record:
        read = self._fields.read(fields)
        if not nesting:
            self._tally.note(form or read.form)
        docker = read.form == "docker" and not nesting
        whole = read.message.endswith("\n")
        if docker and not whole and len(read.message.encode("utf-8", "replace")) >= _SPLIT:
            return Record(
                read.time,
                read.level,
                read.message,
                stream=read.stream,
                part=True,
                framed=True,
                inner=read.message,
            )
        record = _of(read)
        if nesting >= _NESTING or not read.message or read.composed:
            return record
        if docker or read.message.lstrip()[:1] == "{" or not read.level:
            record = nested(record, self._within(read.message.strip("\n"), record.time, nesting + 1))
        if docker:
            inner = read.message.rstrip("\n")
            record.stream, record.framed, record.inner = read.stream, joins(inner), inner
        return record

    def _plain(self, text: str, nesting: int = 0) -> Record:
        record = self._text.read(text)
        form = self._text.form
        if not nesting:
            self._tally.note(form)
        message = record.message
        if message[:1] == "{" and message[-1:] == "}" and nesting < _NESTING and record.structured:
            rows = loads(message)
            if rows:
                return nested(record, self._mapping(rows[0], "", nesting + 1))
        if form in ("syslog", "syslog5424") and joins(message):
            record.framed, record.inner = True, message
        return record


#: Headers of tables stand so near the start.
_HEADERS = 20


def detect(lines: Iterable[str], reference: datetime) -> tuple[str, float]:
    """Return what kind of log some first lines are of, and the share of them that is of that kind."""
    parser = Parser(reference)
    for line in lines:
        if line and not line.isspace() and not inside(line):
            parser.parse(line)
    return parser.form, parser.confidence


def _of(read: Read) -> Record:
    message, level = read.message.rstrip("\n"), read.level
    if read.error and not level and read.error.lower().strip("0") not in _NO_ERROR:
        level = Level.error
    if read.error and read.composed:
        message = read.error.partition("\n")[0]
    elif read.error and read.error.partition("\n")[0] not in message:
        message = f"{message}: {read.error.partition(chr(10))[0][:300]}"
    error = read.error or (message if "\n" in message else "")
    return Record(read.time, level, message, bool(level), read.service, read.host, error, structured=True)


def _unquoted(value: str) -> str:
    if value[:1] != '"':
        return value
    try:
        return str(json.loads(value))
    except ValueError:
        return value[1:-1]
