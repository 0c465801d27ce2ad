"""Zones of time stamps: names and offsets, clock changes, and names that mean several zones; pure."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from kernel.errors import Correctable

#: Hours east of UTC of names that mean one thing.
_HOURS = {
    "Z": 0, "UTC": 0, "GMT": 0, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3,
    "HKT": 8, "SGT": 8, "JST": 9, "KST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
    "EDT": -4, "CDT": -5, "MDT": -6, "PDT": -7, "AKST": -9, "AKDT": -8, "HST": -10,
}  # fmt: skip
#: Names that mean several zones, what people most often mean by them first.
_AMBIGUOUS = {
    "CST": (-6, 8, -5),
    "IST": (5.5, 2, 1),
    "BST": (1, 6, 11),
    "EST": (-5, 10),
    "MST": (-7, 8, 6.5),
    "PST": (-8, 8),
    "AST": (-4, 3),
}
_REGIONS = "Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific"
#: What a stamp may carry as its zone, longest names first; PHP writes the name of a place.
ZONE = (
    r"(?: ?(Z|[+-]\d{2}(?::?\d{2})?|"
    + "|".join(sorted(({*_HOURS, *_AMBIGUOUS} - {"Z"}), key=lambda n: (-len(n), n)))
    + rf"|(?:{_REGIONS})/[A-Za-z_/-]{{2,40}})(?![A-Za-z0-9]))?"
)
_FIXED = re.compile(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d{2}))?")
#: Clock changes fall on quarters of an hour.
_QUARTER = 900
#: A line may be so much older than the one before it without the clock having been set back.
_DISORDER = 120.0
_DAY = 86_400.0
_MEMO_LIMIT = 4096


def zone_named(name: str) -> tzinfo:
    """Return the zone of an IANA name or an offset such as `UTC+8`; raise with what to write instead."""
    if name in ("", "UTC", "Z"):
        return UTC
    if found := _FIXED.fullmatch(name.strip()):
        hours = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
        if hours < timedelta(hours=24):
            return timezone(-hours if found[1] == "-" else hours)
    try:
        return ZoneInfo(name.strip())
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise Correctable(
            f"no time zone is named {name[:60]!r}",
            why="it is neither an IANA name nor an offset",
            next_step="Write one such as Asia/Shanghai, Europe/Berlin, UTC or +08:00.",
        ) from error


@lru_cache(maxsize=4096)
def _numeric(text: str) -> float:
    digits = text[1:].replace(":", "")
    seconds = int(digits[:2]) * 3600 + int(digits[2:] or 0) * 60
    if seconds > _DAY:
        raise ValueError(text)
    return float(-seconds if text[0] == "-" else seconds)


@lru_cache(maxsize=1)
def _places() -> frozenset[str]:
    """Return the names there are: what a log says is looked up, and never a path."""
    return frozenset(available_timezones())


@lru_cache(maxsize=4096)
def _of_place(name: str, quarter: int) -> float | None:
    """Return the offset of a place at a local time, or None where there is no such place."""
    offset = ZoneInfo(name).utcoffset(_wall(quarter * _QUARTER)) if name in _places() else None
    return offset.total_seconds() if offset is not None else None


def _wall(local: float) -> datetime:
    return datetime(1970, 1, 1) + timedelta(seconds=int(local))  # noqa: DTZ001 - a wall clock has no zone


@lru_cache(maxsize=64)
def _changes(name: str) -> bool:
    """Return whether a zone has had more than one offset since the logs of today began."""
    zone = zone_named(name)
    first = datetime(2000, 1, 1, tzinfo=zone)
    return len({(first + timedelta(days=30 * n)).utcoffset() for n in range(12 * 40)}) > 1


class Zone:
    """Turns local seconds into epoch seconds for the stamps of one file, line after line."""

    def __init__(self, name: str = "UTC") -> None:
        self.name = name or "UTC"
        self.ambiguous: dict[str, float] = {}
        self._zone = zone_named(self.name)
        self._fixed = self._zone is UTC or isinstance(self._zone, timezone)
        self._memo: dict[int, list[float]] = {}
        self._last = 0.0
        self._again = -_DAY  # when the second telling was met

    def utc(self, local: float) -> float:
        """Return the moment of a clock that names no zone."""
        if self._zone is UTC:
            return local
        first, second = self._offsets(local)
        moment = local - first
        if first != second:
            # the hour that is told twice: what would lie before the last line is its second telling
            if moment < self._last - _DISORDER and self._last - moment < _DAY:
                self._again = moment
            if abs(moment - self._again) < _DAY:
                moment = local - second
        self._last = moment
        return moment

    @property
    def ordered(self) -> bool:
        """Return whether the order of lines can matter: in zones whose clocks are set back."""
        return not self._fixed and _changes(self.name)

    def offset(self, name: str, local: float) -> float:
        """Return the seconds east of UTC that a zone's name or number means at a local time."""
        if name[0] in "+-":
            return _numeric(name)
        hours = _HOURS.get(name)
        if hours is not None:
            return hours * 3600.0
        if "/" in name:
            there = _of_place(name, int(local // _QUARTER))
            return self._offsets(local)[0] if there is None else there
        choices = [h * 3600.0 for h in _AMBIGUOUS[name]]
        here = self._offsets(local)[0]
        taken = here if here in choices and self._zone is not UTC else choices[0]
        self.ambiguous[name] = taken
        return taken

    def _offsets(self, local: float) -> list[float]:
        """Return the offsets before and after a clock change; away from one they are the same."""
        key = 0 if self._fixed else int(local // _QUARTER)
        found = self._memo.get(key)
        if found is None:
            wall = _wall(local)
            both = [self._zone.utcoffset(wall.replace(tzinfo=self._zone, fold=fold)) for fold in (0, 1)]
            found = [offset.total_seconds() if offset else 0.0 for offset in both]
            if len(self._memo) > _MEMO_LIMIT:
                self._memo.clear()
            self._memo[key] = found
        return found
