"""Remembers what lines of one shape come to, so that a line which differs in digits alone is not parsed again."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from math import nan

from agents.log_analysis.formats.events import Event, begins
from agents.log_analysis.formats.parsing import Parser, Record
from agents.log_analysis.scanning.moments import Moments, Stamp

#: A shape is a line with each digit as 0, and each long hexadecimal number too; nothing moves in it.
DIGITS = bytes.maketrans(b"123456789", b"000000000")
_HEX = re.compile(rb"\b(?:0x)?(?:[0a-f]{8}[0a-f-]*|[0A-F]{8}[0A-F-]*)")
#: What may stand round a value in a message that is put together of fields.
_AROUND = "\"',;:()[]{}<>"
_HEX_DIGITS = b"0123456789abcdef-"
_ZEROS = b"0" * 64
#: Where a long number stands is remembered for lines of one length and one head, so many places for each.
_HEAD, _PLACES = 40, 8
#: Longer lines seldom repeat, and their shapes would fill the memory.
LINE_LIMIT = 2_000
#: Bytes that all shapes of one file take at most, with what each takes besides its text.
_MEMORY, _OVERHEAD = 24 << 20, 700
#: Numbers of up to three digits can be a level, a status or a priority; longer ones never are.
_SHORT = re.compile(rb"(?<![\w.])[0-9]{1,3}(?![\w.])|(?<=<)[0-9]{1,3}(?=>)")
#: Two readings of a line with other short numbers: where they come out alike, none of the numbers matters.
#: Each is told by its length: an error, a fatal level and none; then a good status, a middle level and some.
_PROBES = ((b"0", b"60", b"503"), (b"3", b"30", b"200"))
#: More numbers that matter than this make a shape that never comes again.
_SPANS = 6


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
    known: dict[bytes, Known]

    def key(self, raw: bytes) -> bytes:
        """Return the parts of a line that tell its lines apart."""
        return b"\0".join([raw[span] for span in self.spans])


def hexed(shape: bytes) -> bytes:
    """Return a shape with its long hexadecimal numbers folded, lengths kept."""
    return _HEX.sub(_folded, shape)


def _folded(found: re.Match[bytes]) -> bytes:
    text = found[0]
    return b"0" * len(text) if b"0" in text[2:] else text


class Shapes:
    """The shapes of one file. A shape is learned when it is met for the second time."""

    def __init__(self, parser: Parser) -> None:
        #: True: met once; False: nothing that can be learned.
        self.known: dict[bytes, Shape | bool] = {}
        self._parser = parser
        self._probe: Parser | None = None
        self._moments = Moments(parser.stamps)
        self._used = 0
        self._places: dict[tuple[int, bytes], list[tuple[tuple[int, int], ...]]] = {}

    def _fold(self, raw: bytes, key: bytes) -> Shape | bool | None:
        """Return what is known of a line with long hexadecimal numbers; where they stood before is tried first."""
        known = self.known
        for places in self._places.get((len(key), key[:_HEAD]), ()):
            folded = key
            for start, end in places:
                if raw[start:end].translate(None, _HEX_DIGITS):
                    break
                folded = b"%b%b%b" % (folded[:start], _ZEROS[: end - start], folded[end:])
            else:
                if shape := known.get(folded):
                    return shape
        return known.get(hexed(key))

    def forget(self) -> list[Known]:
        """Forget all shapes (a new header gives lines another meaning); return what has to be settled."""
        settled = self.all()
        self.known.clear()
        self._places.clear()
        self._used, self._probe = 0, None
        return settled

    def all(self) -> list[Known]:
        """Return everything that is known."""
        return [k for shape in self.known.values() if isinstance(shape, Shape) for k in shape.known.values()]

    @property
    def full(self) -> bool:
        """Return whether it is time to forget."""
        return self._used > _MEMORY

    def note(self, raw: bytes) -> bool:
        """Note a line that is not known; return whether its shape was met before, and may be learned."""
        if len(raw) > LINE_LIMIT:
            return False
        key = hexed(raw.translate(DIGITS))
        if key in self.known:
            return self.known[key] is not False
        self.known[key] = True
        self._used += len(key) + 100
        return False

    def learn(self, raw: bytes, event: Event, names: list[str], known: Known) -> None:
        """Keep what an event of one line came to, if nothing but its shape decides that."""
        record = event.record
        text = _plain_text(raw)
        if (
            text is None
            or event.lines > 1
            or event.root
            or record.framed
            or record.stream
            or not begins(text)
        ):
            return
        key = hexed(raw.translate(DIGITS))
        shape = self.known.get(key)
        if not isinstance(shape, Shape):
            shape = self._shape(raw, key, text, record, names)
            self.known[key] = shape or False
            if shape is None:
                return
            self._note_places(raw.translate(DIGITS))
        place = shape.key(raw)
        if place in shape.known:  # parsed once more: as a sample, or because a trace went on it
            return
        self._probe = self._probe or copy.deepcopy(self._parser)
        self._probe.parse(text)
        known.form = self._probe.tally.last
        shape.known[place] = known
        self._used += len(key) + _OVERHEAD

    def _note_places(self, key: bytes) -> None:
        """Note where the long hexadecimal numbers of a line stand, for lines of its length and head."""
        found = tuple(m.span() for m in _HEX.finditer(key) if b"0" in m[0][2:] and m[0].strip(b"0-x"))
        plain = all(end - start <= len(_ZEROS) and key[start : start + 2] != b"0x" for start, end in found)
        if found and plain:
            places = self._places.setdefault((len(key), key[:_HEAD]), [])
            if found not in places and len(places) < _PLACES:
                places.append(found)

    def _shape(self, raw: bytes, key: bytes, text: str, record: Record, names: list[str]) -> Shape | None:
        stamp = None
        if record.time is not None:
            stamp = self._moments.locate(raw, key, text, record.time)
            if stamp is None:
                return None
        spans: list[slice] = []
        for name in names:
            found = _places(raw, key, name.encode())
            if found is None:  # the part of a name that was put together
                found = _places(raw, key, name.rpartition("=")[2].strip(_AROUND).encode())
            if found is None:
                return None
            spans += [place for place in found if place not in spans]
        taken = (*spans, *((stamp.whole,) if stamp else ()))
        numbers = [m.span() for m in _SHORT.finditer(raw)]
        numbers = [n for n in numbers if not any(n[0] < t.stop and t.start < n[1] for t in taken)]
        if self._depends(raw, numbers, record):
            some = [n for n in numbers if self._depends(raw, [n], record)]
            spans += [slice(*n) for n in some or numbers]
        return Shape(stamp, tuple(spans), {}) if len(spans) <= _SPANS else None

    def _depends(self, raw: bytes, numbers: list[tuple[int, int]], record: Record) -> bool:
        """Tell whether other numbers at these places would change what the line comes to."""
        self._probe = self._probe or copy.deepcopy(self._parser)
        same = (record.level, record.named, record.structured)
        for probe in _PROBES if numbers else ():
            other = bytearray(raw)
            for start, end in numbers:
                other[start:end] = probe[end - start - 1]
            read = self._probe.parse(other.decode())
            if (read.level, read.named, read.structured) != same:
                return True
        return False

    def find(self, raw: bytes) -> tuple[Known, float] | None:
        """Return what a line comes to, and when (NaN: it has no time), if its shape tells."""
        key = raw.translate(DIGITS)
        shape = self.known.get(key) or self._fold(raw, key)
        if not isinstance(shape, Shape):
            return None
        fact = shape.known.get(b"\0".join([raw[s] for s in shape.spans]) if shape.spans else b"")
        if fact is None:
            return None
        if fact.count >= fact.look:
            fact.look += (fact.look >> 1) + 1
            return None
        if shape.stamp is None:
            return fact, nan
        time = self._moments.read(shape.stamp, raw)
        return None if time is None else (fact, time)


def _plain_text(raw: bytes) -> str | None:
    """Return the text of a line in which bytes and characters need no repair, else None."""
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return None
    return text if text.replace("\t", " ").isprintable() else None


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
