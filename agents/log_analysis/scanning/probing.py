"""Reads variants of a line to find out whether its shape alone decides what it comes to, and what else does."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, cycle, islice

from agents.log_analysis.formats.parsing import Parser, Record
from agents.log_analysis.mining.masking import Masker

#: A shape is a line with each digit as 0, and each long hexadecimal number too; nothing moves in it.
DIGITS = bytes.maketrans(b"123456789", b"000000000")
HEX = re.compile(rb"\b(?:0x)?(?:[0a-f]{8}[0a-f-]*|[0A-F]{8}[0A-F-]*)")
#: Digits of such a number as 0. Capitals are another kind, with a sign of their own.
FLAT = bytes.maketrans(b"123456789abcdef", b"0" * 15)
_FLAT_CAPITALS = bytes.maketrans(b"0123456789ABCDEF", b"A" * 16)
_CAPITAL = re.compile(rb"[A-F]")
#: In JSON it is these that stand for characters: their digits are as good as letters.
ESCAPE = re.compile(rb"\\u[0-9a-fA-F]{4}")
#: Numbers of up to three digits can be a level, a status or a priority.
_SHORT = re.compile(rb"(?<![0-9A-Za-z_])[0-9]{1,3}(?![0-9A-Za-z_])")
#: Other values for one of these, by its length: an error, a fatal level and none; a good status and a middle level.
_PROBES = ((b"0", b"60", b"503"), (b"3", b"30", b"200"))
#: What all digits of a line are written over with: each makes other levels, statuses, signs and ends of numbers.
_PATTERNS = ((b"1", b"1"), (b"503", b"5b0f3d7a"), (b"200", b"c2e9a0"), (b"0", b""))
#: And one of them makes times that there are of all that could be one: 2011-11-11 11:11:11.
_YEAR = b"2011"
#: Numbers in JSON, and strings, in which numbers are text. With an exponent digits count as much as letters.
_RUN = re.compile(rb"[0-9]+")
_STRING = re.compile(rb"\"(?:[^\"\\]|\\.)*\"?")
_NUMBER = re.compile(rb"(?<=[:,\[{\s-])(\d+)(?:\.(\d+))?([eE])?")
#: What a field may hold that is a time in another line of its shape.
_MAYBE_TIME = re.compile(
    rb"0:00|0{4}[-/.]0|0{8}|@0|0{6} [0 ]0|0 ?(?:\xe5\xb9\xb4|\xeb\x85\x84|\xe6\x97\xb6|\xe6\x99\x82)"
)
#: Kinds of lines whose times are found by looking at the line, not in fields of it.
_RUNNING = frozenset(("plain", "text", "log4j", "python", "access", "syslog", "syslog5424", "glog"))
#: What the miner looks at of a message, in bytes of a line.
_MINED = 1_200

#: Digits of a time that are changed to see whether it moves: the last of nine may be less than a float tells apart.
_TRIES = 8
#: More numbers in a line than this are not asked about one by one.
_MANY = 24

Reading = tuple[object, ...]
#: Digits that stay digits, and the place of a sign that is no 0.
Digits = tuple[int, slice]


def hexed(shape: bytes) -> bytes:
    """Return a shape with its long hexadecimal numbers folded, lengths and dashes kept."""
    return HEX.sub(_folded, shape)


def _folded(found: re.Match[bytes]) -> bytes:
    text = found[0]
    if b"0" not in text[2:]:
        return text  # it may be a word
    return text.translate(_FLAT_CAPITALS if _CAPITAL.search(text) else FLAT)


def numbers_in(raw: bytes) -> list[Digits] | None:
    """Return the numbers that JSON in a line has outside of strings; None where their value may be anything.

    `012` is no number of JSON, nor is `1a`: another line of the shape that has one is read in another way.
    """
    start = raw.find(b"{")
    if start < 0:
        return []
    if b'{\\"' in raw:  # JSON in a string of JSON
        return None
    bare = _STRING.sub(lambda m: b'"' * len(m[0]), raw[start:])
    found: list[Digits] = []
    for number in _NUMBER.finditer(bare):
        if number[3]:
            return None
        place = start + number.start(1)
        if len(number[1]) > 1:
            found.append((place, slice(place, start + number.end(1))))
        if number[2] and len(number[2]) >= 8:  # noqa: PLR2004 - as long as what is folded as hexadecimal
            found.append((start + number.start(2) - 1, slice(start + number.start(2), start + number.end(2))))
    return found


def whole(raw: bytes, numbers: Iterable[Digits]) -> bool:
    """Tell whether all these are numbers in JSON."""
    return all(raw[lead] != 48 and raw[place].isdigit() for lead, place in numbers)  # noqa: PLR2004 - the digit 0


class Probe:
    """A parser of its own that reads variants of lines, so that the one of the file learns nothing from them."""

    def __init__(self, parser: Parser) -> None:
        self._parser = copy.deepcopy(parser)
        self._masker = Masker()

    @property
    def form(self) -> str:
        """Return what kind of log the line was of that was read last."""
        return self._parser.tally.last

    def read(self, raw: bytes) -> Reading:
        """Return what a line comes to."""
        return self._reading(self._parser.parse(raw.decode()))

    def _reading(self, record: Record) -> Reading:
        return (*_facts(record), record.time, self._masker.tokens(record.message[:_MINED]))

    def agrees(self, raw: bytes, record: Record) -> Reading | None:
        """Return what a line comes to, if that is what the file's own parser made of it, times aside."""
        same = self._parser.parse(raw.decode())
        alike = _facts(same) == _facts(record) and same.message == record.message
        return self._reading(same) if alike else None

    def holds(
        self,
        raw: bytes,
        same: Reading,
        kept: Sequence[slice],
        numbers: Sequence[Digits],
        patterns: int = len(_PATTERNS),
    ) -> bool:
        """Tell whether a line comes to the same whatever its digits are, except at the places that are kept."""
        return all(self.read(other) == same for other in islice(_variants(raw, kept, numbers), patterns))

    def telling(self, raw: bytes, same: Reading, kept: Sequence[slice]) -> list[slice]:
        """Return the short numbers that decide, each by itself, what a line comes to."""
        found = []
        for start, end in [number.span() for number in islice(_SHORT.finditer(raw), _MANY)]:
            if any(start < place.stop and place.start < end for place in kept):
                continue
            others = (raw[:start] + probe[end - start - 1] + raw[end:] for probe in _PROBES)
            if any(self.read(other) != same for other in others):
                found.append(slice(start, end))
        return found

    def moves(self, raw: bytes, place: slice) -> bool:
        """Tell whether the time of a line is what stands at a place, by writing another there."""
        now = self._parser.parse(raw.decode()).time
        digits = [at for at in range(place.start, place.stop) if 48 <= raw[at] <= 57]  # noqa: PLR2004 - 0 to 9
        for at in digits[: -_TRIES - 1 : -1]:
            other = b"%b%d%b" % (raw[:at], (raw[at] - 47) % 10, raw[at + 1 :])
            if self._parser.parse(other.decode()).time not in (now, None):
                return True
        return False

    def timeless(self, shape: bytes, raw: bytes) -> bool:
        """Tell whether no line of a shape has a time, if this one has none."""
        if self._parser.stamps.fits(shape.decode()) is not None:
            return False
        return (self.form in _RUNNING and b"{" not in raw) or _MAYBE_TIME.search(shape) is None


def _facts(record: Record) -> Reading:
    return (
        record.level,
        record.named,
        record.structured,
        record.service,
        record.logger,
        record.host,
        record.framed,
        record.part,
        record.stream,
        bool(record.error),
    )


def _variants(raw: bytes, kept: Sequence[slice], numbers: Sequence[Digits]) -> Iterator[bytes]:
    """Yield a line with other digits, and other long hexadecimal numbers, at all places but those that are kept."""
    fixed = set(chain.from_iterable(range(place.start, place.stop) for place in kept))
    fixed.update(chain.from_iterable(range(*found.span()) for found in ESCAPE.finditer(raw)))
    digits = [found.span() for found in _RUN.finditer(raw)]
    numeric = fixed.union(chain.from_iterable(range(place.start, place.stop) for _, place in numbers))
    hexes = [found.span() for found in HEX.finditer(raw.translate(DIGITS)) if b"0" in found[0][2:]]
    hexes = [place for place in hexes if numeric.isdisjoint(range(*place))]
    for pattern, letters in _PATTERNS:
        other = bytearray(raw)
        for start, end in digits:
            signs = _YEAR if pattern == b"1" and end - start >= len(_YEAR) else b""
            other[start:end] = (signs + pattern * (end - start))[: end - start]
        for start, end in hexes if letters else ():
            _write_hex(other, start, end, letters)
        for lead, _ in numbers:
            other[lead] = 49 if other[lead] == 48 else other[lead]  # noqa: PLR2004 - the digits 1 and 0
        for at in fixed:
            other[at] = raw[at]
        yield bytes(other)


def _write_hex(line: bytearray, start: int, end: int, letters: bytes) -> None:
    text = bytes(line[start:end])
    letters = letters.upper() if text.upper() == text else letters
    begin = start + 2 if text[:2] == b"0x" else start
    for at, byte in zip(range(begin, end), cycle(letters), strict=False):
        if line[at] != 45:  # noqa: PLR2004 - a dash
            line[at] = byte
