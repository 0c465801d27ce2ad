"""Breaks logs down by who: hosts, services, pods, users, addresses, ids or a field, beside their share of all."""

from __future__ import annotations

from typing import Any

from agents.log_analysis.asking.searching import Query, compile_pattern, read_cursor
from agents.log_analysis.formats.times import iso
from agents.log_analysis.judging.entities import Breakdown, Wanted, breakdown, choose, entity_reader
from agents.log_analysis.judging.naming import FIELD
from agents.log_analysis.reading import Reading, fit
from agents.log_analysis.scanning.table import Row
from kernel.errors import Correctable
from kernel.redaction import is_secret_key

KINDS = ("host", "service", "pod", "node", "user", "ip", "status", "trace")
#: Rows of one page at most.
PAGE = 40
#: Names told of those that have none.
_WITHOUT = 5


def entities_of(
    reading: Reading,
    by: str,
    query: Query,
    *,
    limit: int = 15,
    cursor: str = "",
    whole: bool = False,
    of: str = "",
) -> dict[str, Any]:
    """Return a page of entities, the most frequent first, with totals and whether it is one or all.

    `of` (`host=web-1`) leaves the lines of one entity.
    `whole` is for people and programs that have the room: any number of rows (0: all).
    """
    chosen = _kind(reading, by, query)
    check_of(of)
    found = breakdown(reading.scan, chosen, _wanted(reading, query, of), query.file)
    ordered = sorted(found.some.items(), key=lambda item: (-item[1], item[0]))
    skip, limit = read_cursor(cursor), (limit or len(ordered)) if whole else max(1, min(limit, PAGE))
    rows = [_row(reading, chosen, found, entity, count) for entity, count in ordered[skip : skip + limit]]
    answer: dict[str, Any] = {
        "by": chosen,
        "events": found.events,
        "of_all": found.every,
        "named": found.some.total(),
        "entities_total": len(ordered),
        "entities_in_all": len(found.all),
        "from": skip,
        "entities": rows,
        **({"note": f"too many to count: {found.dropped:,} rare ones were dropped"} if found.dropped else {}),
    }
    if without := [name for name in found.all if name not in found.some][:_WITHOUT]:
        answer["without"] = [reading.value(chosen, name, 80) for name in without]
    if (statement := found.statement()) and not is_secret_key(chosen):
        answer["statement"] = reading.text(statement)
    if not whole:
        fit(answer, "entities")
    shown = skip + len(answer["entities"])
    return {**answer, "cursor": str(shown)} if shown < len(ordered) else answer


def _kind(reading: Reading, by: str, query: Query) -> str:
    check_kind(by)
    return by if by not in ("", "auto") else choose(reading.scan, query.file)


def check_kind(by: str) -> None:
    """Raise Correctable where a word is no kind of entity, nor can be the name of a field."""
    if by not in ("", "auto", *KINDS) and not FIELD.fullmatch(by):
        raise Correctable(
            f"{by[:60]!r} is nothing to break down by",
            why="it is no kind that lines name and no name of a field",
            next_step=f"Use auto, {', '.join(KINDS)}, or the name of a field.",
        )


def _wanted(reading: Reading, query: Query, of: str) -> Wanted:
    """Return what tells whether an event was asked for."""
    pattern = compile_pattern(query.pattern) if query.pattern else None

    kind, _, name = of.partition("=")
    names = entity_reader(reading.scan, kind, query.file) if name else None

    def wanted(row: Row, text: str) -> bool:
        if names is not None and name not in names(row, text):
            return False
        return query.wants(row) and (pattern is None or bool(pattern.search(text)))

    return wanted


def check_of(of: str) -> None:
    """Raise Correctable where a text does not name one entity of a kind."""
    kind, sign, name = of.partition("=")
    if of and not (sign and name and kind):
        raise Correctable(f"{of[:60]!r} names no entity", next_step="Use KIND=NAME, such as host=web-1.")
    check_kind(kind)


def _row(reading: Reading, by: str, found: Breakdown, entity: str, count: int) -> dict[str, Any]:
    first = found.firsts[entity]
    whole = found.all[entity]
    some, every = max(1, found.some.total()), max(1, found.all.total())
    return {
        "entity": reading.value(by, entity, 80),
        "count": count,
        "share": round(count / some, 3),
        "all": whole,
        "share_of_all": round(whole / every, 3),
        "first": {"source": reading.name(first.file), "line": first.line, "time": iso(first.time)},
    }
