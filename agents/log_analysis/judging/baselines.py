"""Chooses what a log is compared with: the time before the trouble, before a deploy, or the same hour earlier; pure."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.judging.alarms import alarms
from agents.log_analysis.judging.changepoints import changes_of
from agents.log_analysis.judging.recordings import split_of
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.summary import Summary

KINDS = ("auto", "recordings", "first_error", "deploy", "hour", "half")
_HOUR, _DAY = 3600.0, 86_400.0
#: A side with less than this share of the window is no baseline.
_LEAST = 0.02
#: A deploy is what the trouble followed if it came so shortly before it (seconds).
_SHORTLY = 900.0


@dataclass(frozen=True)
class Window:
    """Events from `start` up to, but not at, `end`: times, or positions in reading order."""

    start: float
    end: float

    def holds(self, place: float) -> bool:
        """Tell whether a place lies in the window."""
        return self.start <= place < self.end


@dataclass(frozen=True)
class Baseline:
    """Two windows, the kind of choice and why it was made."""

    kind: str
    before: Window
    after: Window
    why: str


def baseline(scan: Scan, summary: Summary, kind: str = "auto", file: int | None = None) -> Baseline | None:
    """Return the windows of a kind (one of KINDS), or None where the log offers none."""
    if summary.start is None or summary.end is None or summary.end <= summary.start:
        return None
    if kind == "auto":
        order = ("recordings", "deploy", "first_error", "hour", "half")
        return next((b for k in order if (b := _of(scan, summary, k, file)) is not None), None)
    return _of(scan, summary, kind, file)


def _of(scan: Scan, summary: Summary, kind: str, file: int | None) -> Baseline | None:
    assert summary.start is not None  # asked by `baseline`
    assert summary.end is not None
    start, end = summary.start, summary.end
    if kind == "recordings":
        return _split(
            summary, kind, split_of(scan, summary, file), "the log is two recordings, far apart in time"
        )
    onset = onset_of(scan, summary, file)
    if kind == "first_error":
        return _split(summary, kind, onset, "the trouble begins there")
    if kind == "deploy":
        deploys = [r.time for r in scan.changes if file in (None, r.file) and not isnan(r.time)]
        near = [t for t in deploys if onset is not None and 0 <= onset - t <= _SHORTLY]
        if near:
            return _split(summary, kind, max(near), "the last change before the trouble began")
        return None
    if kind == "hour":
        back = _DAY if end - start >= _DAY + _HOUR else _HOUR
        if end - start < 2 * _HOUR:
            return None
        after = Window(end - _HOUR, end + 1e-6)
        before = Window(after.start - back, after.end - back)
        told = "the same hour a day earlier" if back == _DAY else "the hour before"
        return Baseline(kind, before, after, told)
    return _split(summary, kind, (start + end) / 2, "nothing in the log says where to split: its two halves")


def onset_of(scan: Scan, summary: Summary, file: int | None = None) -> float | None:
    """Return when the trouble began: the first raised alarm that is not there from the start, or a severe change."""
    firsts = [a.first.time for a in alarms(scan, summary) if a.raised and not isnan(a.first.time)]
    late = [t for t in firsts if _far(summary, t)]
    if late:
        return min(late)
    severe = {t for t, g in summary.groups.items() if g.level >= Level.warning}
    rises = [
        c.moment
        for c in changes_of(scan, summary, file)
        if c.template in severe and c.direction in ("start", "up", "burst") and _far(summary, c.moment)
    ]
    return min(rises, default=None)


def _far(summary: Summary, moment: float) -> bool:
    """Tell whether enough of the window lies before a moment to compare with."""
    assert summary.start is not None  # asked by `baseline`
    assert summary.end is not None
    return moment - summary.start >= _LEAST * (summary.end - summary.start)


def _split(summary: Summary, kind: str, moment: float | None, why: str) -> Baseline | None:
    if moment is None or summary.start is None or summary.end is None or not _far(summary, moment):
        return None
    return Baseline(kind, Window(summary.start, moment), Window(moment, summary.end + 1e-6), why)
