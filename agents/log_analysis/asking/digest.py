"""What the first look tells besides problems: traces, restarts, silences, change points; each with a line to cite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.times import iso
from agents.log_analysis.judging.changepoints import Change, changes_of
from agents.log_analysis.judging.durations import lasting
from agents.log_analysis.judging.entities import concentrations
from agents.log_analysis.judging.propagation import propagation
from agents.log_analysis.judging.restarts import restarts
from agents.log_analysis.judging.series import series
from agents.log_analysis.judging.silences import Silence, silences
from agents.log_analysis.judging.traces import Trace, traces
from agents.log_analysis.judging.volume import step_of
from agents.log_analysis.reading import Reading
from agents.log_analysis.scanning.summary import Summary

_TRACES, _RESTARTS, _SILENCES, _TURNS = 4, 4, 3, 8
_CHAINS = 3
#: Lines are joined by ids, and placed, only in logs of so many events: both read them all again.
_JOINED, _PLACED = 500_000, 2_000_000

_Row = dict[str, Any]


def trace_rows(reading: Reading, summary: Summary, file: int | None) -> list[_Row]:
    """Return stack traces by root exception and first own frame, the most frequent first."""
    return [_trace(reading, trace) for trace in traces(reading.scan, summary, file)[:_TRACES]]


def _trace(reading: Reading, trace: Trace) -> _Row:
    names = [reading.text(reading.scan.services[n], 60) for n, _ in trace.services.most_common(3) if n]
    row: _Row = {
        "exception": reading.text(trace.exception, 120),
        "frame": reading.text(trace.frame, 140),
        "count": trace.count,
        "services": names,
        "templates": sorted(trace.templates),
        "time": iso(trace.first.time),
        **reading.spot(trace.first.file, trace.frame_line, trace.frame.split(" (")[0]),
        "root": reading.spot(trace.first.file, trace.root_line),
    }
    return {**row, "at_least": True} if trace.partial else row


def restart_rows(reading: Reading, summary: Summary, file: int | None) -> list[_Row]:
    """Return where a service came up again in the midst of the log, and by what that is told."""
    return [
        {
            **reading.at(one.row),
            "service": reading.text(reading.scan.services[one.service], 60),
            "how": one.how,
        }
        for one in restarts(reading.scan, summary, file)[:_RESTARTS]
    ]


def path_rows(reading: Reading, file: int | None) -> _Row:
    """Return in which order services failed along the ids that join lines; nothing where no id does."""
    if reading.scan.table.rows > _JOINED:
        return {}
    found = propagation(reading.scan, file)
    if not found.failed:
        return {}
    names = reading.scan.services
    return {
        "kind": found.kind,
        "paths": found.paths,
        "failed": found.failed,
        "chains": [
            {
                "services": [reading.text(names[n], 60) or "?" for n in chain],
                "count": count,
                "id": reading.text(found.examples[chain], 64),
            }
            for chain, count in found.chains.most_common(_CHAINS)
        ],
    }


def places(reading: Reading, templates: Sequence[int], file: int | None) -> dict[int, str]:
    """Return where each template's events come from: one host, service, user … or all; nothing for a huge log."""
    if reading.scan.table.rows > _PLACED or not templates:
        return {}
    found = concentrations(reading.scan, templates, file)
    return {template: reading.text(text, 160) for template, text in found.items()}


def silence_rows(reading: Reading, summary: Summary, file: int | None) -> list[_Row]:
    """Return silences of the log, of a service, or of one kind of line, longest first."""
    found = silences(reading.scan, summary, file)[:_SILENCES]
    timed = series(reading.scan, summary, file).timed
    return [_silence(reading, summary, one, timed=timed) for one in found]


def _silence(reading: Reading, summary: Summary, silence: Silence, *, timed: bool) -> _Row:
    """Return a silence; of a log without times, or of one moment, it is counted in events."""
    row: _Row = {"of": silence.what}
    if timed:
        row |= {"from": iso(silence.start), "to": iso(silence.end), "seconds": round(silence.seconds, 1)}
        row["told"] = lasting(silence.seconds)
    else:
        row |= {"from": round(silence.start), "to": round(silence.end), "events": round(silence.seconds)}
    if silence.what == "service":
        row["name"] = reading.text(reading.scan.services[silence.number], 60)
    if silence.what == "template" and silence.number in summary.groups:
        row["name"] = reading.text(reading.scan.miner.templates[silence.number].text(), 100)
        row["line"] = summary.groups[silence.number].last.line
    if silence.what == "level":
        row["name"] = Level(silence.number).name
    if silence.open:
        row["open"] = True
    if silence.clock:
        row["clock"] = True
    return row


def turns(reading: Reading, summary: Summary, file: int | None) -> list[Change]:
    """Return when kinds of lines began, stopped, rose or fell; nothing for a log without times."""
    return changes_of(reading.scan, summary, file) if series(reading.scan, summary, file).timed else []


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


def step_rows(reading: Reading, summary: Summary, file: int | None) -> list[_Row]:
    """Return, in the shape of a change point, when the whole log got more or fewer lines and stayed so."""
    step = step_of(reading.scan, summary, file) if series(reading.scan, summary, file).timed else None
    if step is None:
        return []
    first = next(r for r in reading.scan.table if r.time >= step.moment and file in (None, r.file))
    return [
        {
            "of": "log",
            "time": iso(step.moment),
            "direction": "up" if step.fold > 1 else "down",
            "fold": float(f"{step.fold:.2g}"),
            "template": "all kinds of lines",
            "level": Level.unknown.name,
            "line": first.line,
        }
    ]
