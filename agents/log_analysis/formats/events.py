"""Joins lines to events: stack traces to the line before them, parts of split lines to each other; pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from agents.log_analysis.formats.blocks import block_of
from agents.log_analysis.formats.documents import Document, opened
from agents.log_analysis.formats.event import Event
from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.parsing import Parser, Record
from agents.log_analysis.formats.traces import (
    begins,
    go_call,
    heads,
    indented,
    inside,
    of_text,
    python_end,
    root,
)

__all__ = ["Assembler", "Event", "begins"]

#: An event takes no more lines than this; a runaway trace begins a new one.
_LINE_LIMIT = 2000
#: Streams (containers, stdout and stderr) that may be open at once, and how long one may keep others waiting.
_OPEN_LIMIT = 64
_PATIENCE = 5000
#: First characters of what may be spread over lines until its end is told; rows of tables begin with anything.
_SPREAD = frozenset("{[<_ ")
#: What is kept of an exception, and of a line that came in parts.
_ROOT = 400
_PARTS = 1 << 20


class Assembler:
    """Turns the lines of one file into events, in the order of their first lines."""

    def __init__(self, parser: Parser) -> None:
        self._parser = parser
        self._queue: deque[Event] = deque()
        self._current: dict[str, Event] = {}
        self._document: Document | None = None
        self._last = 0  # line of the document
        self._parted = 0  # lines whose end has not come yet

    @property
    def settled(self) -> bool:
        """Return whether a line that begins an event (`begins`) leaves nothing open that later lines could join."""
        event = self._current.get("")
        return (
            self._document is None
            and len(self._current) <= 1
            and (event is None or not (event.waits or event.record.framed or event.record.stream))
        )

    def events(self, lines: Iterable[tuple[int, str]]) -> Iterator[Event]:
        """Yield events; a blank line belongs to none and is not lost, for lines are counted elsewhere."""
        for number, text in lines:
            if not text or text.isspace():
                if self._document is not None and not self._document.goes_on(""):
                    self._close()
                continue
            spread = self._document is not None or text[0] in _SPREAD or '"' in text
            if spread and self._spread(number, text):
                continue
            if self._joined(number, text):
                continue
            record = self._parser.parse(text)
            if (record.framed or self._parted) and self._joined_framed(number, record):
                continue
            self._start(number, record, text)
            if len(self._queue) > 1:
                yield from self._ready(number)
        self._close()
        for event in self._queue:
            yield self._finished(event)
        self._queue.clear()

    def _spread(self, number: int, text: str) -> bool:
        """Add a line to the document that is open or that it opens; return whether it belongs there."""
        document = self._document
        if document is not None and not document.goes_on(text):
            self._close()
            document = None
        if document is None:
            separator = self._parser.separator if '"' in text else ""
            if text[0] in _SPREAD or separator:
                document = self._document = opened(number, text, separator)
            if document is None:
                return False
        document.add(text)
        self._last = number
        if document.over:
            self._close()
        return True

    def _close(self) -> None:
        """Read the document that is open as one line."""
        document, self._document = self._document, None
        if document is not None:
            event = self._start(document.number, self._parser.parse(document.text), "", document.lines)
            event.last = self._last

    def _joined(self, number: int, text: str) -> bool:
        """Add a line without framing to the event before it, where it can only belong there."""
        event = self._current.get("")
        first = text[0]
        if event is None or first == "{" or event.lines >= _LINE_LIMIT or event.record.framed:
            return False
        if event.waits and self._awaited(event, number, text):
            return True
        if inside(text) or (first in " \t" and indented(text) and (event.dated or not self._has_time(text))):
            self._add(event, number, text)
            return True
        if heads(text) and event.continues(text):
            self._add(event, number, text)
            return True
        return False

    def _awaited(self, event: Event, number: int, text: str) -> bool:
        """Add the line that an open block or trace waits for: it looks like any other."""
        if event.block is not None:
            taken = event.block.takes(text)
            if taken:
                event.last, event.lines = number, event.lines + 1
            else:
                event.close()
            return taken
        if event.waits == "go":
            if not go_call(text):
                return False
            self._add(event, number, text)
            return True
        if text[0] in " \t":
            return False
        if event.waits == "rust":
            if not inside(text):
                event.root = f"{event.root} {text.strip()}"[:_ROOT]
        elif end := python_end(text):
            event.root, event.root_line = (event.root, event.root_line) if event.settled else (end, number)
        else:
            return False
        event.waits = ""
        event.last, event.lines = number, event.lines + 1
        return True

    def _has_time(self, text: str) -> bool:
        return self._parser.stamps.find(text[:40]) is not None

    def _joined_framed(self, number: int, record: Record) -> bool:
        """Join container lines: P parts until the F part, and traces whose every line has a time of its own."""
        event = self._current.get(record.stream)
        if event is None:
            return False
        if event.record.part:
            event.parts.append(record.inner or record.message)
            event.size += len(record.inner)
            event.last, event.lines = number, event.lines + 1
            if not record.part or event.size > _PARTS:
                self._whole(event, record.stream)
            return True
        if not record.framed:
            return False
        text = record.inner
        if event.waits and text and self._awaited(event, number, text):
            return True
        near = (record.time or 0) - (event.record.time or 0) <= 1.0
        head = event.level >= Level.error and near and not event.root_line and heads(text)
        if head or inside(text) or (indented(text) and not record.part):
            self._add(event, number, text)
            return True
        return False

    def _whole(self, event: Event, stream: str) -> None:
        """Read the parts of a line as one."""
        text = "".join(event.parts).rstrip("\n")
        time, service = event.record.time, event.record.service
        record = self._parser.parse(text, 1)
        record.time, record.service, record.stream = time, service or record.service, stream
        record.framed = record.structured = True
        event.record = record
        event.parts = []
        self._parted -= 1
        if found := root(event.record.message):
            event.root, event.root_line = found, event.line

    def _add(self, event: Event, number: int, text: str) -> None:
        event.last, event.lines = number, event.lines + 1
        event.chained = "exception" in text and ("During handling" in text or "direct cause" in text)
        if text.startswith("Traceback"):
            event.waits = "python"
        elif text.startswith(("goroutine ", "[signal ", "created by ")) or ".go:" in text[:_ROOT]:
            event.waits = "go"
        elif "Suppressed:" in text[:60]:
            event.suppressed = True
        elif event.root and "direct cause of the following" in text:
            event.settled = True
        if not event.settled and (found := root(text, suppressed=event.suppressed)):
            event.root, event.root_line = found, number
            self._waiting(event, text)

    def _waiting(self, event: Event, text: str) -> None:
        if text.startswith("thread '") and text.endswith(":"):
            event.waits = "rust"

    def _start(self, number: int, record: Record, text: str, lines: int = 1) -> Event:
        old = self._current.get(record.stream)
        if old is not None:
            old.open = False
        elif len(self._current) > _OPEN_LIMIT:
            for event in self._current.values():
                event.open = False
            self._current.clear()
        event = Event(number, record, number + lines - 1, lines, parts=[record.inner] if record.part else [])
        if found := root(record.message):
            event.root, event.root_line = found, number
        self._waiting(event, record.message)
        if record.message.startswith("Traceback") or record.message.endswith(
            "Traceback (most recent call last):"
        ):
            event.waits = "python"
        event.dated = record.time is not None and text[:1] not in " \t" and text != ""
        headed = record.time is not None and not record.level
        if (headed or text[:1] in "#=") and text and (block := block_of(text, record)) is not None:
            event.block, event.waits = block, "block"
        self._current[record.stream] = event
        if record.stream:
            self._current[""] = event  # a bare line after it belongs to it
        self._queue.append(event)
        self._parted += record.part
        for more in record.more:  # further records of the same line
            self._queue.append(Event(number, more, number, lines=0, open=False))
        return event

    def _ready(self, number: int) -> Iterator[Event]:
        while self._queue and (not self._queue[0].open or number - self._queue[0].line > _PATIENCE):
            yield self._finished(self._queue.popleft())

    def _finished(self, event: Event) -> Event:
        if event.block is not None:
            event.close()
        if event.record.part:
            self._whole(event, event.record.stream)
        if not event.root and event.record.error:
            event.root = of_text(event.record.error)
            event.root_line = event.line if event.root else 0
        return event
