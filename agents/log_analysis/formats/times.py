"""Time stamps of log lines as epoch seconds (UTC): many spellings, one result; pure."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from agents.log_analysis.formats.fitting import HEAD, Fit, Spelled, fits, spelled
from agents.log_analysis.formats.stamps import Dates, Reader, clock_only, from_number
from agents.log_analysis.formats.zones import Zone

__all__ = ["HEAD", "Stamps", "from_number", "iso"]

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - a wall clock has no zone
_EPOCH_UTC = _EPOCH.replace(tzinfo=UTC)
_DIGITS = 12
_NUMBER = re.compile(r"\d{10,19}(?:\.\d{1,9})?")
#: Said of a file whose stamps leave something out; another zone takes the place of UTC.
_ZONELESS = "time stamps name no zone: taken as UTC"
_YEARLESS = "time stamps name no year: taken from the file's last change and the order of lines"
_BESIDE = "some time stamps name no year: taken from lines beside them that do"
_DATELESS = "time stamps name no date: the first is taken as the day of the file's last change"
_ORDER = "dates such as 01/02/2026 are taken as day first"


class Stamps:
    """Finds the stamp of each line of one file: what a line says never depends on how others spell their stamps.

    `reference` is the file's last change, which settles missing years and days; `zone` is that of stamps which
    name none. What was assumed stands in `notes`.
    """

    def __init__(self, reference: datetime, zone: str = "UTC") -> None:
        self.reference = reference
        self.zoneless = False
        self._dates = Dates(reference)
        self._zone = Zone(zone)

    @property
    def notes(self) -> list[str]:
        """Return what was assumed about the stamps."""
        notes = [_ZONELESS.removesuffix("UTC") + self._zone.name] if self.zoneless else []
        for name, offset in self._zone.ambiguous.items():
            sign, minutes = "-" if offset < 0 else "+", int(abs(offset)) // 60
            notes.append(f"the zone {name} is ambiguous: taken as {sign}{minutes // 60:02}:{minutes % 60:02}")
        if self._dates.yearless:
            notes.append(_YEARLESS if self._dates.origin is self._dates.settled is None else _BESIDE)
        notes += [_DATELESS] if self._dates.dateless else []
        return [*notes, _ORDER] if self._dates.guessed and self._dates.day_first is None else notes

    @property
    def ordered(self) -> bool:
        """Return whether one spelling may mean two moments, by the order of lines.

        That is where clocks are set back, and while nothing has settled whether dates are written day first.
        """
        return (self.zoneless and self._zone.ordered) or (
            self._dates.guessed and self._dates.day_first is None
        )

    @property
    def open(self) -> bool:
        """Return whether stamps were met whose meaning lies in lines before them: without a year, a day or an order."""
        dates = self._dates
        return dates.yearless or dates.dateless or (dates.guessed and dates.day_first is None) or self.ordered

    def settle(self, last: str) -> bool:
        """Take the stamp of the file's last line for the latest there is: it settles the year of the first."""
        probe = Stamps(self.reference, self._zone.name)
        found = probe.find(last)
        if found is not None and probe._dates.yearless:
            known, self._dates = self._dates, Dates(datetime.fromtimestamp(found[0], UTC))
            self._dates.day_first, self._dates.origin = known.day_first, known.origin
        return found is not None

    def learn(self, lines: Iterable[str]) -> None:
        """Learn from the first lines whether numeric dates are written day first."""
        probe = Stamps(self.reference, self._zone.name)
        for line in lines:
            probe.find(line)
        self._dates.day_first = probe._dates.day_first

    def seek_year(self, lines: Iterable[str]) -> bool:
        """Learn from lines with a year what year those without one have before them; return whether it is known.

        A date that a line only tells of, such as when a kernel was built, is far from the days of the lines round it.
        """
        probe = Stamps(self.reference, self._zone.name)
        for line in lines:
            probe.find(line)
            if probe._dates.settled is not None:
                self._dates.origin = probe._dates.settled
                return True
        return not probe._dates.yearless

    def find(self, text: str) -> tuple[float, int, int] | None:
        """Return epoch seconds and the span of the first stamp near the start of a line."""
        spellings = spelled(text)
        found, beside = fits(text, spellings)
        if not found:
            return None
        match, reader = found[0]
        if beside and reader is not clock_only:
            for one in beside:
                self._meet(*one)
        if (moment := self._read(match, reader)) is not None:
            return moment, match.start(), match.end()
        for match, reader in (*found[1:], *_all(text, spellings)):
            if (moment := self._read(match, reader)) is not None:
                return moment, match.start(), match.end()
        return None

    def fits(self, text: str) -> tuple[int, int] | None:
        """Return where the first spelling stands that fits a line, whether or not it is a time that there is."""
        found = fits(text, spelled(text))[0]
        return found[0][0].span() if found else None

    def trial(self) -> Stamps:
        """Return a copy to try things with: what this one knows of the order of lines stays as it is."""
        other = copy.copy(self)
        vars(other).update(_dates=copy.copy(self._dates), _zone=copy.copy(self._zone))
        return other

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Read stamps whose moments are not wanted, for one beside them is better: nothing is assumed of them."""
        kept = {**vars(self)}
        self._dates, self._zone = copy.copy(self._dates), copy.copy(self._zone)
        try:
            yield
        finally:
            vars(self).update(kept)

    def _read(self, found: re.Match[str], reader: Reader) -> float | None:
        try:
            local, zone = reader(found, self._dates)
            if reader is not clock_only:
                self._dates.meet(local)
            return _real(self._utc(local, zone))
        except (ValueError, OverflowError):
            return None

    def _meet(self, found: re.Match[str], reader: Reader) -> None:
        try:
            self._dates.meet(reader(found, self._dates)[0])
        except (ValueError, OverflowError):
            return

    def _utc(self, local: float, zone: str | None) -> float:
        if zone:
            return local if zone == "Z" else local - self._zone.offset(zone, local)
        self.zoneless = True
        return self._zone.utc(local)

    def value(self, value: Any) -> float | None:
        """Return epoch seconds of a field: a number, a text, or what MongoDB, log4j and protobuf write as a mapping."""
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, dict):
            return self.value(_whole(value))
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return from_number(float(value)) if -1e300 < value < 1e300 else None  # noqa: PLR2004 - what a float holds

    def _text(self, text: str) -> float | None:
        """Read a text whole: ISO 8601 mostly, else a number, else any spelling that a line may begin with."""
        if text[4:5] == "-":
            try:
                moment = datetime.fromisoformat(text)
            except ValueError:
                pass
            else:
                if moment.tzinfo is None:
                    return _real(self._utc((moment - _EPOCH).total_seconds(), None))
                return _real((moment - _EPOCH_UTC).total_seconds())
        text = text.strip()
        if _NUMBER.fullmatch(text) and (number := from_number(float(text))) is not None:
            return number
        found = self.find(text)
        return None if found is None else found[0]


def _all(text: str, spellings: Spelled) -> Iterator[Fit]:
    for search, reader, _ in spellings:
        if (found := search(text, 0, HEAD)) is not None:
            yield found, reader


def _whole(value: dict[str, Any]) -> Any:
    """Return the one value of a time that is a mapping: `{"$date": …}`, or seconds and nanoseconds apart."""
    whole = value.get("epochSecond", value.get("seconds"))
    parts = value.get("nanoOfSecond", value.get("nanos", 0))
    if isinstance(whole, str) and whole.isdecimal() and len(whole) <= _DIGITS:
        whole = int(whole)
    if isinstance(whole, int) and isinstance(parts, int) and 0 <= parts < 10**9 and abs(whole) < 10**_DIGITS:
        return whole + parts / 1e9
    return value.get("$date", value.get("$numberLong"))


def _real(moment: float) -> float | None:
    """Return a moment that a log can be of: year 1 is how Go writes that there is no time."""
    return moment if moment > 0 else None


def iso(moment: float | None) -> str:
    """Render epoch seconds as ISO 8601 in UTC with milliseconds; nothing for no time."""
    if moment is None or moment != moment:  # noqa: PLR0124 - a NaN differs from itself
        return ""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
