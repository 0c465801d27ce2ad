"""What the first look tells besides problems: traces, restarts, silences, change points; each with a line to cite."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isnan
from typing import Any

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.times import iso
from agents.log_analysis.judging.changepoints import Change, changes_of
from agents.log_analysis.judging.durations import lasting
from agents.log_analysis.judging.silences import Silence, silences
from agents.log_analysis.judging.traces import Trace, traces
from agents.log_analysis.reading import Reading
from agents.log_analysis.scanning.summary import Group, Summary

_TRACES, _RESTARTS, _SILENCES, _TURNS = 4, 4, 3, 8
#: A start this near to the window's beginning is where the log begins, and no restart.
_START_SHARE = 0.01

#: What programs say when they come up.
_STARTED = re.compile(
    r"(?i)\b(?:application|server|service|process|worker|daemon|container|instance|node|broker|system|kernel|app)\b.{0,40}"
    r"\b(?:start(?:ed|ing)(?: up)?|booting|initiali[sz]ed|restart(?:ed|ing))\b"
    r"|^start(?:ed|ing) (?:up )?\w+.{0,30}(?:server|service|application)"
    r"|\blistening on\b|\bready to accept\b|booting linux|启动(?:完成|成功)"
)

_Row = dict[str, Any]


def trace_rows(reading: Reading, summary: Summary, file: int | None) -> list[_Row]:
    """Return stack traces by root exception and first own frame, the most frequent first."""
    return [_trace(reading, trace) for trace in traces(reading.scan, summary, file)[:_TRACES]]


def _trace(reading: Reading, trace: Trace) -> _Row:
    names = [reading.text(reading.scan.services[n], 60) for n, _ in trace.services.most_common(3) if n]
    return {
        "exception": reading.text(trace.exception, 120),
        "frame": reading.text(trace.frame, 140),
        "count": trace.count,
        "services": names,
        "templates": sorted(trace.templates),
        "time": iso(trace.first.time),
        **reading.spot(trace.first.file, trace.frame_line),
        "root": reading.spot(trace.first.file, trace.root_line),
    }


def restart_rows(reading: Reading, summary: Summary) -> list[_Row]:
    """Return lines that say something came up, in the midst of the log or more than once."""
    found: list[tuple[float, Group]] = []
    window = (summary.end or 0.0) - (summary.start or 0.0)
    for group in summary.groups.values():
        if group.level >= Level.error or not _STARTED.search(reading.scan.profiles[group.template].message):
            continue
        at = group.last if group.count > 1 else group.first
        if summary.start is None or isnan(at.time) or at.time - summary.start < window * _START_SHARE:
            continue
        found.append((at.time, group))
    found.sort(key=lambda f: f[0])
    return [
        {**reading.at(g.last if g.count > 1 else g.first), "count": g.count, "began": iso(g.first.time)}
        for _, g in found[:_RESTARTS]
    ]


def silence_rows(reading: Reading, summary: Summary, file: int | None) -> list[_Row]:
    """Return silences of the log, of a service, or of one kind of line, longest first."""
    if summary.start is None:
        return []
    return [_silence(reading, summary, one) for one in silences(reading.scan, summary, file)[:_SILENCES]]


def _silence(reading: Reading, summary: Summary, silence: Silence) -> _Row:
    row: _Row = {
        "of": silence.what,
        "from": iso(silence.start),
        "to": iso(silence.end),
        "seconds": round(silence.seconds, 1),
        "told": lasting(silence.seconds),
    }
    if silence.what == "service":
        row["name"] = reading.text(reading.scan.services[silence.number], 60)
    if silence.what == "template" and silence.number in summary.groups:
        row["name"] = reading.text(reading.scan.miner.templates[silence.number].text(), 100)
        row["line"] = summary.groups[silence.number].last.line
    if silence.open:
        row["open"] = True
    return row


def turns(reading: Reading, summary: Summary, file: int | None) -> list[Change]:
    """Return when kinds of lines began, stopped, rose or fell; nothing for a log without times."""
    return changes_of(reading.scan, summary, file) if summary.start is not None else []


def turn_rows(reading: Reading, summary: Summary, changes: Sequence[Change]) -> list[_Row]:
    """Return change points as the digest tells them, those of errors first, then the largest."""

    def weight(change: Change) -> tuple[bool, float]:
        return (summary.groups[change.template].level < Level.error, change.p)

    known = [c for c in changes if c.template in summary.groups]
    return [
        {
            "time": iso(c.moment),
            "direction": c.direction,
            "fold": round(c.fold, 1),
            "template": reading.text(reading.scan.miner.templates[c.template].text(), 100),
            "level": summary.groups[c.template].level.name,
            "line": summary.groups[c.template].first.line,
        }
        for c in sorted(known, key=weight)[:_TURNS]
    ]
