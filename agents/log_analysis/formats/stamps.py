"""Spellings of time stamps: a pattern and a reader each, tried in order; pure."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from functools import lru_cache

from agents.log_analysis.formats.calendars import DAY, MONTHS, Calendar, day, from_tai, month
from agents.log_analysis.formats.spellings import Spellings
from agents.log_analysis.formats.zones import ZONE

_NAMED = "Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
_HALF = r"(?: ?([AaPp])\.?[Mm]\b\.?)?"
#: What is longer is no fraction: the next cell of a row.
_FRACTION = r"(?:[.,:](\d{1,9})(?!\d))?"
_CLOCK = rf"(\d{{1,2}}):(\d{{2}}):(\d{{2}}){_FRACTION}{_HALF}"
_DOTTED = rf"(\d{{2}})[:.](\d{{2}})[:.](\d{{2}}){_FRACTION}{_HALF}"
_GLUED = rf"(\d{{2}}):?(\d{{2}}):?(\d{{2}}){_FRACTION}"
_FOREIGN = "|".join(sorted((re.escape(m) for m in MONTHS), key=len, reverse=True))

#: Epoch values outside 1995..2100 are numbers, not times.
_EPOCH_RANGE = (788_918_400, 4_102_444_800)

#: What a reader returns: seconds since 1970, and the zone: None where the stamp names none.
Moment = tuple[float, str | None]
Reader = Callable[[re.Match[str], "Dates"], Moment]


class Dates(Calendar):
    """A calendar that also knows whether numeric dates are written day first; the first clear one settles it."""

    day_first: bool | None = None
    guessed = False

    def ordered(self, first: int, second: int, *, american: bool = False) -> tuple[int, int]:
        """Return month and day of two numbers."""
        if first > 12 or second > 12:  # noqa: PLR2004 - months
            self.day_first = first > 12  # noqa: PLR2004 - months
        elif self.day_first is None:
            self.guessed = self.guessed or first != second
            return (first, second) if american else (second, first)
        return (second, first) if self.day_first else (first, second)


@lru_cache(maxsize=8192)
def _whole(hour: str, minute: str, second: str, half: str | None) -> float:
    """Return the seconds of a clock without its fraction; lines of one second come together."""
    number = int(hour)
    if half:
        number = number % 12 + (12 if half in "Pp" else 0)
    if number > 24 or int(minute) > 59:  # noqa: PLR2004 - a clock
        raise ValueError(hour)
    return number * 3600.0 + int(minute) * 60 + min(int(second), 60)


def seconds(hour: str, minute: str, second: str, fraction: str | None, half: str | None = None) -> float:
    """Return the seconds of a clock; `half` is the a of am or the p of pm."""
    whole = _whole(hour, minute, second, half)
    return whole + int(fraction) / 10 ** len(fraction) if fraction else whole


def from_number(value: float) -> float | None:
    """Return epoch seconds of a number of seconds, milli-, micro- or nanoseconds."""
    for scale in (1.0, 1e3, 1e6, 1e9):
        if _EPOCH_RANGE[0] <= value / scale < _EPOCH_RANGE[1]:
            return value / scale
    return None


def _full(m: re.Match[str], _: Dates) -> Moment:
    year, number, date_, hour, minute, second, fraction, half, zone = m.groups()
    return day(int(year), int(number), int(date_)) + seconds(hour, minute, second, fraction, half), zone


def _glued(m: re.Match[str], _: Dates) -> Moment:
    return day(int(m[1]), int(m[2]), int(m[3])) + seconds(m[4], m[5], m[6], m[7]), m[8]


def _named_day_first(m: re.Match[str], _: Dates) -> Moment:
    return day(int(m[3]), month(m[2]), int(m[1])) + seconds(m[4], m[5], m[6], m[7], m[8]), m[9]


def _asctime(m: re.Match[str], _: Dates) -> Moment:
    clock = seconds(m[3], m[4], m[5], m[6])
    return day(int(m[8]), month(m[1]), int(m[2])) + clock, m[7] or m[9]


def _day_month(m: re.Match[str], dates: Dates) -> Moment:
    return dates.moment(month(m[2]), int(m[1]), seconds(m[3], m[4], m[5], m[6], m[7])), m[8]


def _named_month_first(m: re.Match[str], dates: Dates) -> Moment:
    clock = seconds(m[4], m[5], m[6], m[7], m[8])
    if m[3]:
        return day(int(m[3]), month(m[1]), int(m[2])) + clock, m[9]
    return dates.moment(month(m[1]), int(m[2]), clock), m[9]


def _short_year(m: re.Match[str], _: Dates) -> Moment:
    return day(2000 + int(m[1]), int(m[2]), int(m[3])) + seconds(m[4], m[5], m[6], m[7]), None


def _numeric(m: re.Match[str], dates: Dates) -> Moment:
    number, date_ = dates.ordered(int(m[1]), int(m[2]), american=bool(m[8]))
    year = int(m[3]) + (2000 if len(m[3]) == 2 else 0)  # noqa: PLR2004 - two digits
    return day(year, number, date_) + seconds(m[4], m[5], m[6], m[7], m[8]), m[9]


def _month_day(m: re.Match[str], dates: Dates) -> Moment:
    number, date_ = int(m[1]), int(m[2])
    if number > 12 >= date_:  # noqa: PLR2004 - months: written day first
        number, date_ = date_, number
    return dates.moment(number, date_, seconds(m[3], m[4], m[5], m[6])), None


def _epoch(m: re.Match[str], _: Dates) -> Moment:
    value = from_number(float(m[1]))
    if value is None:
        raise ValueError(m[1])
    return value, "Z"


def _year_day(m: re.Match[str], _: Dates) -> Moment:
    number = int(m[2])
    if not 1 <= number <= 366:  # noqa: PLR2004 - days of a year
        raise ValueError(m[2])
    return day(int(m[1]), 1, 1) + (number - 1) * DAY + seconds(m[3], m[4], m[5], m[6]), m[7]


def _week(m: re.Match[str], _: Dates) -> Moment:
    found = date.fromisocalendar(int(m[1]), int(m[2]), int(m[3]))
    return day(found.year, found.month, found.day) + seconds(m[4], m[5], m[6], m[7]), m[8]


def _tai(m: re.Match[str], _: Dates) -> Moment:
    return from_tai(int(m[1], 16)) + int(m[2], 16) / 1e9, "Z"


def _chinese(m: re.Match[str], _: Dates) -> Moment:
    clock = seconds(m[5], m[6], m[7] or "0", m[8], _half(m[4]))
    return day(int(m[1]), int(m[2]), int(m[3])) + clock, m[9]


def _loose(m: re.Match[str], _: Dates) -> Moment:
    clock = seconds(m[5], m[6], m[7] or "0", m[8], m[9] or _half(m[4]))
    return day(int(m[1]), int(m[2]), int(m[3])) + clock, m[10]


def _chinese_yearless(m: re.Match[str], dates: Dates) -> Moment:
    clock = seconds(m[4], m[5], m[6] or "0", m[7], _half(m[3]))
    return dates.moment(int(m[1]), int(m[2]), clock), None


def _half(word: str | None) -> str | None:
    """Return the half of the day that a word of its means."""
    return None if not word else "p" if word in ("中午", "下午", "晚上", "午後", "오후") else "a"


def clock_only(m: re.Match[str], dates: Dates) -> Moment:
    return dates.clock(seconds(m[1], m[2], m[3], m[4], m[5])), None


def _kitchen(m: re.Match[str], dates: Dates) -> Moment:
    return dates.clock(seconds(m[1], m[2], "0", None, m[3])), None


def yearless(m: re.Match[str], reader: Reader) -> bool:
    """Tell whether a stamp names no year."""
    return reader in _NEVER or (reader is _named_month_first and not m[3])


def _date_only(m: re.Match[str], _: Dates) -> Moment:
    return day(int(m[1]), int(m[2]), int(m[3])), None


_NEVER = {_month_day, _day_month, _chinese_yearless, clock_only, _kitchen}
_PART = r"(?:[.,](\d{1,9}))?"
_PLAIN = rf"(\d{{2}}):(\d{{2}}):(\d{{2}}){_PART}"
_HALVES = "上午|下午|晚上|凌晨|早上|中午|午前|午後|오전|오후"
_WEEKDAY = r"(?:[(（]?(?:星期|周|週)?[一二三四五六日天月火水木金土][)）]? ?)?"
_CJK_DATE = rf"(\d{{4}}) ?[年년] ?(\d{{1,2}}) ?[月월] ?(\d{{1,2}}) ?[日일号] ?{_WEEKDAY}"
_CJK_CLOCK = rf"(\d{{1,2}})[:：时時시] ?(\d{{1,2}})(?:[:：分분] ?(\d{{1,2}}){_PART})?"
#: Dates in digits as people in East Asia write them: one digit is enough, and the half of the day may come first.
_LOOSE_DATE = rf"(?<![\d.])(\d{{4}})[-/.](\d{{1,2}})[-/.](\d{{1,2}})(?:[ T,;|]{{1,3}}| - ){_WEEKDAY}"
_NO_YEAR = r"(?! (?:[A-Z]{3,4} )?\d{4}\b)"

_ALL: list[tuple[str, Reader]] = [
    (rf"(?<![\d.])(\d{{4}})[-/.](\d{{2}})[-/.](\d{{2}})[T _-]{_DOTTED}{ZONE}", _full),
    (rf"(?<!\d)(\d{{1,2}})[/ -]({_NAMED})[/ -](\d{{4}})[: ]{_CLOCK}{ZONE}", _named_day_first),
    (rf"({_NAMED}) +(\d{{1,2}}) {_PLAIN}{ZONE} (\d{{4}})\b{ZONE}", _asctime),
    (
        rf"\b({_NAMED})[a-z]{{0,6}} +(\d{{1,2}})(?:,? (\d{{4}}),?)? {_CLOCK}{ZONE}{_NO_YEAR}",
        _named_month_first,
    ),
    (rf"(?<!\d)(\d{{4}})(\d{{2}})(\d{{2}})[-.T: ]?{_GLUED}(Z|[+-]\d{{4}})?(?!\d)", _glued),
    (rf"(?<!\d)(\d{{2}})/(\d{{2}})/(\d{{2}}) {_PLAIN}(?! ?[AP]M)", _short_year),
    (r"^(\d{2})(\d{2})(\d{2}) (\d{2}| \d)(\d{2})(\d{2})()(?= )", _short_year),
    (r"^(?:# Time: )?(\d{2})(\d{2})(\d{2}) ([ \d]\d):(\d{2}):(\d{2})()(?=\s|$)", _short_year),
    (
        rf"(?<!\d)(\d{{1,2}})[-/.](\d{{1,2}})[-/.](\d{{4}}|\d{{2}})[ T,:-]{{1,4}}{_CLOCK}{ZONE}",
        _numeric,
    ),
    (r"^[IWEF](\d{2})(\d{2}) (\d{2}):(\d{2}):(\d{2})(?:[.,:](\d{1,9}))?", _month_day),
    (r"(?:^|\[)(\d{2})[-./](\d{2}) (\d{2}):(\d{2}):(\d{2})(?:[.,:](\d{1,9}))?", _month_day),
    (rf"(?<!\d)(\d{{4}})-(\d{{3}})T{_PLAIN}{ZONE}", _year_day),
    (rf"(?<!\d)(\d{{4}})-W(\d{{2}})-(\d)T{_PLAIN}{ZONE}", _week),
    (r"^@([0-9a-f]{16})([0-9a-f]{8})", _tai),
    (r"^(?:- |\[|#\+)?(\d{10}(?:\.\d{1,9})?|\d{13}|\d{16}|\d{19})(?=[\]\s:,|]|$)", _epoch),
    (r"^(\d\.\d{3,15}e\+09)(?=\s)", _epoch),
    (r"^(\d{1,2}):(\d{2})([AP])M(?=\s)", _kitchen),
    (r"(?:\||\s)rt=(\d{13})(?=[ |]|$)", _epoch),
    (rf"{_CJK_DATE}({_HALVES})? ?{_CJK_CLOCK}{ZONE}", _chinese),
    (rf"{_LOOSE_DATE}({_HALVES})? ?{_CJK_CLOCK}{_HALF}{ZONE}", _loose),
    (rf"(?<!\d)(\d{{1,2}})[月월] ?(\d{{1,2}})[日일] ?({_HALVES})? ?{_CJK_CLOCK}", _chinese_yearless),
    (rf"(?<!\d)(\d{{1,2}})[ -]({_NAMED}) {_CLOCK}{ZONE}", _day_month),
    (
        rf"^(?:<\d{{1,3}}>)?({_FOREIGN})\.? +(\d{{1,2}})(?:,? (\d{{4}}),?)? {_CLOCK}{ZONE}",
        _named_month_first,
    ),
    (
        rf"(?<!\d)(\d{{1,2}})[/ .-]{{1,2}}({_FOREIGN})\.?[/ -](\d{{4}})[: ,]{{1,2}}{_CLOCK}{ZONE}",
        _named_day_first,
    ),
    (r"^\[?(\d{4})-(\d{2})-(\d{2})(?=[\s\],|])", _date_only),
    (rf"^(?:\d{{1,10}} {{1,8}}|\[pid {{1,8}}\d{{1,10}}\] )?\[?{_CLOCK}(?=[\]\s|])", clock_only),
]
#: A line is looked through for all of them at once, and the first that fits it wins.
SPELLINGS = Spellings(_ALL)
