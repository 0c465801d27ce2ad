"""What the tools of an assignment returned, as proof of numbers: counts, shares of totals, spans of time; pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import Any

from agents.runtime.claims import Claim, numbers, plain

#: Numbers of a result that count nothing: places, scores, sizes of a step.
_NO_COUNTS = frozenset(
    [
        *("line", "asked", "earlier", "later", "from", "root_line", "skip"),
        *("score", "strength", "p", "q", "fold", "share", "per_1000", "confidence"),
        *("id", "port", "seconds", "bucket_seconds", "part_seconds"),
    ]
)
#: What a share is a share of.
_TOTALS = frozenset(["total", "events", "all_events", "lines", "templates", "count", "before", "after"])
#: What the reader says of a log in its own words: what it counts there, it has counted.
_NOTES = frozenset(["notes", "not_read", "chosen"])
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?(?:Z|[+-]\d{2}:\d{2})")
#: Of a list or a mapping of so few counts any two may be added up; of a longer one only all.
_PAIRED = 16
#: Rows of one list, and words of one row, that are looked at for what they share.
_ROWS, _TAGS, _WORD_LIMIT = 200, 8, 80
#: Results beyond this size are not taken in: no tool answers so much.
_TEXT_LIMIT = 2_000_000
_SPACE = re.compile(r"\s+")


class Proofs:
    """The numbers that an outcome may use."""

    def __init__(self, results: Iterable[Any], texts: Iterable[str] = (), lines: Iterable[str] = ()) -> None:
        self.counts: set[float] = set()
        self.others: set[float] = set()
        self.totals: set[float] = set()
        self.ratios: set[float] = set()
        self._texts: list[str] = []
        self._size = 0
        self._times: set[float] = set()
        for result in results:
            self._take("", result)
        for text in texts:
            self._say(text)
        self._quoted = {number for line in lines for number in numbers(line)}
        self._said = " ".join(self._texts)
        self._spoken = numbers(self._said) | self._quoted
        self._moments = sorted(self._times)

    def prove(self, claim: Claim) -> bool:
        """Tell whether a claimed number is one that a tool returned, that a cited line says, or that follows."""
        if claim.kind == "percent":
            return self._share(claim)
        if claim.kind == "duration":
            return claim.value in self._spoken or claim.value in self.others or self._lasted(claim)
        if claim.value in self.counts or claim.value in self._quoted:
            return True
        if claim.kind == "count":
            # as a source words it: `5 attempts` in a message is no proof of 5 errors
            if claim.phrase.lower().endswith(" times") and claim.value in self.ratios:
                return True
            return bool(claim.phrase) and _folded(claim.phrase) in self._said
        return claim.value in self.others or claim.value in self._spoken or self._ratio(claim)

    def _take(self, key: str, value: Any) -> None:
        if isinstance(value, bool) or value is None:
            return
        if isinstance(value, int | float):
            self._number(key, float(value))
        elif isinstance(value, str):
            self._say(value)
            if key in _NOTES:
                self.counts |= numbers(value)
            if _TIME.fullmatch(value):
                self._times.add(datetime.fromisoformat(value).timestamp())
        elif isinstance(value, Mapping):
            self._mapping(value)
        elif isinstance(value, list | tuple):
            self._list(key, value)

    def _number(self, key: str, number: float) -> None:
        if key in _NO_COUNTS or not number.is_integer():
            self.others.add(number)
            return
        self.counts.add(number)
        if key in _TOTALS or key.endswith("_total"):
            self.totals.add(number)

    def _mapping(self, value: Mapping[str, Any]) -> None:
        for key, item in value.items():
            self._say(str(key))
            self._take(str(key), item)
        plain_counts = {k: v for k, v in value.items() if isinstance(v, int) and not isinstance(v, bool)}
        if len(plain_counts) == len(value):  # counts by level, by service
            self.counts.add(float(len(value)))
            self._sums(list(plain_counts.values()))
        before, after = value.get("before"), value.get("after")
        if isinstance(before, int) and isinstance(after, int):
            self.counts.add(float(abs(after - before)))
            if before and after:
                self.ratios |= {after / before, before / after}

    def _list(self, key: str, value: Sequence[Any]) -> None:
        self.counts.add(float(len(value)))
        for item in value:
            self._take(key, item)
        rows = [i for i in value if isinstance(i, Mapping) and isinstance(i.get("count"), int)]
        self._sums([row["count"] for row in rows])
        for shared in _sharing(rows[:_ROWS]):
            self.counts.add(float(sum(row["count"] for row in shared)))

    def _sums(self, counts: list[int]) -> None:
        if not counts:
            return
        self.counts.add(float(sum(counts)))
        self.totals.add(float(sum(counts)))
        if len(counts) <= _PAIRED:
            self.counts |= {float(a + b) for a, b in combinations(counts, 2)}

    def _say(self, text: str) -> None:
        if self._size < _TEXT_LIMIT:
            self._size += len(text)
            self._texts.append(_folded(text))

    def _share(self, claim: Claim) -> bool:
        exact = 0.5 * 10**-claim.decimals + 1e-9
        if claim.value in self._spoken or any(
            abs(n * 100 - claim.value) <= exact for n in self.others if n <= 1
        ):
            return True
        counts = sorted(self.counts)
        for total in self.totals:
            if total <= 0:
                continue
            at = bisect_left(counts, (claim.value - exact) * total / 100)
            if at < len(counts) and counts[at] <= (claim.value + exact) * total / 100:
                return True
        return False

    def _lasted(self, claim: Claim) -> bool:
        """Tell whether two times lie so far apart, rounded as the claim is or cut to whole units."""
        low = (claim.value - 0.5 * 10**-claim.decimals) * claim.unit
        high = (claim.value + 10**-claim.decimals) * claim.unit
        if any(low <= number <= high for number in self.others):
            return True
        for start in self._moments:
            at = bisect_left(self._moments, start + low)
            if at < len(self._moments) and self._moments[at] <= start + high:
                return True
        return False

    def _ratio(self, claim: Claim) -> bool:
        return any(abs(ratio - claim.value) <= 0.5 * 10**-claim.decimals + 1e-9 for ratio in self.ratios)


def _sharing(rows: Sequence[Mapping[str, Any]]) -> Iterable[list[Mapping[str, Any]]]:
    """Return the rows that have one word in common, or two: those of one kind, of one kind and service."""
    groups: dict[tuple[tuple[str, str], ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        firsts = ((k, v[0] if isinstance(v, list) and v else v) for k, v in row.items())
        tags = [(key, word) for key, word in firsts if isinstance(word, str) and len(word) <= _WORD_LIMIT][
            :_TAGS
        ]
        for tag in (*((t,) for t in tags), *combinations(tags, 2)):
            groups.setdefault(tag, []).append(row)
    return groups.values()


def _folded(text: str) -> str:
    return _SPACE.sub(" ", plain(text)).lower().replace(",", "")
