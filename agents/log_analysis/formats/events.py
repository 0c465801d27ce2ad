"""Joins lines to events: stack traces to the line before them, parts of split lines to each other; pure."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.parsing import Parser, Record

_EXCEPTION = (
    r"(?:[A-Za-z_$][\w$]*[.:]{1,2})*[A-Z][\w$]*(?:Exception|Error|Throwable|Fault|Interrupt|Warning|Exit)\b"
)
#: A line that can only be inside a trace.
_INSIDE = re.compile(
    r"^(?:\s+at \S|\s*\.\.\. \d+ (?:more|common frames)|\s*Caused by: |\s*Suppressed: |\s+File \""
    r"|\s*---> |\s*--- End of "
    r"|goroutine \d+ \[|\t\S+\.go:\d+|\s*During handling of the above|\s*The above exception was"
    r"|\[stacktrace\]|#\d+ "
    r"|created by \S+|\s+\^+\s*$|exit status \d+$|stack backtrace:|\s+\d+: \S+)"
)
#: A line that begins a trace, or ends a Python one.
_HEAD = re.compile(
    rf"^(?:Traceback \(most recent|panic: |fatal error: |Unhandled [Ee]xception|Exception in thread"
    rf"|thread '.*' panicked"
    rf"|(?:Uncaught )?{_EXCEPTION}(?::|$))"
)
_ROOT = re.compile(
    rf"^\s*(?:Caused by: |---> )?((?:Uncaught )?{_EXCEPTION}(?::.*)?|panic: .*|fatal error: .*)$"
)
#: First characters of lines inside traces: asked first, because most lines are not.
_TRACE_STARTS = " \t#.[gcCSD-TWe"
#: The last line of a Python trace names the exception, whatever its class is called.
_PYTHON_END = re.compile(r"^[A-Za-z_][\w.]*(?:: .*)?$")
_INDENTED = re.compile(r"^(?:\s{2,}|\t)\S")

#: An event takes no more lines than this; a runaway trace begins a new one.
_LINE_LIMIT = 2000
#: Streams (containers, stdout and stderr) that may be open at once, and how long one may keep others waiting.
_OPEN_LIMIT = 64
_PATIENCE = 5000


@dataclass(slots=True)
class Event:
    """One event: its first line, what it says, and the innermost exception of its trace with its line."""

    line: int
    record: Record
    last: int = 0
    lines: int = 1
    root: str = ""
    root_line: int = 0
    open: bool = True
    parts: str = ""
    unfinished: bool = False  # a Python trace without its last line yet

    @property
    def message(self) -> str:
        """Return what the event says, with the exception that caused it."""
        if not self.root or self.root in self.record.message:
            return self.record.message
        return f"{self.record.message} | {self.root}" if self.record.message.strip() else self.root

    @property
    def level(self) -> Level:
        """Return the level; an event with a trace and no level of its own is an error."""
        if self.root and not self.record.named:
            return max(Level.error, self.record.level)
        return self.record.level


def begins(text: str) -> bool:
    """Tell whether a line without framing begins an event, whatever stands before it."""
    first = text[:1]
    if first == "{":
        return True
    if not first or first in " \t" or (first in _TRACE_STARTS and _INSIDE.match(text)):
        return False
    return not _HEAD.match(text) and not _PYTHON_END.match(text)


class Assembler:
    """Turns the lines of one file into events, in the order of their first lines."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._queue: deque[Event] = deque()
        self._current: dict[str, Event] = {}

    @property
    def settled(self) -> bool:
        """Return whether a line that begins an event (`begins`) leaves nothing open that later lines could join."""
        event = self._current.get("")
        return len(self._current) <= 1 and (
            event is None or not (event.unfinished or event.record.framed or event.record.stream)
        )

    def events(self, lines: Iterable[tuple[int, str]]) -> Iterator[Event]:
        """Yield events; a blank line belongs to none and is not lost, for lines are counted elsewhere."""
        for number, text in lines:
            if not text or text.isspace():
                continue
            if self._joined(number, text):
                continue
            record = self._parser.parse(text)
            if record.framed and self._joined_framed(number, record):
                continue
            self._start(number, record)
            if len(self._queue) > 1:
                yield from self._ready(number)
        for event in self._queue:
            yield self._finished(event)
        self._queue.clear()

    def _joined(self, number: int, text: str) -> bool:
        """Add a line without framing to the event before it, where it can only belong there."""
        event = self._current.get("")
        first = text[0]
        if event is None or first == "{" or event.lines >= _LINE_LIMIT or event.record.framed:
            return False
        in_trace = event.root_line > 0 or event.lines > 1
        inside = first in _TRACE_STARTS and _INSIDE.match(text)
        if inside or (first in " \t" and _INDENTED.match(text) and not self._has_time(text)):
            self._add(event, number, text)
            return True
        if event.unfinished and (found := _PYTHON_END.match(text)):
            event.root, event.root_line, event.unfinished = found[0][:400], number, False
            self._add(event, number, text)
            return True
        if _HEAD.match(text) and (in_trace or event.level >= Level.warning):
            self._add(event, number, text)
            return True
        return False

    def _has_time(self, text: str) -> bool:
        return self._parser.stamps.find(text[:40]) is not None

    def _joined_framed(self, number: int, record: Record) -> bool:
        """Join container lines: P parts until the F part, and traces whose every line has a time of its own."""
        event = self._current.get(record.stream)
        if event is None:
            return False
        if event.record.part:
            event.parts += record.message
            event.last, event.lines = number, event.lines + 1
            if not record.part or len(event.parts) > 1 << 20:
                event.record = replace(
                    self._parser.parse(event.parts, 1),
                    time=event.record.time,
                    stream=record.stream,
                    framed=True,
                )
            return True
        text = record.inner
        near = (record.time or 0) - (event.record.time or 0) <= 1.0
        head = _HEAD.match(text) and event.level >= Level.error and near and not event.root_line
        if _INSIDE.match(text) or _INDENTED.match(text) or head:
            self._add(event, number, text)
            return True
        return False

    def _add(self, event: Event, number: int, text: str) -> None:
        event.last, event.lines = number, event.lines + 1
        if text.startswith("Traceback"):
            event.unfinished = True
        if found := _ROOT.match(text):
            event.root, event.root_line = found[1][:400], number

    def _start(self, number: int, record: Record) -> None:
        old = self._current.get(record.stream)
        if old is not None:
            old.open = False
        elif len(self._current) > _OPEN_LIMIT:
            for event in self._current.values():
                event.open = False
            self._current.clear()
        event = Event(number, record, number, parts=record.message if record.part else "")
        if found := _ROOT.match(record.message):
            event.root, event.root_line = found[1][:400], number
        self._current[record.stream] = event
        if record.stream:
            self._current[""] = event  # a bare line after it belongs to it
        self._queue.append(event)

    def _ready(self, number: int) -> Iterator[Event]:
        while self._queue and (not self._queue[0].open or number - self._queue[0].line > _PATIENCE):
            yield self._finished(self._queue.popleft())

    def _finished(self, event: Event) -> Event:
        if not event.root and event.record.error:
            roots = [m[1] for line in event.record.error.split("\n") if (m := _ROOT.match(line))]
            event.root, event.root_line = (roots[-1][:400] if roots else ""), event.line if roots else 0
        return event
