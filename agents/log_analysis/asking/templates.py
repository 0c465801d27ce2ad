"""Lists a run's templates: how often, how bad, first and last, how they spread over time; by page, or all of them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import inf, isnan
from typing import Any

from agents.log_analysis.asking.searching import compile_pattern
from agents.log_analysis.asking.timeline import sparkline
from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.times import iso
from agents.log_analysis.mining.parameters import Parameter
from agents.log_analysis.reading import Reading, fit
from agents.log_analysis.scanning.summary import Group, Summary, summarise
from kernel.errors import Correctable

#: Templates of one page at most, and the width of one in an answer.
PAGE = 100
_WIDTH = 180
_WHOLE = 100_000
_DIGEST = 8
#: Parameters told of one template, the width of a name or value, and the events from which "one value" means something.
_PARAMETERS, _LABEL, _LOOKS = 3, 40, 5


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Which templates, in which order; empty parts hold for all."""

    pattern: str = ""
    file: int | None = None
    level: Level = Level.unknown
    sort: str = "count"


def event_id(template: str) -> str:
    """Return a stable name of a template: the same text has the same name in every run."""
    return f"E{hashlib.sha256(template.encode('utf-8', 'replace')).hexdigest()[:_DIGEST]}"


def chosen(reading: Reading, choice: Choice) -> tuple[Summary, list[Group]]:
    """Return the summary and the groups that were asked for, sorted."""
    check_order(choice.sort)
    order = _ORDERS[choice.sort]
    summary = summarise(reading.scan, choice.file)
    groups = [g for g in summary.groups.values() if g.level >= choice.level]
    if choice.pattern:
        pattern = compile_pattern(choice.pattern)
        groups = [g for g in groups if any(pattern.search(text) for text in _texts(reading, g))]
    return summary, sorted(groups, key=order)


def check_order(sort: str) -> None:
    """Raise Correctable where a word is no order of templates."""
    if sort not in _ORDERS:
        raise Correctable(
            f"{sort!r} is no order of templates",
            why=f"there are {len(_ORDERS)} orders",
            next_step=f"Use one of: {', '.join(_ORDERS)}.",
        )


def templates_of(reading: Reading, choice: Choice, *, limit: int, skip: int) -> dict[str, Any]:
    """Return one page of templates with totals and a cursor."""
    summary, groups = chosen(reading, choice)
    page = groups[skip : skip + max(1, min(limit, PAGE))]
    answer = {
        **_totals(summary, groups),
        "from": skip,
        "templates": [template_row(reading, summary, g) for g in page],
    }
    fit(answer, "templates")
    answer.pop("templates_left_out", None)  # the cursor leads to them
    shown = skip + len(answer["templates"])
    if shown < len(groups):
        answer["cursor"] = str(shown)
    return answer


def all_templates(reading: Reading, choice: Choice, *, limit: int) -> dict[str, Any]:
    """Return as many templates as are wanted (0: all), whole, for people and programs that have the room."""
    summary, groups = chosen(reading, choice)
    rows = [template_row(reading, summary, g, _WHOLE) for g in groups[: limit or len(groups)]]
    return {**_totals(summary, groups), "templates": rows}


def template_row(reading: Reading, summary: Summary, group: Group, width: int = _WIDTH) -> dict[str, Any]:
    """Return one template as tools and people see it."""
    text = reading.text(reading.scan.miner.templates[group.template].text(), _WHOLE)
    told = {
        "id": event_id(text),
        "count": group.count,
        "share": round(group.count / summary.events, 4) if summary.events else 0.0,
        "level": group.level.name,
        "template": text if len(text) <= width else f"{text[: width - 1]}…",
        "source": reading.name(group.first.file),
        "line": group.first.line,
        "first": iso(group.first.time),
        "last": iso(group.last.time),
        "over_time": sparkline(group.parts),
    }
    parameters = _parameters(reading, group)
    return {**told, "parameters": parameters} if parameters else told


def _parameters(reading: Reading, group: Group) -> list[dict[str, Any]]:
    """Return the values that tell something: one value only (this host alone), numbers that rise or fall."""
    told = []
    for found in reading.scan.miner.parameters(group.template):
        name = reading.text(found.label.strip(" =:"), _LABEL) or f"<*> {found.place + 1}"
        if found.kind == "one value" and found.looked >= _LOOKS:
            value = reading.value(found.label.strip(" =:"), found.top[0][0], _LABEL)
            told.append({"name": name, "note": f"one value only: {value}"})
        elif found.kind in ("rising", "falling"):
            told.append({"name": name, "note": trend(found)})
    return told[:_PARAMETERS]


def trend(found: Parameter) -> str:
    """Return how numbers went; where they fell back on the way (a counter that began anew), between which they lie."""
    first, last = found.first or 0.0, found.last or 0.0
    if (last > first) if found.kind == "rising" else (last < first):
        return f"{found.kind}: {first:g} to {last:g} {found.unit}".rstrip()
    return f"mostly {found.kind}: between {found.low:g} and {found.high:g} {found.unit}".rstrip()


def line_templates(reading: Reading) -> Iterator[tuple[str, str]]:
    """Yield id and template of each physical line, in reading order; lines of one event share its template.

    A line before the first event of a file (an empty one) has neither.
    """
    final = reading.scan.miner.final
    known: dict[int, tuple[str, str]] = {}
    rows = iter(reading.scan.table)
    row = next(rows, None)
    for file, facts in enumerate(reading.scan.facts):
        now = ("", "")
        for line in range(1, facts.lines + 1):
            while row is not None and (row.file, row.line) <= (file, line):
                number = final(row.template)
                if number not in known:
                    text = reading.text(reading.scan.miner.templates[number].text(), _WHOLE)
                    known[number] = (event_id(text), text)
                now = known[number]
                row = next(rows, None)
            yield now


def _totals(summary: Summary, groups: list[Group]) -> dict[str, Any]:
    return {
        "total": len(groups),
        "events": sum(g.count for g in groups),
        "all_templates": len(summary.groups),
        "all_events": summary.events,
    }


def _texts(reading: Reading, group: Group) -> tuple[str, str]:
    """Return what a pattern is matched against, as it may be shown: the template, and the first line that has it."""
    template = reading.text(reading.scan.miner.templates[group.template].text(), _WHOLE)
    return template, reading.text(reading.scan.profiles[group.template].message, _WHOLE)


def _place(group: Group) -> tuple[float, int, int]:
    """Return where a template came up: by time where it has one, else by its place in the reading order."""
    first = group.first
    return (inf if isnan(first.time) else first.time, first.file, first.line)


def _latest(group: Group) -> tuple[float, int, int]:
    first = group.first
    return (inf if isnan(first.time) else -first.time, -first.file, -first.line)


_ORDERS: dict[str, Callable[[Group], tuple[float, ...]]] = {
    "count": lambda g: (-g.count, *_place(g)),
    "rare": lambda g: (g.count, -g.level, *_place(g)),
    "first": _place,
    "new": _latest,
}
SORTS = tuple(_ORDERS)
