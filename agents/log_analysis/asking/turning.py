"""Tells when things changed: change points that coincide, restarts and silences, in the order of time."""

from __future__ import annotations

from typing import Any

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.times import iso
from agents.log_analysis.judging.changepoints import Change, changes_of, together
from agents.log_analysis.judging.entities import concentration
from agents.log_analysis.judging.restarts import restarts
from agents.log_analysis.judging.series import BUCKETS, COARSE, series
from agents.log_analysis.judging.silences import Silence, silences
from agents.log_analysis.reading import Reading, counts_in, fit
from agents.log_analysis.scanning.summary import summarise

#: Rows of each list.
_GROUPS, _TOGETHER, _ROWS = 8, 6, 8


def changes_answer(reading: Reading, file: int | None, level: Level = Level.unknown) -> dict[str, Any]:
    """Return change points in groups that coincide, restarts and silences; totals count what is not shown too."""
    scan = reading.scan
    summary = summarise(scan, file)
    changes = [c for c in changes_of(scan, summary, file) if summary.groups[c.template].level >= level]
    groups = together(changes)
    quiet = silences(scan, summary, file)
    again = restarts(scan, summary, file)
    found = series(scan, summary, file)
    timed = found.timed
    answer: dict[str, Any] = {
        "window": {"from": iso(summary.start), "to": iso(summary.end)},
        "changes_total": len(changes),
        "groups_total": len(groups),
        "groups": [_group(reading, file, g, timed=timed) for g in sorted(groups, key=_weight)[:_GROUPS]],
        "restarts_total": len(again),
        "restarts": [
            {"service": _service(reading, r.service), "told_by": r.how, **reading.at(r.row)}
            for r in again[:_ROWS]
        ],
        "silences_total": len(quiet),
        "silences": [_silence(reading, s, timed=timed) for s in quiet[:_ROWS]],
    }
    if changes:
        answer["rates_per"] = f"{found.width * BUCKETS / COARSE:.3g} {'seconds' if timed else 'events'}"
    answer["groups"].sort(key=lambda g: (g["time"], g["position"]))
    return fit(answer, "restarts", "silences", "groups")


def _weight(group: list[Change]) -> tuple[float, int]:
    return (min(c.p for c in group), -len(group))


def _group(reading: Reading, file: int | None, group: list[Change], *, timed: bool) -> dict[str, Any]:
    """Return what changed at one time; the first row says where its lines come from."""
    scan = reading.scan
    rows = []
    for change in group[:_TOGETHER]:
        template = scan.miner.templates[change.template]
        events = summarise(scan, file).groups[change.template]
        rows.append(
            {
                "template": reading.text(template.text(), 120),
                "level": events.level.name,
                "direction": change.direction,
                "rate": [round(change.before, 2), round(change.after, 2)],
                "fold": round(change.fold, 2),
                "q": float(f"{change.q:.1e}"),
                "line": events.first.line,
                "source": reading.name(events.first.file),
            }
        )
    moment = group[0].moment
    answer: dict[str, Any] = {
        "time": iso(moment) if timed else "",
        "position": 0 if timed else round(moment),
        "together": len(group),
        "changes": rows,
    }
    if where := concentration(scan, group[0].template, file):
        answer["where"] = reading.text(where, 160)
        answer["where_counts"] = counts_in(answer["where"])
    return answer


def _silence(reading: Reading, silence: Silence, *, timed: bool) -> dict[str, Any]:
    scan = reading.scan
    who = "the whole log"
    if silence.what == "service":
        who = _service(reading, silence.number)
    elif silence.what == "template":
        who = reading.text(scan.miner.templates[silence.number].text(), 120)
    elif silence.what == "level":
        who = f"all lines of level {Level(silence.number).name} and below"
    return {
        "what": silence.what,
        "who": who,
        "from": iso(silence.start) if timed else round(silence.start),
        "to": iso(silence.end) if timed else round(silence.end),
        "seconds" if timed else "events": round(silence.seconds, 1),
        "usual_pause": round(silence.usual, 1),
        "to_the_end": silence.open,
        **({"clock_put_forward": True} if silence.clock else {}),
    }


def _service(reading: Reading, number: int) -> str:
    return reading.text(reading.scan.services[number], 60) if number else ""
