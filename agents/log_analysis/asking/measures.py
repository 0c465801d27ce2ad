"""Problems that no word tells: slow work by its durations, and bad states in what platforms say of workloads."""

from __future__ import annotations

from typing import Any

from agents.log_analysis.formats.text import cut
from agents.log_analysis.formats.times import iso
from agents.log_analysis.judging.durations import told
from agents.log_analysis.judging.growth import Growth, growths
from agents.log_analysis.judging.problems import FIRST, readable
from agents.log_analysis.judging.slow import Timing, alarming, leisurely, timings
from agents.log_analysis.judging.statuses import LINES, Status, meant, statuses
from agents.log_analysis.kinds import GROWTH, SLOW, SYMPTOM
from agents.log_analysis.reading import Reading
from agents.log_analysis.scanning.summary import Summary

#: Durations listed; and what a kind of line is worth that is slow but follows from an error, or is no alarm by itself.
_TIMINGS = 6
_SECOND, _QUIET, _LONG = 0.05, 0.5, 0.9
#: Numbers told that keep growing.
_GROWTHS = 3
#: A file is a status text where fewer than one line in so many carries a time or a level.
_PLAIN = 5
_STATUSES = 8
#: What a state adds that others in the same text follow from.
_STATE_KEPT = 120

_Row = dict[str, Any]


def slow_rows(reading: Reading, summary: Summary, file: int | None) -> list[_Row]:
    """Return what was measured in the shape of problems, alarms first; `alarm` tells whether it is one by itself."""
    scan = reading.scan
    measured = timings(scan, summary, file)
    measured.sort(key=lambda t: (not alarming(scan, t), -t.median * t.count, t.values[0][1].line))
    rows = [_slow(reading, timing, alarm=alarming(scan, timing)) for timing in measured[:_TIMINGS]]
    alarms = [row for row in rows if row["alarm"]]
    alarms.sort(key=lambda row: (row["first"]["time"] or "~", row["first"]["line"]))
    for place, row in enumerate(alarms):  # the inner step ends, and is written, before the outer one
        row["score"] = round(row["score"] - _SECOND * place, 3)
    return alarms + [row for row in rows if not row["alarm"]]


def _slow(reading: Reading, timing: Timing, *, alarm: bool) -> _Row:
    scan, seconds = reading.scan, timing.seconds
    profile = scan.profiles[timing.template]
    long = timing.high and not leisurely(scan, timing)
    start = timing.rose or min((r for _, r in timing.values), key=lambda r: (r.time, r.file, r.line))
    worst = timing.worst[1]
    measure: _Row = {
        "measured": len(seconds),
        "low": told(seconds[0]),
        "median": told(timing.median),
        "high": told(seconds[-1]),
    }
    if timing.rose is not None:
        measure |= {"early": told(timing.early), "late": told(timing.late), "rose": iso(timing.rose.time)}
    if timing.ends is not None:
        measure["until"] = reading.text(readable(scan.profiles[timing.ends].message), _STATE_KEPT)
    text = reading.text(readable(profile.message))
    return {
        "id": timing.template,
        "kind": SLOW.key,
        "label": SLOW.label,
        "level": "warning",
        "count": timing.count,
        "score": round(SLOW.weight + FIRST if alarm else _LONG if long else _QUIET, 3),
        "alarm": alarm,
        "message": text,
        "template": reading.text(scan.miner.templates[timing.template].text(), 140),
        "services": [n for n in [reading.text(scan.services[start.service], 60)] if n],
        "first": reading.at(start, profile.message[:20]),
        "last": reading.at(worst, profile.message[:20]),
        "timing": measure,
    }


def growth_rows(reading: Reading, summary: Summary, file: int | None) -> list[_Row]:
    """Return numbers that keep growing (memory, queues, lag), in the shape of problems."""
    return [_growth(reading, summary, one) for one in growths(reading.scan, file)[:_GROWTHS]]


def _growth(reading: Reading, summary: Summary, growth: Growth) -> _Row:
    scan = reading.scan
    profile = scan.profiles[growth.template]
    first, last = growth.values[0][1], growth.values[-1][1]
    name = reading.text(growth.name, 60)
    return {
        "id": growth.template,
        "kind": GROWTH.key,
        "label": GROWTH.label,
        "level": "warning",
        "count": summary.groups[growth.template].count if growth.template in summary.groups else 0,
        "score": round(GROWTH.weight + FIRST, 3),
        "alarm": True,
        "message": f"{name}: {growth.early:g} → {growth.late:g} ({reading.text(readable(profile.message), 120)})",
        "template": reading.text(scan.miner.templates[growth.template].text(), 140),
        "services": [n for n in [reading.text(scan.services[first.service], 60)] if n],
        "first": reading.at(first, growth.name),
        "last": reading.at(last, growth.name),
        "growth": {"name": name, "early": growth.early, "late": growth.late, "measured": len(growth.values)},
    }


def status_rows(reading: Reading, file: int | None) -> list[_Row]:
    """Return the bad states in files that are no logs but what a platform says, in the shape of problems."""
    rows: list[_Row] = []
    for number, facts in enumerate(reading.scan.facts):
        if file not in (None, number) or facts.lines > LINES or facts.structured * _PLAIN > facts.events:
            continue
        found = statuses(reading.scan.body(number).read(1, facts.lines))
        strong = [s for s in found if s.kind.weight >= SYMPTOM]
        rows += [_status(reading, number, status, first=status in strong[:1]) for status in found[:_STATUSES]]
    return rows


def _status(reading: Reading, file: int, status: Status, *, first: bool) -> _Row:
    spot = {**reading.spot(file, status.line), "time": ""}
    more = [reading.spot(file, line) for line in status.more[:3]]
    row: _Row = {
        "id": -status.line,
        "kind": status.kind.key,
        "label": status.kind.label,
        "level": "error",
        "count": 1 + len(status.more),
        "score": round(status.kind.weight + (FIRST if first else 0.0), 3),
        "message": reading.text(status.message),
        "template": reading.text(cut(status.message, 140)),
        "services": [reading.text(status.subject, 80)] if status.subject else [],
        "first": spot,
        "more": more,
    }
    if status.exit_code:
        row["exit_code"] = status.exit_code
    if names := meant(status.message):
        row["typo"] = {"said": names[0], "meant": names[1]}
    return row
