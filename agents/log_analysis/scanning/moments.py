"""Where the time stands in lines of one shape, and its value from there without a search."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from agents.log_analysis.formats.times import Stamps

#: The fraction of a second, with what may follow it: a zone.
_FRACTION = re.compile(rb"(?<=:[0-5]\d)[.,](\d{1,9})(?!\d)")
_EPOCH = re.compile(rb"\d{10}(?:\.(\d{1,9}))?")
_YEAR = re.compile(rb"(?<![\d+])(?:19|20)\d\d(?!\d)|(?<![\d+])(?:19|20)\d{6}(?!\d)")
#: A field that may hold a time: a quoted text, or a number of at least ten digits.
_FIELD = re.compile(rb"(?<=\")[^\"]{8,40}(?=\")|(?<![\w.])\d{10,19}(?:\.\d{1,9})?(?![\w.])")
#: Seconds by which rounding may move a time.
_CLOSE = 1e-5
#: Seconds of one spelling that are remembered.
_SECONDS = 2_000


@dataclass(slots=True)
class Stamp:
    """A time at fixed places of a line: the whole of it, and where its fraction is, with how many parts it counts."""

    whole: slice
    before: slice
    after: slice
    fraction: slice | None
    scale: int
    #: Found in running text, as against being the value of a field.
    running: bool
    #: A stamp without a year or a day is read anew whenever it changes: what it means depends on those before.
    dated: bool
    seconds: dict[bytes, float] = field(default_factory=dict)


class Moments:
    """Times of the lines of one file; stamps of one spelling share what is known of their seconds.

    What a stamp without a year or a day means depends on those before it. So the last such stamp alone is
    remembered, and what was only remembered is read after all before another is read, or a line parsed.
    """

    def __init__(self, stamps: Stamps) -> None:
        self._stamps = stamps
        self._shared: dict[tuple[bytes, bool], dict[bytes, float]] = {}
        self._last: tuple[Stamp, bytes, float] | None = None
        self._unread: tuple[Stamp, bytes] | None = None

    def locate(self, raw: bytes, key: bytes, text: str, time: float) -> Stamp | None:
        """Return where the time of a line of a shape stands, or None where that is not certain."""
        stamps = self._stamps.trial()  # it comes late: lines after this one were read before
        found = None if raw[:1] == b"{" else stamps.find(text)
        if found is not None and found[0] == time and found[2] > found[1]:
            if stamps.fits(key[: len(raw)].decode()) != found[1:]:
                return None  # one that is no time in this line may be one in another
            whole = slice(len(text[: found[1]].encode()), len(text[: found[2]].encode()))
            return self._stamp(raw, key, whole, running=True)
        fields = [slice(*m.span()) for m in _FIELD.finditer(raw)]
        places = [place for place in fields if _value(stamps, raw[place]) == time]
        # two fields of one value may differ in the next line
        return self._stamp(raw, key, places[0], running=False) if len(places) == 1 else None

    def _stamp(self, raw: bytes, key: bytes, whole: slice, *, running: bool) -> Stamp | None:
        text, start = raw[whole], whole.start
        part = _FRACTION.search(text) if b":" in text else _EPOCH.fullmatch(text)
        place = None
        before, after = whole, slice(whole.stop, whole.stop)
        if part is not None and part[1]:
            place = slice(start + part.start(1), start + part.end(1))
            before, after = slice(start, place.start), slice(place.stop, whole.stop)
        scale = 10 ** (place.stop - place.start) if place else 1
        named = raw[before] + raw[after]
        dated = _YEAR.search(named) is not None or text.isdigit() or (part is not None and b":" not in text)
        dated = dated and not self._stamps.ordered
        stamp = Stamp(whole, before, after, place, scale, running, dated)
        stamp.seconds = self._shared.setdefault((key[before] + b"\0" + key[after], running), {})
        return stamp

    def read(self, stamp: Stamp, raw: bytes) -> float | None:
        """Return the time of a line."""
        key = raw[stamp.before] + raw[stamp.after]
        if stamp.fraction and not raw[stamp.fraction].isdigit():
            return None
        second = stamp.seconds.get(key) if stamp.dated else self._open(stamp, key)
        if second is None:
            if not stamp.dated:
                self.catch_up()
            second = self._second(stamp, raw)
            if second is None:
                return None
            self._last = self._unread = None
            if not stamp.dated:
                self._last = stamp, key, second
            else:
                if len(stamp.seconds) >= _SECONDS:
                    stamp.seconds.clear()
                stamp.seconds[key] = second
        elif stamp.dated:
            self._unread = stamp, raw
        return second + int(raw[stamp.fraction]) / stamp.scale if stamp.fraction else second

    def _open(self, stamp: Stamp, key: bytes) -> float | None:
        """Return what a stamp means that depends on those before it, if it was the last."""
        last = self._last
        if last is None or self._unread is not None or last[0].seconds is not stamp.seconds or last[1] != key:
            return None
        return last[2]

    def catch_up(self) -> None:
        """Read the stamp that was remembered last, for what is read next may go by it."""
        unread, self._unread, self._last = self._unread, None, None
        if unread is not None:
            self._second(*unread)

    def _second(self, stamp: Stamp, raw: bytes) -> float | None:
        """Return the time without its fraction, as the reader of stamps has it."""
        if stamp.running:
            found = self._stamps.find(raw.decode())
            place = (len(raw[: stamp.whole.start].decode()), len(raw[: stamp.whole.stop].decode()))
            if found is None or found[1:] != place:
                return None
            time: float | None = found[0]
        else:
            time = _value(self._stamps, raw[stamp.whole])
        if time is None or stamp.fraction is None:
            return time
        second = time - int(raw[stamp.fraction]) / stamp.scale
        return float(round(second)) if abs(second - round(second)) < _CLOSE else None


def _value(stamps: Stamps, text: bytes) -> float | None:
    try:
        words = text.decode()
    except UnicodeDecodeError:
        return None
    if re.fullmatch(r"\d{10,19}(?:\.\d+)?", words):
        return stamps.value(float(words) if "." in words else int(words))
    return stamps.value(words)
