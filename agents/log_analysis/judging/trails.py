"""Paths of requests: which lines carry one trace, request, session or block id, in the order of time."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import isnan

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.table import Row

#: Ids kept, steps kept of one id; lines that decide what kind of id joins a log's lines, and how much of each is read.
IDS, STEPS, _SAMPLE, _LOOKED = 100_000, 400, 3_000, 1_000
#: An id joins lines where each has so many at the mean; a kind counts if so large a share of the sampled lines has it.
_JOINED, _COVERED = 1.3, 0.05
#: Errors so near in time (seconds) are one failure told by several services.
AT_ONCE = 1.0
#: A kind of id named for the purpose goes before another that is in more lines, down to this share of it.
_NEARLY = 0.5

_VALUE = r"[\"'\\]{0,4}\s?[:=]\s?[\"'\\\[]{0,4}([A-Za-z0-9][\w.:-]{5,63})"
#: Kinds of ids, those named for the purpose first.
_KINDS = {
    "trace": re.compile(rf"(?i)trace[_. -]?id{_VALUE}"),
    "request": re.compile(
        rf"(?i)(?:request|req|correlation|transaction|conversation)[_. -]?id{_VALUE}"
        r"|\b(req-[0-9a-f]{8}-[0-9a-f-]{27})\b"
    ),
    "session": re.compile(rf"(?i)session[_. -]?id{_VALUE}"),
    "block": re.compile(r"\b([a-z]{2,8}_-?\d{8,20})\b"),
    "hexadecimal": re.compile(r"(?<![\w-])([0-9a-f]{32})(?![\w-])"),
    "uuid": re.compile(r"(?<![\w-])([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?![\w-])"),
}


@dataclass
class Trail:
    """All events that carry one id. `errors` counts those of an error level, also beyond the steps kept."""

    id: str
    steps: list[Row] = field(default_factory=list)
    events: int = 0
    errors: int = 0
    first_error: Row | None = None

    @property
    def services(self) -> list[int]:
        """Return the services in the order in which they first speak."""
        return list(dict.fromkeys(row.service for row in self.steps if row.service))

    def sort(self) -> None:
        """Put the steps into the order of time; files are read one after the other."""
        self.steps.sort(key=moment)
        self.first_error = origin(self.steps) or self.first_error


def origin(steps: Sequence[Row]) -> Row | None:
    """Return the error that the others of a path (in order) follow from.

    The first in time; but of services that fail at about the same time the one called last, for its callers
    fail with it, and the clocks of two machines do not agree on milliseconds.
    """
    errors = [row for row in steps if row.level >= Level.error]
    if not errors:
        return None
    depth = {service: n for n, service in enumerate(dict.fromkeys(row.service for row in steps))}
    near = [row for row in errors if isnan(row.time) or not row.time - errors[0].time > AT_ONCE]
    firsts = {row.service: row for row in reversed(near)}
    return max(firsts.values(), key=lambda row: depth[row.service])


def moment(row: Row) -> tuple[float, int, int]:
    """Return what events are ordered by: time, then place."""
    return (float("inf") if isnan(row.time) else row.time, row.file, row.line)


def with_text(scan: Scan, files: Collection[int] | None = None) -> Iterator[tuple[Row, str]]:
    """Yield each event with its first line, file by file, in one pass."""
    rows = iter(scan.table)
    row = next(rows, None)
    for file in range(len(scan.files)):
        while row is not None and row.file < file:
            row = next(rows, None)
        if row is None or row.file != file or (files is not None and file not in files):
            continue
        for line, text in scan.body(file).texts():
            while row is not None and row.file == file and row.line < line:
                row = next(rows, None)
            if row is None or row.file != file:
                break
            if row.line == line:
                yield row, text


def id_kind(scan: Scan, joined: float = _JOINED) -> str:
    """Return the kind of id that joins a log's lines (so many an id), or an empty text where none does."""
    lines = 0
    found: dict[str, Counter[str]] = {kind: Counter() for kind in _KINDS}
    each = max(20, _SAMPLE // max(1, len(scan.files)))
    for file in range(len(scan.files)):
        for _, text in islice(scan.body(file).texts(), each):
            lines += 1
            for kind, pattern in _KINDS.items():
                if match := pattern.search(text[:_LOOKED]):
                    found[kind][match[match.lastindex or 1]] += 1
    fit = {
        kind: ids.total()
        for kind, ids in found.items()
        if ids.total() >= max(2.0, _COVERED * lines) and ids.total() >= joined * len(ids) and len(ids) > 1
    }
    most = max(fit.values(), default=0)
    return next((kind for kind in _KINDS if fit.get(kind, 0) > _NEARLY * most), "")


def id_of(kind: str, text: str) -> str:
    """Return the id of a kind that a line carries, or an empty text."""
    match = _KINDS[kind].search(text) if kind else None
    return match[match.lastindex or 1] if match else ""


def trails(scan: Scan, kind: str, files: Collection[int] | None = None) -> dict[str, Trail]:
    """Return the events of each id, sorted; the first ids of a log that has too many."""
    found: dict[str, Trail] = {}
    if not kind:
        return found
    for row, text in with_text(scan, files):
        number = id_of(kind, text)
        if not number:
            continue
        path = found.get(number)
        if path is None:
            if len(found) >= IDS:
                continue
            path = found[number] = Trail(number)
        path.events += 1
        path.errors += row.level >= Level.error
        if len(path.steps) < STEPS:
            path.steps.append(row)
        elif row.level >= Level.error and path.first_error is None:
            path.first_error = row
    for path in found.values():
        path.sort()
    return found
