"""Remembers what lines of one shape come to, so that a line which differs in digits alone is not parsed again."""

from __future__ import annotations

from math import nan

from agents.log_analysis.formats.events import Event
from agents.log_analysis.formats.parsing import Parser
from agents.log_analysis.scanning.learning import Known, Learner, Line, Shape, alone, plain_text
from agents.log_analysis.scanning.moments import Moments
from agents.log_analysis.scanning.probing import DIGITS, ESCAPE, FLAT, HEX, hexed, whole

__all__ = ["Known", "Shapes"]

#: To learn a shape costs as much as to parse a dozen lines: it is met so often first.
_MEETINGS = 3
_HEX_DIGITS, _LETTERS = b"0123456789abcdef-", b"abcdef-"
_LONGEST_HEX = 64
#: Where a long number stands is remembered for lines of one length and one head, so many places for each.
_HEAD, _PLACES = 40, 8
#: Longer lines seldom repeat, and their shapes would fill the memory.
LINE_LIMIT = 2_000
#: Bytes that all shapes of one file take at most, with what each takes besides its text.
_MEMORY, _OVERHEAD, _KEY = 24 << 20, 700, 100


def shape_of(raw: bytes) -> bytes:
    """Return the shape of a line before its long hexadecimal numbers are folded."""
    key = raw.translate(DIGITS)
    return key if b"\\u" not in key else b"%b\0%b" % (key, b"".join(ESCAPE.findall(raw)))


class Shapes:
    """The shapes of one file. A shape is learned once it has been met a few times."""

    def __init__(self, parser: Parser) -> None:
        #: A number: met so often; 0: nothing that can be learned.
        self.known: dict[bytes, Shape | int] = {}
        self._parser = parser
        self._learner: Learner | None = None
        self._moments = Moments(parser.stamps)
        self._used = 0
        self._places: dict[tuple[int, bytes], list[tuple[tuple[int, int], ...]]] = {}

    def _fold(self, raw: bytes, key: bytes) -> Shape | int | None:
        """Return what is known of a line with long hexadecimal numbers; where they stood before is tried first."""
        known = self.known
        for places in self._places.get((len(key), key[:_HEAD]), ()):
            folded = key
            for start, end in places:
                part = raw[start:end]
                # letters alone may be a word, and a shape says nothing of words
                if part.translate(None, _HEX_DIGITS) or not part[2:].translate(None, _LETTERS):
                    break
                folded = b"%b%b%b" % (folded[:start], part.translate(FLAT), folded[end:])
            else:
                if shape := known.get(folded):
                    return shape
        return known.get(hexed(key))

    def forget(self) -> list[Known]:
        """Forget all shapes (a new header gives lines another meaning); return what has to be settled."""
        settled = self.all()
        self.known.clear()
        self._places.clear()
        self._used, self._learner = 0, None
        return settled

    def all(self) -> list[Known]:
        """Return everything that is known."""
        shapes = [shape for shape in self.known.values() if isinstance(shape, Shape)]
        return [known for shape in shapes for known in shape.known.values() if known is not None]

    @property
    def full(self) -> bool:
        """Return whether it is time to forget."""
        return self._used > _MEMORY

    def note(self, raw: bytes) -> bool:
        """Note a line that is not known; return whether its shape was met before, and may be learned."""
        if len(raw) > LINE_LIMIT:
            return False
        key = hexed(shape_of(raw))
        met = self.known.get(key)
        if met is None:
            self._used += len(key) + 100
            self.known[key] = 1
        elif not isinstance(met, Shape) and 0 < met < _MEETINGS:
            self.known[key] = met + 1
        return met is not None and (isinstance(met, Shape) or met >= _MEETINGS)

    def learn(self, raw: bytes, event: Event, names: list[str], known: Known) -> None:
        """Keep what an event of one line came to, if nothing but its shape decides that."""
        text = plain_text(raw)
        if text is None or not alone(event, text):
            return
        line = Line(raw, hexed(shape_of(raw)), text)
        learner = self._learner = self._learner or Learner(self._parser, self._moments)
        shape = self.known.get(line.key)
        fresh = not isinstance(shape, Shape)
        if not isinstance(shape, Shape):
            shape = learner.shape(line, event.record, names)
            self.known[line.key] = shape or 0
            if shape is None:
                return
            self._note_places(raw.translate(DIGITS))
        place = shape.key(raw)
        if place in shape.known:  # parsed once more: as a sample, or because a trace went on it
            return
        if not fresh and place not in shape.met:
            shape.met.add(place)
            self._used += len(place) + _KEY
            return
        shape.met.discard(place)
        known.form = (fresh and shape.form) or learner.form(line, event.record, names, shape)
        shape.known[place] = known if known.form else None
        self._used += len(line.key) + _OVERHEAD

    def _note_places(self, key: bytes) -> None:
        """Note where the long hexadecimal numbers of a line stand, for lines of its length and head."""
        found = tuple(m.span() for m in HEX.finditer(key) if b"0" in m[0][2:] and m[0].strip(b"0-x"))
        plain = all(
            end - start <= _LONGEST_HEX and key[start:end].islower() and key[start : start + 2] != b"0x"
            for start, end in found
        )
        if found and plain:
            places = self._places.setdefault((len(key), key[:_HEAD]), [])
            if found not in places and len(places) < _PLACES:
                places.append(found)

    def interrupt(self) -> None:
        """Note that a line is parsed next, which may go by the stamps before it."""
        self._moments.catch_up()

    def find(self, raw: bytes) -> tuple[Known, float] | None:
        """Return what a line comes to, and when (NaN: it has no time), if its shape tells."""
        key = shape_of(raw)
        shape = self.known.get(key) or self._fold(raw, key)
        if not isinstance(shape, Shape) or (shape.numbers and not whole(raw, shape.numbers)):
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
