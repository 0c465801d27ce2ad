"""What values a template's wildcards took: a bounded summary per place, which can be merged; pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import Any, Literal
from zlib import crc32

Kind = Literal["one value", "few", "many", "rising", "falling"]

#: The most frequent values kept (space-saving), so `few` may list them all, and the characters kept of each.
TOP = 8
_VALUE_LENGTH = 64
#: Smallest hashes kept: the number of distinct values is exact up to here and estimated above (about 25% off).
_HASHES = 16
_HASH_SPACE = 2**32
#: A trend is told from so many numbers on, when nearly all steps go one way or the line fits so well.
_TREND_LOOKS = 8
_STEPS, _FIT = 0.9, 0.85

_DIGITS = 18
_NUMBER = re.compile(rf"([-+]?[0-9]{{1,{_DIGITS}}}(?:\.[0-9]{{1,{_DIGITS}}})?)(%| ?[A-Za-z]{{1,12}})?")


@dataclass(frozen=True, slots=True)
class Parameter:
    """What is known of the values at one wildcard of a template.

    `place` is the token of the template (counted from 0) that holds it; `label` is what stands before it (`user`,
    `rhost=`). `looked` of the template's events were looked at: all of the first ones, then ever fewer, spread
    evenly, so "one value" means one value in `looked` events. `top` has the most frequent values with their counts,
    complete for "one value" and "few"; among "many" only those sure to have come more than once, with the count
    that is sure. `low` to `last` are set where every value was a number (of one unit). "rising" and "falling" go
    before the other kinds.
    """

    place: int
    label: str
    kind: Kind
    looked: int
    distinct: int
    top: tuple[tuple[str, int], ...]
    low: float | None = None
    high: float | None = None
    first: float | None = None
    last: float | None = None
    unit: str = ""


class Values:
    """A bounded summary of a stream of values."""

    __slots__ = (
        "_crossed",
        "_downs",
        "_errors",
        "_hashes",
        "_squares",
        "_sum",
        "_ups",
        "count",
        "first",
        "high",
        "last",
        "low",
        "numeric",
        "top",
        "unit",
    )

    def __init__(self) -> None:
        self.count = 0
        self.top: dict[str, int] = {}
        #: How much of a count in `top` may belong to values that had to go.
        self._errors: dict[str, int] = {}
        self._hashes: list[int] = []
        self.numeric = True
        self.unit = ""
        self.first = self.last = self.low = self.high = 0.0
        self._ups = self._downs = 0
        # sums of y, y*y and x*y where y is the value less the first one and x counts the values
        self._sum = self._squares = self._crossed = 0.0

    def add(self, value: str, times: int = 1) -> None:
        """Take in one value that came so often in a row."""
        if times <= 0:
            return
        value = value[:_VALUE_LENGTH]
        if value in self.top:
            self.top[value] += times
        else:
            self._new(value, times, 0)
            self._hash(crc32(value.encode("utf-8", "replace")))
        if self.numeric:
            self._number(value, times)
        self.count += times

    def _new(self, value: str, count: int, error: int) -> None:
        if len(self.top) >= TOP:  # space-saving: the rarest makes room and leaves its count
            rarest = min(self.top, key=self.top.__getitem__)
            left = self.top.pop(rarest)
            self._errors.pop(rarest, None)
            count, error = count + left, error + left
        self.top[value] = count
        if error:
            self._errors[value] = error

    def _hash(self, number: int) -> None:
        hashes = self._hashes
        if len(hashes) >= _HASHES and number >= hashes[-1]:
            return
        place = bisect_left(hashes, number)
        if place == len(hashes) or hashes[place] != number:
            hashes.insert(place, number)
            del hashes[_HASHES:]

    def _number(self, value: str, times: int) -> None:
        if value.isdecimal() and len(value) <= _DIGITS and value.isascii():
            text, unit = value, ""
        else:
            found = _NUMBER.fullmatch(value)
            text, unit = (found[1], (found[2] or "").strip()) if found else ("", "")
        if not text or (self.count and unit != self.unit):
            self.numeric = False
            return
        number = float(text)
        if not self.count:
            self.first = self.last = self.low = self.high = number
            self.unit = unit
            return
        self._ups += number > self.last
        self._downs += number < self.last
        self.last = number
        self.low, self.high = min(self.low, number), max(self.high, number)
        above = number - self.first
        self._sum += above * times
        self._squares += above * above * times
        self._crossed += above * (times * self.count + times * (times - 1) / 2)

    def distinct(self) -> int:
        """Return how many different values there were: exact while few, an estimate when many."""
        if len(self._hashes) < _HASHES:
            return len(self._hashes)
        return max(_HASHES, round((_HASHES - 1) * _HASH_SPACE / (self._hashes[-1] + 1)))

    def kind(self) -> Kind:
        """Return what to say of the values; a trend goes before numbers of values."""
        distinct = self.distinct()
        if distinct <= 1:
            return "one value"
        if self.numeric and self.count >= _TREND_LOOKS and (trend := self._trend()):
            return trend
        return "few" if distinct <= TOP else "many"

    def _trend(self) -> Literal["rising", "falling"] | None:
        steps = self._ups + self._downs
        if steps >= _TREND_LOOKS - 1 and max(self._ups, self._downs) >= _STEPS * steps:
            return "rising" if self._ups > self._downs else "falling"
        n, mean = self.count, self._sum / self.count
        spread = self._squares - n * mean * mean
        if spread <= 0 or self.distinct() <= TOP // 2:
            return None
        places = n * (n * n - 1) / 12
        together = self._crossed - mean * n * (n - 1) / 2
        fit = together / (spread * places) ** 0.5
        return None if abs(fit) < _FIT else "rising" if fit > 0 else "falling"

    def merge(self, other: Values) -> None:
        """Take in a summary of values that came after these."""
        if not other.count:
            return
        for value, count in other.top.items():
            error = other._errors.get(value, 0)
            if value not in self.top:
                self._new(value, count, error)
                continue
            self.top[value] += count
            if error:
                self._errors[value] = self._errors.get(value, 0) + error
        for number in other._hashes:
            self._hash(number)
        if not self.count:
            self._take_numbers(other)
        elif self.numeric and other.numeric and self.unit == other.unit:
            self._join_numbers(other)
        else:
            self.numeric = False
        self.count += other.count

    def _take_numbers(self, other: Values) -> None:
        for name in _PLAIN:
            setattr(self, name, getattr(other, name))

    def _join_numbers(self, other: Values) -> None:
        n, shift = other.count, other.first - self.first
        self._ups += other._ups + (other.first > self.last)
        self._downs += other._downs + (other.first < self.last)
        self.low, self.high, self.last = min(self.low, other.low), max(self.high, other.high), other.last
        total = other._sum + n * shift
        self._squares += other._squares + 2 * shift * other._sum + n * shift * shift
        self._crossed += other._crossed + shift * n * (n - 1) / 2 + self.count * total
        self._sum += total

    def parameter(self, place: int, label: str) -> Parameter:
        """Return what is known, for people and for rules."""
        sure = {value: count - self._errors.get(value, 0) for value, count in self.top.items()}
        if self._errors:  # a value that may have come once says nothing
            sure = {value: count for value, count in sure.items() if count > 1}
        top = tuple(sorted(sure.items(), key=lambda one: -one[1]))
        numbers = (self.low, self.high, self.first, self.last, self.unit) if self.numeric else ()
        return Parameter(place, label, self.kind(), self.count, self.distinct(), top, *numbers)

    def state(self) -> list[Any]:
        """Return the summary as plain JSON; of one value it is that and how often."""
        if len(self.top) == 1 and len(self._hashes) == 1:
            return [*self.top, self.count]
        head: list[Any] = [self.count, self.top, self._hashes, self._errors]
        return [*head, *(getattr(self, name) for name in _PLAIN)] if self.numeric else head

    @classmethod
    def from_state(cls, state: list[Any]) -> Values:
        """Return the summary that `state` was taken of."""
        made = cls()
        if len(state) == 2:  # noqa: PLR2004 - a value and how often
            made.add(*state)
            return made
        made.count, made.top, made._hashes, made._errors, *numbers = state
        made.numeric = bool(numbers)
        for name, value in zip(_PLAIN, numbers, strict=False):
            setattr(made, name, value)
        return made


_PLAIN = (
    "numeric",
    "unit",
    "first",
    "last",
    "low",
    "high",
    "_ups",
    "_downs",
    "_sum",
    "_squares",
    "_crossed",
)
