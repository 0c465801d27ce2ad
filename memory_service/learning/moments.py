"""Dates told in a text, in English and Chinese: absolute ones, and those that need the day they were told on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta

_MONTHS = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905 as in lexical
)
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905 as in lexical
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905 as in lexical
_CHINESE = {c: n for n, c in enumerate("零一二三四五六七八九十")} | {"两": 2, "日": 7, "天": 7, "半": 0}
_WEEK, _SATURDAY, _YEAR = 7, 5, 12
#: Words for a few are no dates; `a couple of` is.
_COUNT = {name: n for n, name in enumerate(_NUMBERS)} | {"a": 1, "an": 1, "a couple of": 2, "a couple": 2}

_MONTH = "|".join(f"{name[:3].title()}(?:{name[3:]})?" if name != "may" else "May" for name in _MONTHS)
_DAY = r"(?P<{0}>[0-3]?\d)(?:st|nd|rd|th)?"
_WEEKDAY = "|".join(f"{name[:3]}(?:{name[3:]}|{name[3:4]}\\b)?" for name in _WEEKDAYS).replace(
    "thu(?:", "thu(?:rs?|"
)
#: Absolute dates; month names begin with a capital, since `may` and `march` are words.
_ABSOLUTE = re.compile(
    r"(?<![\d-])(?P<iy>\d{4})-(?P<im>[01]\d)(?:-(?P<id>[0-3]\d))?(?![\d-])"
    rf"|\b{_DAY.format('d1')}(?: of)? (?P<m1>{_MONTH})\b\.?(?:,? (?P<y1>\d{{4}})\b)?"
    rf"|\b(?P<m2>{_MONTH})\b\.? (?:{_DAY.format('d2')}\b(?!:))(?:,? (?P<y2>\d{{4}})\b)?"
    rf"|\b(?P<m3>{_MONTH})\b\.?,? (?:of )?(?P<y3>\d{{4}})\b"
    r"|\b(?:[Ii]n|[Ss]ince|[Dd]uring|[Uu]ntil|[Bb]y|[Oo]f|[Ll]ast|[Nn]ext|[Tt]his|[Ll]ate|[Ee]arly|[Mm]id) "
    rf"(?P<m4>{_MONTH})\b(?!\.?,? \d)"
    r"|(?:(?P<y5>\d{4})\s?年\s?)?(?<!\d)(?P<m5>1[0-2]|0?[1-9])\s?月(?:份|\s?(?P<d5>[0-3]?\d)\s?[日号])?(?!前)"
)
#: What every one of them holds.
_PERHAPS = re.compile(rf"\d-[01]|月|{'|'.join(month[:3].title() for month in _MONTHS)}")
_NUMBER = rf"(?P<{{0}}>\d{{{{1,3}}}}|{'|'.join(sorted(_COUNT, key=len, reverse=True))})"
_RELATIVE = re.compile(
    r"\b(?P<day>the day before yesterday|the day after tomorrow|yesterday|last night|today|tonight|this morning"
    r"|this afternoon|this evening|tomorrow)\b"
    rf"|\b{_NUMBER.format('ago')} (?P<unit>day|week|weekend|month|year)s? (?:ago|back|before now)\b"
    rf"|\bin {_NUMBER.format('ahead')} (?P<unit2>day|week|month|year)s?\b"
    rf"|\b(?P<side>last|past|previous|this|next|coming) (?P<what>weekend|week|month|year|{_WEEKDAY})\b"
    r"|(?P<cday>大前天|前天|昨天|昨日|昨晚|今天|今日|今早|今晚|明天|明日|大后天|后天)"
    r"|(?P<wside>上|这|本|下)个?(?:周|星期|礼拜)(?P<wday>[一二三四五六日天末])?"
    r"|(?P<mside>上|这|本|下)个?月(?!\d)"
    r"|(?P<cyear>去年|前年|今年|明年)"
    r"|(?P<count>\d{1,3}|[一二两三四五六七八九十]+)(?P<cunit>天|日|周|个?星期|个?礼拜|个月|年)(?P<way>前|后)",
    re.IGNORECASE,
)
_DAYS = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "last night": -1,
    "tomorrow": 1,
    "the day after tomorrow": 2,
    "大前天": -3,
    "前天": -2,
    "昨天": -1,
    "昨日": -1,
    "昨晚": -1,
    "明天": 1,
    "明日": 1,
    "后天": 2,
    "大后天": 3,
}
_SIDES = {"last": -1, "past": -1, "previous": -1, "next": 1, "coming": 1, "上": -1, "下": 1}
_CHINESE_YEARS = {"去年": -1, "前年": -2, "今年": 0, "明年": 1}
_UNITS = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}


@dataclass(frozen=True)
class Span:
    """The days from `first` to `last`, both included."""

    first: date
    last: date


def told(text: str, at: datetime) -> list[Span]:
    """Return the days that a text speaks of, told at `at`: its day is that of the speaker's zone."""
    today = at.date()
    found = [span for match in _RELATIVE.finditer(text) if (span := _relative(match, today)) is not None]
    for year, month, day in _absolute(text):
        span = _span(year, month, day) if year else _nearest(month, day, today)
        found += [span] if span is not None else []
    return list(dict.fromkeys(found))


def iso(spans: list[Span]) -> list[str]:
    """Return spans as ISO 8601: each day of a week or less, months of up to a year, else years."""
    found: list[str] = []
    for span in spans:
        days = (span.last - span.first).days + 1
        if days <= _WEEK:
            found += [(span.first + timedelta(days=n)).isoformat() for n in range(days)]
        elif (span.first.year, span.first.month) == (span.last.year, span.last.month):
            found.append(f"{span.first:%Y-%m}")
        else:
            found.append(f"{span.first:%Y}")
    return list(dict.fromkeys(found))


def words(text: str) -> list[str]:
    """Return the absolute dates of a text as words: a day, its month and both without the year.

    So `8 May, 2023`, `May 8`, `2023-05-08` and `5月8日` meet: 2023-05-08, --05-08, 2023-05, --05 (ISO 8601 writes a
    date whose year is not told with two hyphens).
    """
    found: list[str] = []
    if _PERHAPS.search(text) is None:  # nearly every text of a desk
        return found
    for year, month, day in _absolute(text):
        if day:
            found += [f"{year:04}-{month:02}-{day:02}"] if year else []
            found.append(f"--{month:02}-{day:02}")
        found += [f"{year:04}-{month:02}"] if year else []
        found.append(f"--{month:02}")
    return found


def _absolute(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield year, month and day of each absolute date; what is not told is 0."""
    for match in _ABSOLUTE.finditer(text):
        told = {name: value for name, value in match.groupdict().items() if value}
        year, month, day = (
            next((value for name, value in told.items() if name.lstrip("i")[0] == part), "") for part in "ymd"
        )
        number = int(month) if month.isdigit() else _month(month)
        made = (int(year or 0), number, int(day or 0))
        if _span(made[0] or 2000, number, made[2]) is not None:  # a leap year: 29 February is a day
            yield made


def _month(name: str) -> int:
    return next(n for n, month in enumerate(_MONTHS, 1) if month.startswith(name[:3].lower()))


def _span(year: int, month: int, day: int) -> Span | None:
    """Return the day, or the whole month where none is told; None for 31 April."""
    try:
        first = date(year, month, day or 1)
    except ValueError:
        return None
    return Span(first, first if day else _month_end(first))


def _nearest(month: int, day: int, today: date) -> Span | None:
    """Return the day or month of the year in which it lies nearest to today."""
    spans = [_span(year, month, day) for year in (today.year - 1, today.year, today.year + 1)]
    return min((s for s in spans if s is not None), key=lambda s: abs((s.first - today).days), default=None)


def _relative(match: re.Match[str], today: date) -> Span | None:
    told = {name: value.lower() for name, value in match.groupdict().items() if value}
    try:
        return _chinese(told, today) or _english(told, today)
    except OverflowError:  # before the year 1 or after 9999
        return None


def _english(told: dict[str, str], today: date) -> Span:
    if "day" in told:
        return _moved(today, "day", _DAYS.get(told["day"], 0))
    if "side" in told:
        return _sided(today, _SIDES.get(told["side"], 0), told["what"])
    if "ago" in told:
        return _moved(today, told["unit"], -_count(told["ago"]))
    return _moved(today, told["unit2"], _count(told["ahead"]))


def _chinese(told: dict[str, str], today: date) -> Span | None:
    if "cday" in told:
        return _moved(today, "day", _DAYS.get(told["cday"], 0))
    if "cyear" in told:
        return _moved(today, "year", _CHINESE_YEARS[told["cyear"]])
    if "mside" in told:
        return _moved(today, "month", _SIDES.get(told["mside"], 0))
    if "wside" in told:
        return _chinese_week(today, _SIDES.get(told["wside"], 0), told.get("wday", ""))
    if "count" in told:
        unit = _UNITS[told["cunit"].removeprefix("个")]
        return _moved(today, unit, _count(told["count"]) * (-1 if told["way"] == "前" else 1))
    return None


def _count(number: str) -> int:
    if number.isdigit():
        return int(number)
    if number in _COUNT:
        return _COUNT[number]
    tens, ten, ones = number.rpartition("十")
    return (_CHINESE.get(tens, 1) * 10 if ten else 0) + (_CHINESE.get(ones, 0) if ones else 0)


def _moved(today: date, unit: str, by: int) -> Span:
    """Return the day, calendar week, weekend, month or year that lies `by` of them from today."""
    if unit == "day":
        day = today + timedelta(days=by)
        return Span(day, day)
    if unit in {"week", "weekend"}:
        monday = today - timedelta(days=today.weekday()) + timedelta(weeks=by)
        return Span(
            monday + timedelta(days=_SATURDAY if unit == "weekend" else 0), monday + timedelta(days=6)
        )
    year, month = (today.year + by, 1) if unit == "year" else _month_apart(today, by)
    if not 1 <= year < date.max.year:
        raise OverflowError
    first = date(year, month, 1)
    return Span(first, date(year, 12, 31) if unit == "year" else _month_end(first))


def _month_apart(today: date, by: int) -> tuple[int, int]:
    """Return year and month, `by` months from a day."""
    year, month = divmod(today.year * _YEAR + today.month - 1 + by, _YEAR)
    return year, month + 1


def _month_end(first: date) -> date:
    year, month = _month_apart(first, 1)
    return date(year, month, 1) - timedelta(days=1) if year <= date.max.year else date(first.year, 12, 31)


def _sided(today: date, side: int, what: str) -> Span:
    if what in {"week", "weekend", "month", "year"}:
        return _moved(today, what, side)
    weekday = next(n for n, name in enumerate(_WEEKDAYS) if name.startswith(what[:3]))
    return _weekday(today, side, weekday)


def _weekday(today: date, side: int, weekday: int) -> Span:
    """Return the last such day before today, the next after it, or the one of this week."""
    apart = (weekday - today.weekday()) % _WEEK
    days = {-1: apart - _WEEK, 1: apart or _WEEK}.get(side, weekday - today.weekday())
    day = today + timedelta(days=days)
    return Span(day, day)


def _chinese_week(today: date, side: int, weekday: str) -> Span:
    """Return a day of the week before, of this one or of the next: 上周五 is counted by weeks."""
    if weekday in {"", "末"}:
        return _moved(today, "weekend" if weekday else "week", side)
    day = _moved(today, "week", side).first + timedelta(days=_CHINESE[weekday] - 1)
    return Span(day, day)
