"""Learns of one line what all lines of its shape come to, where reading variants of it shows no other way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from agents.log_analysis.formats.documents import may_open
from agents.log_analysis.formats.events import Event, begins
from agents.log_analysis.formats.parsing import Parser, Record
from agents.log_analysis.scanning.moments import Moments, Stamp
from agents.log_analysis.scanning.probing import Digits, Probe, numbers_in, whole

#: What may stand round a value in a message that is put together of fields.
_AROUND = "\"',;:()[]{}<>"
#: More numbers that matter than this make a shape that never comes again.
_SPANS = 6


#: After so many keys of one shape that held, a new one (a host, an order) is asked about less.
_SURE = 8


@dataclass(slots=True)
class Known:
    """What a line of one shape comes to; `count` is how many there were since the last settlement."""

    template: int
    level: int
    service: int
    host: int
    change: bool
    seen: int
    junk: int
    structured: bool
    form: str
    count: int = 0
    #: From so many on, one is parsed all the same: the values of templates are told from samples.
    look: int = 8


@dataclass(slots=True)
class Shape:
    """One shape: where its time stands, which other digits matter, and what it comes to for each of these."""

    stamp: Stamp | None
    spans: tuple[slice, ...]
    #: Numbers of JSON: in a line where one of these is none, it is no JSON.
    numbers: tuple[Digits, ...]
    #: None: other digits of such a line may change what it comes to.
    known: dict[bytes, Known | None]
    #: What kind of log the line is of that it was learned from, where nothing else had to be asked of that line.
    form: str = ""
    #: Keys that were met once: many never come again, and to learn one costs as much as to parse five lines.
    met: set[bytes] = field(default_factory=set)

    def key(self, raw: bytes) -> bytes:
        """Return the parts of a line that tell its lines apart."""
        return b"\0".join([raw[span] for span in self.spans])


class Line(NamedTuple):
    """One line, with its shape, as text."""

    raw: bytes
    key: bytes
    text: str


class Learner:
    """Makes shapes of lines, and tells whether a line of one comes to what its shape and its key say."""

    def __init__(self, parser: Parser, moments: Moments) -> None:
        self._probe, self._moments = Probe(parser), moments

    def shape(self, line: Line, record: Record, names: Sequence[str]) -> Shape | None:
        """Return the shape of a line, or None where other lines of it may come to anything."""
        raw, key, probe, numbers = line.raw, line.key, self._probe, numbers_in(line.raw)
        same = probe.agrees(raw, record)
        if same is None or numbers is None or not whole(raw, numbers):
            return None
        stamp = None
        if record.time is None:
            if not probe.timeless(key[: len(raw)], raw):
                return None
        else:
            stamp = self._moments.locate(raw, key, line.text, record.time)
            if stamp is None or not probe.moves(raw, stamp.whole):
                return None
        spans = _named(raw, key, names)
        if spans is None:
            return None
        kept, form = (*spans, stamp.whole) if stamp else tuple(spans), probe.form
        if not probe.holds(raw, same, kept, numbers):
            spans, form = spans + probe.telling(raw, same, kept), ""
        return Shape(stamp, tuple(spans), tuple(numbers), {}, form) if len(spans) <= _SPANS else None

    def form(self, line: Line, record: Record, names: Sequence[str], shape: Shape) -> str:
        """Return what kind of log a line of a shape is of; nothing where lines with its key may come to anything."""
        same = self._probe.agrees(line.raw, record)
        form, places = self._probe.form, _named(line.raw, line.key, names)
        kept = (*shape.spans, shape.stamp.whole) if shape.stamp else shape.spans
        if same is None or places is None or not all(place in kept for place in places):
            return ""
        stamp = None
        if record.time is not None:
            stamp = self._moments.locate(line.raw, line.key, line.text, record.time)
        if (stamp and stamp.whole) != (shape.stamp and shape.stamp.whole):
            return ""
        patterns = 4 if len(shape.known) < _SURE else 2
        return form if self._probe.holds(line.raw, same, kept, shape.numbers, patterns) else ""


def alone(event: Event, text: str) -> bool:
    """Tell whether an event is one whole line that nothing goes on, and that goes on nothing."""
    record = event.record
    joined = event.lines != 1 or event.root or event.waits or may_open(text)
    return begins(text) and not (joined or record.framed or record.stream or record.part or record.more)


def plain_text(raw: bytes) -> str | None:
    """Return the text of a line in which bytes and characters need no repair, else None."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return None
    return text if text.replace("\t", " ").isprintable() else None


def _named(raw: bytes, key: bytes, names: Sequence[str]) -> list[slice] | None:
    """Return where names with digits stand in a line; None where one does not."""
    spans: list[slice] = []
    for name in names:
        found = _places(raw, key, name.encode())
        if found is None:  # it may be two parts that were put together
            both = [_places(raw, key, part.strip(_AROUND).encode()) for part in name.rpartition("=")[::2]]
            if None in both:
                return None
            found = [place for part in both if part for place in part]
        spans += [place for place in found if place not in spans]
    return spans


def _places(raw: bytes, key: bytes, name: bytes) -> list[slice] | None:
    """Return where a name with digits stands in a line; None where it has some and does not stand there."""
    if not name:
        return []
    found, at = [], raw.find(name)
    while at >= 0:
        place = slice(at, at + len(name))
        if raw[place] != key[place] or any(48 <= byte <= 57 for byte in name):  # noqa: PLR2004 - 0 to 9
            found.append(place)
        at = raw.find(name, at + 1)
    return found if found or not any(48 <= byte <= 57 for byte in name) else None  # noqa: PLR2004 - 0 to 9
