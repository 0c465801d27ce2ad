"""Days and months as numbers: names in several languages, missing years, leap seconds; pure."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from functools import lru_cache

_NAMES = (
    "jan january janv janvier januar ene enero gen gennaio янв января 一月 1月",
    "feb february févr fevr fév février februar febrero fev febbraio фев февраля 二月 2月",
    "mar march mars mär märz mrz marzo mrt мар марта 三月 3月",
    "apr april avr avril abr abril aprile апр апреля 四月 4月",
    "may mai mayo mag maggio mei мая май 五月 5月",
    "jun june juin juni junio giu giugno июн июня 六月 6月",
    "jul july juil juillet juli julio lug luglio июл июля 七月 7月",
    "aug august août aout agosto ago авг августа 八月 8月",
    "sep sept september septembre septiembre set settembre сен сентября 九月 9月",
    "oct october octobre okt oktober octubre out ott ottobre окт октября 十月 10月",
    "nov november novembre noviembre ноя ноября 十一月 11月",
    "dec december déc décembre dez dezember dic diciembre dicembre дек декабря 十二月 12月",
)
MONTHS = {name: number for number, names in enumerate(_NAMES, 1) for name in names.split()}
MONTHS |= {name.capitalize(): number for name, number in MONTHS.items()}

#: TAI minus UTC from these moments on (epoch seconds), from the IERS's list; nothing was added since 2017.
_LEAPS = (
    (1_483_228_800, 37), (1_435_708_800, 36), (1_341_100_800, 35), (1_230_768_000, 34),
    (1_136_073_600, 33), (915_148_800, 32), (867_715_200, 31), (820_454_400, 30), (773_020_800, 29),
    (741_484_800, 28), (709_948_800, 27), (662_688_000, 26), (631_152_000, 25), (567_993_600, 24),
    (489_024_000, 23), (425_865_600, 22), (394_329_600, 21), (362_793_600, 20), (315_532_800, 19),
    (283_996_800, 18), (252_460_800, 17), (220_924_800, 16), (189_302_400, 15), (157_766_400, 14),
    (126_230_400, 13), (94_694_400, 12), (78_796_800, 11), (63_072_000, 10),
)  # fmt: skip
#: A line cannot be younger than its file; so much clock difference is forgiven.
_SLACK = timedelta(days=1)
#: A clock without a date that goes back by more than this has passed midnight.
_MIDNIGHT = 3600.0
DAY = 86_400.0
_YEAR = 365.2425 * DAY
#: Lines may be so much out of order; a month that lies further back is that of the next year.
_DISORDER = 7 * DAY
_EPOCH = 719_163  # ordinal of 1970-01-01


@lru_cache(maxsize=4096)
def day(year: int, month: int, number: int) -> float:
    """Return midnight of a day as seconds since 1970, without a zone."""
    return (date(year, month, number).toordinal() - _EPOCH) * DAY


def month(name: str) -> int:
    """Return the number of a month's name; raise ValueError for other words."""
    found = MONTHS.get(name) or MONTHS.get(name.lower().rstrip("."))
    if found is None:
        raise ValueError(name)
    return found


def from_tai(label: int) -> float:
    """Return the epoch seconds of a TAI64 label."""
    seconds = label - (1 << 62)
    return float(seconds - next((gap for since, gap in _LEAPS if seconds - gap >= since), 10))


class Calendar:
    """Settles the years and days that the stamps of one file leave out, by its last change and by their order.

    The first stamp takes the latest year that does not lie after the file's last change. Each next one goes on:
    it takes the next year where it would lie more than a week before the one before it, unless that leads past
    the last change; then it takes the nearest. A stamp beside it that names its year, of about the same day, goes
    before all of this; `origin` is the first such stamp of a file, where it is known beforehand.
    """

    def __init__(self, reference: datetime) -> None:
        self.reference = reference
        self.yearless = self.dateless = False
        self._latest = (reference + _SLACK).timestamp()
        self._last: float | None = None
        self._seen: tuple[int, int] = (0, 0)
        self._midnight = 0.0
        self._today = day(reference.year, reference.month, reference.day)
        self._clock = 0.0
        self._anchored = False
        #: The last stamp of the file that names its day, until a clock has been put beside it.
        self.dated: float | None = None
        #: The last stamp that names its year, until a stamp without one has been put beside it; and the first
        #: that settled a year.
        self._beside: float | None = None
        self.settled: float | None = None
        self.origin: float | None = None

    def meet(self, local: float) -> None:
        """Note a stamp that names its day; one that is not from `moment` names its year too."""
        self.dated = local
        if local != self._last:
            self._beside, self._seen = local, (0, 0)

    def moment(self, number: int, date_: int, clock: float) -> float:
        """Return the moment of a month, a day and a clock."""
        if (number, date_) != self._seen:
            self._midnight = self._year(number, date_, clock)
            self._seen = (number, date_)
            self.yearless = True
        self._last = self._midnight + clock
        return self._last

    def clock(self, clock: float) -> float:
        """Return the moment of a clock without a date: the nearest to a dated line before it, if there is one."""
        if self.dated is not None:  # lines of two programs in one log, or a head that names the day
            near = self.dated // DAY * DAY + clock
            near += DAY * round((self.dated - near) / DAY)
            self.dated, self._anchored = None, True
            self._today, self._clock = near - clock, clock
            return near
        self.dateless = self.dateless or not self._anchored
        if clock < self._clock - _MIDNIGHT:
            self._today += DAY
        self._clock = clock
        return self._today + clock

    def _year(self, number: int, date_: int, clock: float) -> float:
        days = self._days(number, date_)
        past = [d for d in days if d + clock <= self._latest]
        beside, self._beside = self._beside, None
        if beside is not None and past:
            near = min(past, key=lambda d: abs(d + clock - beside))
            if abs(near + clock - beside) <= _DISORDER:
                self.settled = self.settled or beside
                return near
        if self._last is not None and days:
            last = self._last
            onward = next((d for d in days if d + clock >= last - _DISORDER), None)
            if onward is not None and onward + clock <= self._latest:
                return onward
            return min(past or days, key=lambda d: abs(d + clock - last))
        if self.origin is not None:
            past = [d for d in past if d + clock <= self.origin + _DISORDER] or past
        if not past:
            raise ValueError(f"no year fits {number}-{date_}")
        return past[-1]

    def _days(self, number: int, date_: int) -> list[float]:
        """Return the midnights of a month and a day in the years round what is known."""
        near = [m for m in (self._beside, self._last, self.origin) if m is not None]
        years = {int(1970 + m // _YEAR) for m in near} if near else {self.reference.year}
        days = []
        for year in sorted({y + n for y in years for n in range(-4, 5)}):
            try:
                days.append(day(year, number, date_))
            except ValueError:  # 29 February, or no date at all
                continue
        return days
