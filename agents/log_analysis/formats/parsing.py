"""Reads one line as a record: container framing, JSON, logfmt, tables, syslog, access logs, plain text; pure."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from agents.log_analysis.formats.detection import Tally, form_named
from agents.log_analysis.formats.fields import FieldReader, Read
from agents.log_analysis.formats.levels import Level, from_status, from_text, hint
from agents.log_analysis.formats.times import Stamps

_CRI = re.compile(r"^(\S{19,35}) (stdout|stderr) ([FP]) ?(.*)$", re.DOTALL)
_COMPOSE = re.compile(r"^([A-Za-z0-9][\w.-]{0,60}) +\| ?")
_KUBECTL = re.compile(r"^\[pod/([\w.-]+)/([\w.-]+)\] ")
_LOGFMT = re.compile(r"([A-Za-z_@][\w.@-]*)=(\"(?:[^\"\\]|\\.)*\"|\S*)")
_LOGFMT_START = re.compile(r"^(?:[A-Za-z_@][\w.@-]*=\S+ ?|\w+=\"[^\"]*\" ?){2}")
_SYSLOG_HEAD = re.compile(r"^\s*([\w.-]+) ([\w./()@:-]{1,60}?)(?:\[(\d+)\])?: ")
_SYSLOG_5424 = re.compile(r"^\s*([\w.-]+) ([\w./-]+) (\S+) (\S+) (?:-|\[.*?\]) ?")
_STATUS = re.compile(r"\" (\d{3}) (?:\d+|-)|\bstatus[:=] ?\"?(\d{3})\b|HTTP/\d\.\d\"?\)? (\d{3})\b")
_SPRING = re.compile(r"^\s*(?:\d+ )?(?:--- )?(?:\[[^\]]*\] ?)*([\w.$#/-]{3,80})\s*:\s+")
_DASHED = re.compile(r"^(?:\[[^\]]{0,40}\]\s+)?([a-z][\w.$-]{2,60}) - (?=\S)")
_EDGE = " \t-|:,]>)"
_JSON_KEY = re.compile(r"\"(@?\w[\w.]*)\"\s*:\s*(?:\"((?:[^\"\\]|\\.){0,2000})\"|(-?\d+(?:\.\d+)?))")

#: What stands between the time and the level (process id, thread) is dropped if it is this short.
_BEFORE_LEVEL = 48
#: What fields named `error` say when there is none.
_NO_ERROR = {"", "null", "nil", "none", "<nil>", "false", "0", "no error", "ok", "success"}
#: JSON in JSON in JSON … is followed so far.
_NESTING = 3


@dataclass(frozen=True, slots=True)
class Record:
    """What one line says. `named` tells whether it names its level itself; `stream` keeps outputs apart."""

    time: float | None
    level: Level
    message: str
    named: bool = False
    service: str = ""
    host: str = ""
    error: str = ""
    stream: str = ""
    part: bool = False
    framed: bool = False
    structured: bool = False
    inner: str = ""


class Parser:
    """Reads the lines of one file in order; `form` says what kind of log it turned out to be."""

    def __init__(self, reference: datetime, form: str = "", zone: str = "UTC") -> None:
        """Read by the format named, else by what each line is; take stamps that name no zone in `zone`."""
        self.stamps = Stamps(reference, zone)
        self._forced = form_named(form)
        self._tally = Tally(self._forced)
        self._fields = FieldReader(self.stamps)
        self._columns: list[str] = []
        self._separator = ","

    def parse(self, text: str, nesting: int = 0) -> Record:
        """Return what a line says."""
        if text[:1] == "{":
            return self._json(text, nesting)
        if not nesting and (found := self._framed(text)):
            return found
        if self._columns and not nesting and not text.startswith("#") and (found := self._row(text)):
            return found
        if text.startswith("#") or not self._tally.forms:
            self._header(text)
        if "=" in text and _LOGFMT_START.match(text):
            pairs = {k: _unquoted(v) for k, v in _LOGFMT.findall(text)}
            if len(pairs) >= 3:  # noqa: PLR2004 - fewer pairs also stand in prose
                return self._mapping(pairs, "logfmt", nesting)
        return self._plain(text, nesting)

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

    def _note(self, form: str) -> None:
        self._tally.note(form)

    def _framed(self, text: str) -> Record | None:
        """Read what a container runtime or a tool put round the line."""
        if (" stdout " in text[:50] or " stderr " in text[:50]) and (found := _CRI.match(text)):
            self._note("cri")
            time, stream, part, rest = found.groups()
            inner = self.parse(rest, 1)
            stamp = self.stamps.value(time)
            return replace(inner, time=stamp, stream=stream, part=part == "P", framed=True, inner=rest)
        found = _COMPOSE.match(text) if "|" in text[:64] else None
        if found is None and text.startswith("[pod/"):
            found = _KUBECTL.match(text)
        if found is None:
            return None
        self._note("prefixed")
        inner = self.parse(text[found.end() :], 1)
        return replace(inner, stream=found[1], service=found[1])

    def _header(self, text: str) -> None:
        """Learn the columns from a W3C, Zeek or CSV header."""
        if text.startswith(("#Fields:", "#fields")):
            self._columns = text.split()[1:]
            self._separator = "\t" if "\t" in text else " "
            return
        names = text.strip().split(",")
        if len(names) >= 3 and all(re.fullmatch(r"\"?[A-Za-z_@][\w .@-]{0,40}\"?", n) for n in names):  # noqa: PLR2004 - two are prose
            known = {n.strip('" ').lower() for n in names}
            if known & {"timestamp", "time", "date", "datetime", "@timestamp", "timeunixnano"}:
                self._columns, self._separator = [n.strip('" ') for n in names], ","

    def _row(self, text: str) -> Record | None:
        if self._separator == ",":
            try:
                cells = next(csv.reader([text], strict=True), [])
            except csv.Error:
                return None
        else:
            cells = text.split(self._separator)
        if not len(self._columns) - 1 <= len(cells) <= len(self._columns) + 8:
            return None
        return self._mapping(dict(zip(self._columns, cells, strict=False)), "table", 0)

    def _json(self, text: str, nesting: int) -> Record:
        try:
            fields = json.loads(text)
        except (ValueError, RecursionError):
            return self._broken_json(text)
        return self._mapping(fields, "json", nesting)

    def _broken_json(self, text: str) -> Record:
        """Read the fields of a JSON line that was cut, or that never was valid."""
        pairs = {m[1]: m[2] if m[3] is None else float(m[3]) for m in _JSON_KEY.finditer(text[:60_000])}
        return self._mapping(pairs, "json (broken)", 0) if len(pairs) > 1 else self._plain(text)

    def _mapping(self, fields: dict[str, Any], form: str, nesting: int) -> Record:
        if not nesting:
            self._note(form)
        read = self._fields.read(fields)
        record = _of(read)
        if nesting >= _NESTING or not read.message or read.composed:
            return record
        if read.message.lstrip()[:1] == "{" or not read.level:
            return _nested(record, self.parse(read.message.strip(), nesting + 1))
        return record

    def _plain(self, text: str, nesting: int = 0) -> Record:
        if not nesting:
            self._note("text")
        found = self.stamps.find(text)
        time, rest = None, text
        if found:
            time, start, end = found
            rest = text[end:] if start <= _BEFORE_LEVEL else text
        level, stop = from_text(rest)
        if not level and found and not found[1]:
            level = from_text(text)[0] if text[:1] in "IWEF<" else level
        named = bool(level)
        service, host, message = _head(rest, stop)
        status = _STATUS.search(text) if '"' in text or "tatus" in text else None
        if status:
            level = max(level, from_status(int(next(g for g in status.groups() if g))))
        return Record(
            time, level or hint(message), message, named, service, host, structured=found is not None
        )


def _head(rest: str, stop: int) -> tuple[str, str, str]:
    """Return service, host and message of what follows the time stamp; `stop` is where the level ends."""
    if (found := _SYSLOG_HEAD.match(rest)) and (not stop or stop >= found.end()):
        return found[2].partition("(")[0].rsplit("/", 1)[-1], found[1], rest[found.end() :]
    if 0 < stop <= _BEFORE_LEVEL + 12:
        rest = rest[stop:]
        found = _SPRING.match(rest.lstrip(_EDGE))
        if found and "." in found[1]:
            return found[1], "", rest.lstrip(_EDGE)[found.end() :]
    message = rest.strip().lstrip(_EDGE) or rest.strip()
    if stop and (found := _DASHED.match(message)):
        return found[1], "", message[found.end() :]
    return "", "", message


def _of(read: Read) -> Record:
    message, level = read.message, read.level
    if read.error and not level and read.error.lower() not in _NO_ERROR:
        level = Level.error
    if read.error and read.composed:
        message = read.error.partition("\n")[0]
    elif read.error and read.error.partition("\n")[0] not in message:
        message = f"{message}: {read.error.partition(chr(10))[0][:300]}"
    return Record(
        read.time,
        level,
        message,
        bool(level),
        read.service,
        read.host,
        read.error,
        structured=True,
    )


def _nested(outer: Record, inner: Record) -> Record:
    """Join a record with what its message field says: the inner names the event, the outer the time."""
    return replace(
        outer,
        time=outer.time if outer.time is not None else inner.time,
        level=max(outer.level, inner.level) if outer.named else inner.level,
        named=outer.named or inner.named,
        message=inner.message or outer.message,
        service=inner.service if inner.structured and inner.service and not outer.service else outer.service,
        error=inner.error or outer.error,
    )


def _unquoted(value: str) -> str:
    if value[:1] != '"':
        return value
    try:
        return str(json.loads(value))
    except ValueError:
        return value[1:-1]
