"""Events of several lines of which only the first is marked: slow queries, reports, heads of two lines; pure."""

from __future__ import annotations

import re
from typing import Protocol

from agents.log_analysis.formats.levels import Level, from_word
from agents.log_analysis.formats.record import Record

#: What is kept of the message of a block.
_SHOWN = 400
_QUERY = ("# Time: ", "# User@Host: ")
#: How the server says that it begins a new file; the rest of its head follows.
_SERVER = re.compile(r"\S{1,200}, Version: \S{1,100} .{0,200}started with:$")
_QUIET = re.compile(r"(?:use \S{1,200};|SET (?:timestamp|last_insert_id|insert_id)=.{0,60};)", re.IGNORECASE)
_SET_TIME = re.compile(r"SET timestamp=(\d{10}(?:\.\d{1,9})?);", re.IGNORECASE)
_REPORT = re.compile(r"=([A-Z]{3,12}) REPORT==== \d{1,2}-")
#: What a report is of, where that is no level.
_REPORTS = {"CRASH": Level.error, "SUPERVISOR": Level.error, "PROGRESS": Level.info}
#: The class and method that java.util.logging puts on a line of its own, with the time; the level follows.
_JUL_HEAD = re.compile(r"\s?([a-z_$][\w$]{0,80}(?:\.[\w$]{1,80}){0,20}\.[A-Z][\w$]{0,80}) ([\w$<>]{1,80})$")
_JUL_LEVEL = re.compile(r"([^\W\d_]{2,16})[:：] ")
_DATED = re.compile(r"\[?(?:\d{4}[-/]\d\d[-/]\d\d|\d\d:\d\d:\d\d)")


class Block(Protocol):
    """The lines after the first of one event while they come in."""

    def takes(self, text: str) -> bool:
        """Tell whether a line belongs to the event, and take it."""

    def settle(self, record: Record) -> None:
        """Write what the lines tell into the record of the first."""


class Query:
    """A statement of MySQL's slow query log: lines of comments, then the statement."""

    def __init__(self, first: str) -> None:
        self._timed = first.startswith(_QUERY[0])
        self._hosted = not self._timed
        self._facts = ""
        self._words: list[str] = []
        self._moment: float | None = None

    def takes(self, text: str) -> bool:
        """Tell whether a line belongs to the statement."""
        if text.startswith("# "):
            return self._commented(text)
        if _SERVER.match(text):
            return False
        if found := _SET_TIME.match(text):
            self._moment = float(found[1])
        if not _QUIET.fullmatch(text.strip()) and sum(map(len, self._words)) < _SHOWN:
            self._words.append(text.strip())
        return True

    def _commented(self, text: str) -> bool:
        again = text.startswith(_QUERY[0]) or (text.startswith(_QUERY[1]) and self._hosted)
        if again or (self._words and text.startswith(_QUERY[1])):
            return False
        self._hosted = self._hosted or text.startswith(_QUERY[1])
        if text.startswith("# Query_time:"):
            self._facts = " ".join(text[2:].split())
        elif text.startswith("# administrator command:"):
            self._words.append(text[2:].strip())
        return True

    def settle(self, record: Record) -> None:
        """Put the statement before its times."""
        told = " ".join(self._words)[:_SHOWN]
        record.message = f"{told} # {self._facts}" if self._facts else told or record.message
        record.time = self._moment if record.time is None else record.time


class Report:
    """A report of Erlang's old logger: its level and time in the first line, up to the next one."""

    def __init__(self, level: Level) -> None:
        self._level = level
        self._words: list[str] = []

    def takes(self, text: str) -> bool:
        """Tell whether a line belongs to the report."""
        if text.startswith("=") or _DATED.match(text):
            return False
        if sum(map(len, self._words)) < _SHOWN:
            self._words.append(" ".join(text.split()))
        return True

    def settle(self, record: Record) -> None:
        """Make what the report says the message."""
        record.message = " ".join(self._words)[:_SHOWN] or record.message
        record.level, record.named = self._level or record.level, True


class Head:
    """A line with time, class and method; the next one has the level and the message."""

    def __init__(self, service: str) -> None:
        self._service = service
        self._level = Level.unknown
        self._message = ""

    def takes(self, text: str) -> bool:
        """Tell whether a line is the second half."""
        found = None if self._level else _JUL_LEVEL.match(text)
        if found is None or not (level := from_word(found[1])):
            return False
        self._level, self._message = level, text[found.end() :]
        return True

    def settle(self, record: Record) -> None:
        """Write level, class and message into the record."""
        if self._level:
            record.level, record.named, record.service = self._level, True, self._service
            record.message = self._message


def block_of(text: str, record: Record) -> Block | None:
    """Return the block that a line begins."""
    first = text[0]
    if first == "#" and text.startswith(_QUERY):
        return Query(text)
    if first == "=" and (found := _REPORT.match(text)):
        return Report(_REPORTS.get(found[1]) or from_word(found[1]))
    if record.time is not None and not record.level and (head := _JUL_HEAD.match(record.message)):
        return Head(head[1])
    return None
