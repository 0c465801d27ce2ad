"""Follows one trace, request, session or block id through all files in the order of time, or proposes ids."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from math import isnan
from typing import Any

import re2

from agents.log_analysis.asking.searching import Query, matches, read_cursor
from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.times import iso
from agents.log_analysis.judging.propagation import Propagation, missing, spread
from agents.log_analysis.judging.trails import Trail, id_kind, id_of, moment, trails
from agents.log_analysis.reading import Reading, fit
from agents.log_analysis.scanning.table import Row
from kernel.errors import Correctable

#: Lines of one page at most, events followed at most, and the shortest text that is an id.
PAGE, _FOLLOWED, _SHORTEST = 50, 5_000, 4
_PROPOSED, _CHAINS, _MISSING = 12, 6, 6


def follow_of(
    reading: Reading, wanted: str, query: Query, *, limit: int = 30, cursor: str = "", whole: bool = False
) -> dict[str, Any]:
    """Return the lines of an id with what fails first and what is missing; without an id, ids worth following.

    `whole` is for people and programs that have the room: any number of lines (0: all that are followed).
    """
    if not wanted:
        return _proposals(reading, query, limit or None, whole=whole)
    if len(wanted) < _SHORTEST:
        raise Correctable(
            f"{wanted!r} is too short for an id",
            why=f"fewer than {_SHORTEST} characters stand in any line",
            next_step="Pass the whole id, or none for proposals.",
        )
    path, kind, note = _found(reading, wanted, query)
    steps = path.steps
    skip, limit = read_cursor(cursor), (limit or len(steps)) if whole else max(1, min(limit, PAGE))
    answer: dict[str, Any] = {
        "id": reading.text(wanted, 80),
        "events": len(steps),
        "files": len({row.file for row in steps}),
        "services": [_service(reading, n) for n in path.services],
        "from_time": iso(steps[0].time),
        "to_time": iso(steps[-1].time),
        **_gap(reading, steps),
        "first_error": _at(reading, path.first_error) if path.first_error else {},
        "missing": _lacking(reading, path, kind, query.file),
        "from": skip,
        "lines": [_line(reading, steps, n, steps[n]) for n in range(skip, min(skip + limit, len(steps)))],
        **({"note": note} if note else {}),
    }
    if not whole:
        fit(answer, "missing", "lines")
    end = skip + len(answer["lines"])
    return {**answer, "cursor": str(end)} if end < len(steps) else answer


def _found(reading: Reading, wanted: str, query: Query) -> tuple[Trail, str, str]:
    """Return the events that carry the id, its kind where the log joins its lines by it, and what limits them.

    The id stands alone in a line; where it does nowhere, it is taken for a part of longer ones.
    """
    alone = re.compile(f"(?<![A-Za-z0-9]){re.escape(wanted)}(?![A-Za-z0-9])")
    kind, own = id_kind(reading.scan), False
    steps: list[Row] = []
    parts: list[Row] = []
    for _, _, text, row in matches(reading, replace(query, pattern=re2.escape(wanted))):
        if row is None or text is None or wanted not in text:
            continue
        found = steps if alone.search(text) else parts
        if len(found) > _FOLLOWED or (found and found[-1] == row):
            continue  # an event that says it in two lines is one event
        own = own or id_of(kind, text) == wanted
        found.append(row)
    note = ""
    if not steps and parts:
        steps, note = parts, "it stands alone in no line: these carry it as a part of something longer"
    if not steps:
        raise _nowhere(reading, wanted, query)
    if len(steps) > _FOLLOWED:
        steps, note = (
            steps[:_FOLLOWED],
            f"more than {_FOLLOWED:,} events carry it: only the first are followed",
        )
    path = Trail(wanted, steps)
    path.sort()
    return path, kind if own else "", note


def _nowhere(reading: Reading, wanted: str, query: Query) -> Correctable:
    spanned = query.since is not None or query.until is not None
    return Correctable(
        f"no line{' of the time asked about' if spanned else ''} carries {reading.text(wanted, 64)!r}",
        why="ids are looked for as they are written, capitals too",
        next_step="Follow without an id for ids with errors, or search for a part of it.",
    )


def _lacking(reading: Reading, path: Trail, kind: str, file: int | None) -> list[dict[str, Any]]:
    """Return what paths that begin like this one usually have, and this one has not."""
    if not kind:
        return []
    miner = reading.scan.miner
    others = trails(reading.scan, kind, None if file is None else {file})
    return [
        {"template": reading.text(miner.templates[template].text(), 140), "in": count, "of": usual}
        for template, count, usual in missing(path, others.values(), miner.final)[:_MISSING]
    ]


def _line(reading: Reading, steps: list[Row], place: int, row: Row) -> dict[str, Any]:
    before = steps[place - 1].time if place else row.time
    gap = row.time - before
    return {
        **_at(reading, row),
        "level": Level(row.level).name,
        "service": _service(reading, row.service),
        "gap_seconds": 0.0 if isnan(gap) else round(gap, 4),
    }


def _at(reading: Reading, row: Row) -> dict[str, Any]:
    """Return the spot of an event, a long line cut round its message."""
    profile = reading.scan.profiles[reading.scan.miner.final(row.template)]
    return reading.at(row, profile.message[:20])


def _gap(reading: Reading, steps: list[Row]) -> dict[str, Any]:
    """Return the longest pause of a path and what it lies between."""
    gaps = [(b.time - a.time, a, b) for a, b in pairwise(steps) if not isnan(b.time - a.time)]
    if not gaps:
        return {}
    length, before, after = max(gaps, key=lambda g: g[0])
    between = [{"source": reading.name(r.file), "line": r.line} for r in (before, after)]
    return {"longest_gap": {"seconds": round(length, 4), "between": between}}


def _proposals(reading: Reading, query: Query, most: int | None, *, whole: bool) -> dict[str, Any]:
    kind = id_kind(reading.scan)
    if not kind:
        raise Correctable(
            "no id joins the lines of this log",
            why="no trace, request, session or block id is in enough of its lines more than once",
            next_step="Pass what to follow yourself, such as a user or an order number.",
        )
    found = trails(reading.scan, kind, None if query.file is None else {query.file})
    paths = [p for p in found.values() if any(map(query.wants, p.steps))]
    failed = [p for p in paths if p.errors]
    failed.sort(key=lambda p: (-p.errors, moment(p.first_error) if p.first_error else (0.0, 0, 0)))
    overall = spread(kind, paths)
    answer = {
        "kind": kind,
        "ids_total": overall.paths,
        "failed_total": len(failed),
        "failed": [_proposal(reading, path) for path in failed[: most if whole else _PROPOSED]],
        "fails_first": [
            {"service": _service(reading, s), "ids": n} for s, n in overall.origins.most_common(_CHAINS)
        ],
        "chains": _chains(reading, overall),
    }
    return answer if whole else fit(answer, "chains", "failed")


def _proposal(reading: Reading, path: Trail) -> dict[str, Any]:
    return {
        "id": reading.text(path.id, 80),
        "events": path.events,
        "errors": path.errors,
        "services": [_service(reading, n) for n in path.services][:8],
        "first_error": _at(reading, path.first_error) if path.first_error else {},
    }


def _chains(reading: Reading, whole: Propagation) -> list[dict[str, Any]]:
    """Return in which order services failed, with in how many ids, and one of them."""
    return [
        {
            "order": [_service(reading, n) for n in chain],
            "ids": count,
            "example": reading.text(whole.examples[chain], 80),
        }
        for chain, count in whole.chains.most_common(_CHAINS)
    ]


def _service(reading: Reading, number: int) -> str:
    return reading.text(reading.scan.services[number], 60) if number else ""
