"""Reads the lines of a body into a ledger: what was met before by its shape, the rest by parsing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from math import nan

from agents.log_analysis.formats.events import Assembler, begins
from agents.log_analysis.formats.parsing import Parser
from agents.log_analysis.formats.text import clean, decode
from agents.log_analysis.scanning.ledger import FileFacts, Ledger
from agents.log_analysis.scanning.shapes import Known, Shapes
from agents.log_analysis.sources.bodies import Body

#: Lines between two looks at whether to go on, and two words on how far it is.
_TICK = 4_096
#: Of so many lines, fewer than one in `_WORTH` known means that shapes do not pay; asked again after `_REST` lines.
_TRIAL, _WORTH, _REST = 20_000, 10, 200_000

_Held = tuple[int, bytes, Known, float]
_Line = tuple[int, bytes]


class Reader:
    """One pass over a body. `tick` is called every few thousand lines; where it returns False, reading ends."""

    def __init__(
        self,
        body: Body,
        parser: Parser,
        ledger: Ledger,
        facts: FileFacts,
        *,
        file: int = 0,
        fallback: str = "",
        remember: bool = True,
    ) -> None:
        """Take what lines name no service of as of `fallback`; without `remember` every line is parsed."""
        self._body, self._parser, self._ledger, self._facts = body, parser, ledger, facts
        self._file, self._fallback = file, fallback
        self._shapes = Shapes(parser)
        self._moment = nan
        self._candidates: dict[int, bytes] = {}
        self._next: _Held | None = None
        self._misses = self._since = 0
        self._rest = 0 if remember else sys.maxsize
        self._tick: Callable[[int], bool] = lambda _lines: True
        self.stopped = False

    def read(self, start: int = 0, tick: Callable[[int], bool] | None = None) -> None:
        """Read from an offset to the end of the body."""
        self._tick = tick or self._tick
        lines = self._lines(start)
        held: _Held | None = None
        while True:
            other = self._quick(lines, held)
            if other is None:
                break
            assembler = Assembler(self._parser)
            for event in assembler.events(self._slow(other, lines, assembler)):
                time = event.record.time
                self._moment = self._moment if time is None else time
                service = event.record.service or self._fallback or event.record.logger
                known = self._ledger.take(event, self._file, self._moment, service, self._facts)
                raw = self._candidates.pop(event.line, None)
                if raw is not None:
                    self._shapes.learn(raw, event, self._ledger.names(event, service), known)
            self._candidates.clear()
            held, self._next = self._next, None
            if held is None:
                break
        self._settle(self._shapes.all())

    def _lines(self, start: int) -> Iterator[_Line]:
        number = 0
        for number, raw in enumerate(self._body.raws(start), 1):
            if not number % _TICK and not self._tick(number):
                self.stopped = True
                return
            yield number, raw

    def _quick(self, lines: Iterator[_Line], held: _Held | None) -> list[_Line] | None:
        """Add lines of known shapes up to one that is not; return that, with the line before where it may go on it.

        A line of a known shape is held back until the next: a trace may follow it.
        """
        find, add, file, moment = self._shapes.find, self._ledger.add, self._file, self._moment
        for number, raw in lines:
            found = find(raw)
            if found is None:
                break
            if held is not None:
                line, _, known, time = held
                moment = moment if time != time else time  # noqa: PLR0124 - a NaN differs from itself
                known.count += 1
                add(file, line, moment, known)
            held = (number, raw, *found)
        else:
            self._moment = moment
            self._emit(held)
            return None
        self._moment = moment
        if held is not None and begins(clean(decode(raw))):
            self._emit(held)
            held = None
        return [(number, raw)] if held is None else [(held[0], held[1]), (number, raw)]

    def _emit(self, held: _Held | None) -> None:
        if held is not None:
            time = held[3]
            self._moment = self._moment if time != time else time  # noqa: PLR0124 - a NaN differs from itself
            held[2].count += 1
            self._ledger.add(self._file, held[0], self._moment, held[2])

    def _slow(
        self, first: list[_Line], lines: Iterator[_Line], assembler: Assembler
    ) -> Iterator[tuple[int, str]]:
        """Yield lines to be parsed, up to one of a known shape that begins an event while nothing else is open."""
        for number, raw in first:
            yield number, self._text(number, raw)
        for number, raw in lines:
            if number >= self._rest and assembler.settled and (found := self._shapes.find(raw)):
                self._next = (number, raw, *found)
                return
            yield number, self._text(number, raw)

    def _text(self, number: int, raw: bytes) -> str:
        """Return the text of a line to parse, and note its shape."""
        self._shapes.interrupt()
        if raw[:1] == b"#":  # a header gives the lines after it another meaning
            self._settle(self._shapes.forget())
            self._candidates.clear()  # what is open yet was read before it
        elif number >= self._rest and self._shapes.note(raw):
            self._candidates[number] = raw
        self._misses += 1
        if self._misses == _TRIAL:
            if self._misses * _WORTH > (number - self._since) * (_WORTH - 1):
                self._rest = number + _REST
            self._misses, self._since = 0, number
        if self._shapes.full:
            self._settle(self._shapes.forget())
        return clean(decode(raw))

    def _settle(self, known: list[Known]) -> None:
        for one in known:
            if one.count and one.form:
                self._parser.tally.note(one.form, one.count)
        self._ledger.settle(known, self._facts)
