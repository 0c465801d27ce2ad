"""Which of the stamps in a line is the time of the line: what stands first, and what may tell its year; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agents.log_analysis.formats.spellings import Search
from agents.log_analysis.formats.stamps import SPELLINGS, Reader, yearless

#: A stamp stands near the start of its line.
HEAD = 160
#: A stamp that begins so near the start of a line is the line's own, whatever moments the line tells of.
_FIRST = 12
#: No stamp is longer.
_LONGEST = 48
#: What stands between a stamp that was put before a line, as by syslog, and the line.
_PUT_BEFORE = re.compile(r"\s?(?:[\w.:-]{1,255} [\w./()@:-]{1,60}?(?:\[\d{1,10}\])?: ?)?\W{0,3}")

Fit = tuple[re.Match[str], Reader]
Spelled = Sequence[tuple[Search, Reader, bool]]


def spelled(text: str) -> Spelled:
    """Return the spellings that may stand in the head of a line."""
    return SPELLINGS.within(text[:HEAD])


def fits(text: str, spellings: Spelled) -> tuple[list[Fit], list[Fit]]:
    """Return what may be the stamp of a line, the likeliest first, and stamps beside one without a year that have one.

    A stamp without a year may have been put before a line that has its own: then that comes first.
    """
    first: Fit | None = None
    deep: list[Fit] = []
    for search, reader, anchored in spellings:
        if first is not None and anchored:
            continue
        # after one that stands deeper, only one at the head is of interest
        found = search(text, 0, HEAD if first is not None or not deep else _FIRST + _LONGEST)
        if found is None:
            continue
        if first is None and found.start() <= _FIRST:
            if not yearless(found, reader):
                return [(found, reader), *deep], []
            first = found, reader
        else:
            deep.append((found, reader))
    if first is None:
        return deep, []
    dated = [one for one in deep if one[0].start() >= first[0].end() and not yearless(*one)]
    if dated and _PUT_BEFORE.fullmatch(text, first[0].end(), dated[0][0].start()):
        return [dated[0], first], []
    return [first, *deep], dated
