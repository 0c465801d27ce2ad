"""Reads the window a request speaks of, in the log's own time: since, before, between, the last hour; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

#: What "at 10:20" reaches to either side.
_AROUND = timedelta(minutes=1)
#: … and where the cause of what was then is looked for.
_BEFORE = timedelta(minutes=15)

_T = r"((?:\d{4}-\d{2}-\d{2}[ T])?\d{1,2}:\d{2}(?::\d{2})?(?:\.\d{1,6})?(?:Z|[+-]\d{2}:?\d{2})?)"
_BETWEEN = re.compile(
    rf"(?i)\b(?:between|from)\s+{_T}\s+(?:and|to|until|till|-|–)\s+{_T}|{_T}\s?(?:-|–|—|~|～|至|到)\s?{_T}"
)
_SINCE = re.compile(
    rf"(?i)\b(?:since|after|from|starting at)\s+{_T}|{_T}\s?(?:以来|之后|以后|后|开始|起)|(?:自|从)\s?{_T}"
)
_UNTIL = re.compile(rf"(?i)\b(?:before|until|till|up to)\s+{_T}|{_T}\s?(?:之前|以前|前)")
_AT = re.compile(rf"(?i)\b(?:at|around|about|near)\s+{_T}|{_T}")
_LAST = re.compile(
    r"(?i)\b(?:last|past|previous)\s+(\d{1,4}|an?|half an)?\s*(seconds?|secs?|minutes?|mins?|hours?|hrs?|days?)\b"
    r"|(?:最近|过去|近)(?:的)?\s?(\d{1,4}|一|半|两)?\s?个?(秒|分钟|小?时|天)"
)
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "秒": 1, "分": 60, "小": 3600, "时": 3600, "天": 86_400}
_COUNTS = {"a": 1.0, "an": 1.0, "half an": 0.5, "一": 1.0, "半": 0.5, "两": 2.0}


@dataclass(frozen=True)
class Span:
    """A window as ISO texts; an empty side is open. `at` is the moment a request names, where it names one."""

    since: str = ""
    until: str = ""
    at: str = ""

    def __bool__(self) -> bool:
        return bool(self.since or self.until)

    @property
    def arguments(self) -> dict[str, str]:
        """Return the window as tools take it."""
        return {name: value for name, value in (("since", self.since), ("until", self.until)) if value}

    @property
    def around(self) -> Span:
        """Return the window to look for a cause in: that of a moment is wider, as causes come before what they do."""
        if not (self.at and self.since and self.until):
            return self
        moment = datetime.fromisoformat(self.at)
        return Span(_iso(moment - _BEFORE), _iso(moment + _BEFORE))


NO_SPAN = Span()


def span_of(request: str, start: str, end: str) -> Span:
    """Return the window a request speaks of; a bare clock time is one inside the log's own `start` to `end`."""
    if not start or not end:
        return Span()
    first, last = datetime.fromisoformat(start), datetime.fromisoformat(end)

    def moment(text: str) -> datetime | None:
        return _moment(text, first, last)

    if found := _BETWEEN.search(request):
        low, high = [moment(g) for g in found.groups() if g]
        if low and high and low < high:
            return Span(_iso(low), _iso(high))
    if found := _LAST.search(request):
        return Span(since=_iso(last - _length(found)))
    for pattern, name in ((_SINCE, "since"), (_UNTIL, "until")):
        if (found := pattern.search(request)) and (time := moment(next(g for g in found.groups() if g))):
            return Span(_iso(time), "", _iso(time)) if name == "since" else Span("", _iso(time), _iso(time))
    if (found := _AT.search(request)) and (time := moment(next(g for g in found.groups() if g))):
        return Span(_iso(time - _AROUND), _iso(time + _AROUND), _iso(time))
    return Span()


def _moment(text: str, first: datetime, last: datetime) -> datetime | None:
    """Return the moment a text names; a clock time alone is the latest inside the log, else on its last day."""
    try:
        if "-" in text[:8]:
            time = datetime.fromisoformat(text.replace(" ", "T"))
            return time if time.tzinfo else time.replace(tzinfo=UTC)
        clock = datetime.fromisoformat(f"2000-01-01T{text.zfill(5) if text[1] != ':' else '0' + text}")
    except ValueError:
        return None
    day = last.replace(
        hour=clock.hour, minute=clock.minute, second=clock.second, microsecond=clock.microsecond
    )
    if clock.tzinfo:
        day = day.replace(tzinfo=clock.tzinfo).astimezone(UTC)
    while day > last and day - timedelta(days=1) >= first:
        day -= timedelta(days=1)
    return day


def _length(found: re.Match[str]) -> timedelta:
    count, unit = (found[1], found[2]) if found[2] else (found[3], found[4])
    number = _COUNTS.get((count or "a").lower()) or float(count)
    return timedelta(seconds=number * _UNITS[unit[0].lower()])


def _iso(time: datetime) -> str:
    return time.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
