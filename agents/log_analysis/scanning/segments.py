"""Cuts logs into parts that several processes read, at lines that begin an event."""

from __future__ import annotations

import os
from collections.abc import Sequence

from agents.log_analysis.formats.events import begins
from agents.log_analysis.formats.text import clean, decode
from agents.log_analysis.scanning.opened import Opened, Part

#: Each process starts anew, and learns the shapes of lines anew. Measured with two: 32 MB take as long as with one,
#: 64 MB a fifth less, 100 MB a third less.
SHARE = 32 * 1024 * 1024
#: Processes at most, if nobody says how many; each takes some 50 MB.
MOST = 4
#: Bytes searched for a line to cut at; without one the file is not cut there.
_WINDOW = 512 * 1024


def readers_for(total: int, wished: int) -> int:
    """Return how many processes are worth their start: 1 means that this process reads alone.

    If nobody says how many, it is one for each core that has nothing else to do; this process waits meanwhile.
    """
    cores = os.cpu_count() or 1
    most = wished or min(MOST, round(cores - os.getloadavg()[0]))
    return max(1, min(most, total // SHARE))


def share(logs: Sequence[Opened], readers: int) -> list[list[Part]]:
    """Return the parts of each process, in reading order, all processes with about the same number of bytes."""
    total = sum(log.body.size for log in logs)
    shares: list[list[Part]] = [[] for _ in range(readers)]
    passed, now = 0, 0
    for log in logs:
        start, size = 0, log.body.size
        while now < readers - 1 and passed + size > (edge := total * (now + 1) // readers):
            cut = _cut(log, max(start, edge - passed))
            if cut is None or cut >= size:
                cut = size if (edge - passed) * 2 > size else start
            if cut > start:
                shares[now].append(log.part(start, cut))
                start = cut
            now += 1
            if start >= size:
                break
        if start < size:
            shares[now].append(log.part(start, size))
        passed += size
    return [parts for parts in shares if parts]


def _cut(log: Opened, near: int) -> int | None:
    """Return the offset of the first line from about `near` on that begins an event whatever stands before it.

    Stamps without a year or a day mean what those before them make them mean: such a file is not cut.
    """
    if log.undated():
        return None
    parser = log.parser()
    window = os.pread(log.body.file.fileno(), _WINDOW, near)
    place = window.find(b"\n") + 1
    part = True  # of the line before the first nothing is known
    while 0 < place < len(window):
        end = window.find(b"\n", place)
        if end < 0:
            return None
        text = clean(decode(window[place:end].removesuffix(b"\r")))
        if text and not text.isspace():
            record = parser.parse(text)
            whole = not record.framed or begins(record.inner)
            if not part and whole and begins(text) and b"\0" not in window[place:end]:
                return near + place
            part = record.part
        place = end + 1
    return None
