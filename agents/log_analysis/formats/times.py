"""Time stamps of log lines as epoch seconds (UTC): many spellings, one result; pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any

_MONTHS = {
    m: n
    for n, m in enumerate(
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], 1
    )
}
_NAMED = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_CLOCK = r"(\d{2}):(\d{2}):(\d{2})(?:[.,:](\d{1,9}))?"
_DOTTED = r"(\d{2})[:.](\d{2})[:.](\d{2})(?:[.,:](\d{1,9}))?"
_GLUED = r"(\d{2}):?(\d{2}):?(\d{2})(?:[.,:](\d{1,9}))?"
_ZONE = r"(?: ?(Z|UTC|GMT|[+-]\d{2}:?\d{2}|[ECMP][SD]T|CES?T|JST|BST)\b)?"

#: Hours east of UTC of the zone names that logs really carry. CST is taken as North American.
_ZONES = {
    "Z": 0, "UTC": 0, "GMT": 0, "BST": 1, "CET": 1, "CEST": 2, "JST": 9,
    "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
}  # fmt: skip

#: A line cannot be younger than its file; so much clock difference is forgiven.
_SLACK = timedelta(days=1)
#: Epoch values outside 1995..2100 are numbers, not times.
_EPOCH_RANGE = (788_918_400, 4_102_444_800)
#: A stamp stands near the start of its line.
HEAD = 160
_MEMO_LIMIT = 4096
#: Said of a file whose stamps name no zone; another zone takes the place of UTC.
_ZONELESS = "time stamps name no zone: taken as UTC"


def _clock(hour: str, minute: str, second: str, fraction: str | None) -> float:
    part = int(fraction) / 10 ** len(fraction) if fraction else 0.0
    return int(hour) * 3600 + int(minute) * 60 + min(int(second), 60) + part


def _offset(zone: str | None) -> float:
    if not zone:
        return 0.0
    if zone in _ZONES:
        return _ZONES[zone] * 3600
    digits = zone[1:].replace(":", "")
    return (int(digits[:2]) * 3600 + int(digits[2:]) * 60) * (-1 if zone[0] == "-" else 1)


@lru_cache(maxsize=4096)
def _second(year: str, month: str, day: str, hour: str, minute: str, second: str) -> float:
    """Return a moment without its fraction; lines of one second come together."""
    return _day(int(year), int(month), int(day)) + _clock(hour, minute, second, None)


def _day(year: int, month: int, day: int) -> float:
    return date(year, month, day).toordinal() * 86_400.0 - 62_135_683_200.0  # ordinal 1 is 0001-01-01


def _nearest(month: int, day: int, seconds: float, reference: datetime) -> float:
    """Choose the year of a stamp without one: the latest that does not lie after the file's last change."""
    for year in (reference.year + 1, reference.year, reference.year - 1, reference.year - 4):
        try:
            moment = _day(year, month, day) + seconds
        except ValueError:  # 29 February
            continue
        if moment <= (reference + _SLACK).timestamp():
            return moment
    raise ValueError(f"no year fits {month}-{day}")


def _full(m: re.Match[str], _ref: datetime) -> float:
    year, month, day, hour, minute, second, fraction, zone = m.groups()
    part = int(fraction) / 10 ** len(fraction) if fraction else 0.0
    return _second(year, month, day, hour, minute, second) + part - (_offset(zone) if zone else 0.0)


def _access(m: re.Match[str], _ref: datetime) -> float:
    return _day(int(m[3]), _MONTHS[m[2].lower()], int(m[1])) + _clock(m[4], m[5], m[6], m[7]) - _offset(m[8])


def _asctime(m: re.Match[str], _ref: datetime) -> float:
    clock = _clock(m[3], m[4], m[5], m[6])
    return _day(int(m[8]), _MONTHS[m[1].lower()], int(m[2])) + clock - _offset(m[7])


def _syslog(m: re.Match[str], ref: datetime) -> float:
    clock, month = _clock(m[4], m[5], m[6], m[7]), _MONTHS[m[1].lower()]
    return _day(int(m[3]), month, int(m[2])) + clock if m[3] else _nearest(month, int(m[2]), clock, ref)


def _short_year(m: re.Match[str], _ref: datetime) -> float:
    return _day(2000 + int(m[1]), int(m[2]), int(m[3])) + _clock(m[4], m[5], m[6], m[7])


def _day_first(m: re.Match[str], _ref: datetime) -> float:
    first, second = int(m[1]), int(m[2])
    if second > 12 >= first:  # noqa: PLR2004 - months: written month first
        first, second = second, first
    return _day(int(m[3]), second, first) + _clock(m[4], m[5], m[6], m[7]) - _offset(m[8])


def _month_day(m: re.Match[str], ref: datetime) -> float:
    return _nearest(int(m[1]), int(m[2]), _clock(m[3], m[4], m[5], m[6]), ref)


def _epoch(m: re.Match[str], _ref: datetime) -> float:
    value = from_number(float(m[1]))
    if value is None:
        raise ValueError(m[1])
    return value


def _year_day(m: re.Match[str], _ref: datetime) -> float:
    return _day(int(m[1]), 1, 1) + (int(m[2]) - 1) * 86_400 + _clock(m[3], m[4], m[5], m[6])


def _tai(m: re.Match[str], _ref: datetime) -> float:
    return int(m[1], 16) - (1 << 62) - 10 + int(m[2], 16) / 1e9  # 10 s: TAI64N labels count from TAI


def _time_only(m: re.Match[str], ref: datetime) -> float:
    """A clock without a date lies on the day of the file's last change."""
    return _day(ref.year, ref.month, ref.day) + _clock(m[1], m[2], m[3], m[4])


def _date(m: re.Match[str], _ref: datetime) -> float:
    return _day(int(m[1]), int(m[2]), int(m[3]))


_Reader = Callable[[re.Match[str], datetime], float]
_SHAPES: list[tuple[re.Pattern[str], _Reader]] = [
    (re.compile(p), reader)
    for p, reader in (
        (rf"(?<![\d.])(\d{{4}})[-/.](\d{{2}})[-/.](\d{{2}})[T _-]{_DOTTED}{_ZONE}", _full),
        (rf"(\d{{1,2}})[/-]({_NAMED})[/-](\d{{4}})[: ]{_CLOCK}{_ZONE}", _access),
        (rf"({_NAMED}) +(\d{{1,2}}) {_CLOCK}(?: ([A-Z]{{3,4}}))? (\d{{4}})\b", _asctime),
        (rf"\b({_NAMED}) +(\d{{1,2}})(?:,? (\d{{4}}),?)? {_CLOCK}(?! (?:[A-Z]{{3,4}} )?\d{{4}}\b)", _syslog),
        (rf"(?<!\d)(\d{{4}})(\d{{2}})(\d{{2}})[-.T ]?{_GLUED}(Z|[+-]\d{{4}})?(?!\d)", _full),
        (rf"(?<!\d)(\d{{2}})/(\d{{2}})/(\d{{2}}) {_CLOCK}", _short_year),
        (r"^(\d{2})(\d{2})(\d{2}) (\d{2})(\d{2})(\d{2})()(?= )", _short_year),
        (rf"(?<!\d)(\d{{1,2}})[-/.](\d{{1,2}})[-/.](\d{{4}})[ T,]+{_CLOCK}{_ZONE}", _day_first),
        (rf"^[IWEF](\d{{2}})(\d{{2}}) {_CLOCK}", _month_day),
        (rf"(?:^|\[)(\d{{2}})[-.](\d{{2}}) {_CLOCK}", _month_day),
        (r"(\d{4})-(\d{3})T(\d{2}):(\d{2}):(\d{2})(?:[.,](\d{1,9}))?", _year_day),
        (r"^@([0-9a-f]{16})([0-9a-f]{8})", _tai),
        (r"^(?:- |\[|#\+)?(\d{10}(?:\.\d{1,9})?|\d{13}|\d{16}|\d{19})(?=[\]\s:,|]|$)", _epoch),
        (r"^\[?(\d{4})-(\d{2})-(\d{2})(?=[\s\],|])", _date),
        (rf"^(?:\d+ )?\[?{_CLOCK}(?=[\]\s|])", _time_only),
    )
]  # fmt: skip
_WITHOUT_ZONE_FIELD = {_syslog, _short_year, _month_day, _year_day, _date, _time_only}


def from_number(value: float) -> float | None:
    """Return epoch seconds of a number of seconds, milli-, micro- or nanoseconds."""
    for scale in (1.0, 1e3, 1e6, 1e9):
        if _EPOCH_RANGE[0] <= value / scale < _EPOCH_RANGE[1]:
            return value / scale
    return None


class Stamps:
    """Finds the stamp of each line of one file; tries the shape that fitted last first.

    `reference` is the file's last change, which settles missing years and days. `zoneless` tells whether
    stamps without a zone were met: they are taken as UTC, and the result says so.
    """

    def __init__(self, reference: datetime, zone: str = "UTC") -> None:
        self.reference = reference
        self.zone = zone
        self.zoneless = False
        self._shapes = list(_SHAPES)
        self._memo: dict[str, float | None] = {}

    @property
    def notes(self) -> list[str]:
        """Return what was assumed about the stamps."""
        return [_ZONELESS.removesuffix("UTC") + self.zone] if self.zoneless else []

    def find(self, text: str) -> tuple[float, int, int] | None:
        """Return epoch seconds and the span of the first stamp near the start of a line."""
        for place, (pattern, reader) in enumerate(self._shapes):
            found = pattern.search(text, 0, HEAD)
            if found is None:
                continue
            try:
                moment = reader(found, self.reference)
            except (ValueError, OverflowError, IndexError):
                continue
            if place:
                self._shapes.insert(0, self._shapes.pop(place))
            if not self.zoneless and (
                reader in _WITHOUT_ZONE_FIELD
                or (reader is not _epoch and reader is not _tai and not _zone(found))
            ):
                self.zoneless = True
            return moment, found.start(), found.end()
        return None

    def value(self, value: Any) -> float | None:
        """Return epoch seconds of a field: a number, a text, or MongoDB's `{"$date": …}`."""
        if isinstance(value, dict):
            return self.value(value.get("$date"))
        if isinstance(value, bool) or value is None:
            return None
        if isinstance(value, int | float):
            return from_number(float(value))
        text = str(value).strip()
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return self._text(text)
        if moment.tzinfo is None:
            self.zoneless = True
            moment = moment.replace(tzinfo=UTC)
        return moment.timestamp()

    def _text(self, text: str) -> float | None:
        if text not in self._memo:
            if len(self._memo) > _MEMO_LIMIT:
                self._memo.clear()
            number = from_number(float(text)) if re.fullmatch(r"\d{10,19}(?:\.\d+)?", text) else None
            found = None if number is not None else self.find(text)
            self._memo[text] = number if found is None else found[0]
        return self._memo[text]


def _zone(found: re.Match[str]) -> str | None:
    groups = found.groups()
    return next((g for g in groups[6:] if g and not g.isdigit()), None)


def iso(moment: float | None) -> str:
    """Render epoch seconds as ISO 8601 in UTC with milliseconds; nothing for no time."""
    if moment is None or moment != moment:  # noqa: PLR0124 - a NaN differs from itself
        return ""
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
