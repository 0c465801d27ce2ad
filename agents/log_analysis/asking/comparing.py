"""Compares two windows, or two sets of files, of a run's logs both ways: what got more and new, less and vanished."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.times import iso
from agents.log_analysis.judging.baselines import KINDS, Window, baseline
from agents.log_analysis.judging.services import Suspect, rank_services, row_side
from agents.log_analysis.judging.windows import Comparison, Shift, Side, compared
from agents.log_analysis.reading import Reading, counts_in, find, fit
from agents.log_analysis.scanning.summary import summarise
from agents.log_analysis.scanning.table import Row
from kernel.errors import Correctable

_ROWS = 8
_LISTS = ("new", "vanished", "more", "fewer", "rare")
_RARE_ROWS = 3
#: Characters of a template for a model, and for people.
_WIDTH, _WHOLE = 140, 100_000
#: Ranking services reads the lines again (some 7 s for so many events); no service and one are not ranked.
_RANKED_EVENTS, _RANKED, _REASONS, _TWO = 200_000, 5, 3, 2


def compare_of(
    reading: Reading,
    file: int | None,
    before: Window,
    after: Window,
    *,
    by_line: bool,
    rows: int | None = None,
) -> dict[str, Any]:
    """Return what differs between two windows, normalised by how much the usual lines changed.

    `rows` of each list are for people and programs that have the room (0: all); a model gets what fits.
    """

    def side(row: Row) -> int | None:
        if file is not None and row.file != file:
            return None
        place = float(row.line) if by_line else row.time
        return 0 if before.holds(place) else 1 if after.holds(place) else None

    show = (lambda v: v) if by_line else iso
    windows = [{"from": show(w.start), "to": show(w.end)} for w in (before, after)]
    return _answer(reading, side, windows, rows)


def compare_files_of(
    reading: Reading, before: Collection[int], after: Collection[int], *, rows: int | None = None
) -> dict[str, Any]:
    """Return what differs between two sets of files, normalised by how much the usual lines changed."""
    windows = [
        {"from": "", "to": "", "source": ", ".join(reading.name(n) for n in sorted(files)[:4])}
        for files in (before, after)
    ]
    unshared = _unshared(reading, before, after)
    return _answer(reading, row_side({*before}, {*after}), windows, rows, unshared)


def _unshared(reading: Reading, before: Collection[int], after: Collection[int]) -> frozenset[int]:
    """Return the services that are only names of files: those of two sides that share none are days, or places."""
    names = [{reading.scan.file_names[n] for n in side} - {""} for side in (before, after)]
    if names[0] & names[1]:
        return frozenset()
    return frozenset(n for n, name in enumerate(reading.scan.services) if name in names[0] | names[1])


def compare_baseline_of(
    reading: Reading, file: int | None, kind: str, *, rows: int | None = None
) -> dict[str, Any]:
    """Return what differs from a baseline that the log itself offers, and say which and why."""
    check_baseline(kind)
    summary = summarise(reading.scan, file)
    chosen = baseline(reading.scan, summary, kind, file)
    if chosen is None:
        raise Correctable(
            f"the log offers no baseline of the kind {kind!r}",
            why="it has no times, or nothing of the kind lies far enough inside its window",
            next_step="Use baseline='auto' or 'half', pass split_at, or split it at a line: split_at='line 1302'.",
        )
    answer = compare_of(reading, file, chosen.before, chosen.after, by_line=False, rows=rows)
    return {"baseline": chosen.kind, "chosen": chosen.why, **answer}


def check_baseline(kind: str) -> None:
    """Raise Correctable where a word names no way to choose two windows."""
    if kind not in KINDS:
        raise Correctable(
            f"{kind!r} is no baseline",
            why="it names no way to choose two windows",
            next_step=f"Use one of {', '.join(KINDS)}.",
        )


def compare_sources_of(reading: Reading, before: str, after: str) -> dict[str, Any] | None:
    """Return the comparison of two sources by name, or None where the texts name none."""
    sides = [find(reading.scan, name) for name in (before, after)]
    if None in sides or sides[0] == sides[1]:
        return None
    return compare_files_of(reading, *({n for n in (side,) if n is not None} for side in sides))


def _answer(
    reading: Reading,
    side: Side,
    windows: list[dict[str, Any]],
    most: int | None,
    without: Collection[int] = (),
) -> dict[str, Any]:
    found = compared(reading.scan, side)
    if found is None:
        raise _empty(reading, side)
    answer: dict[str, Any] = {
        "before": {**windows[0], "events": found.totals[0]},
        "after": {**windows[1], "events": found.totals[1]},
        "normalised": _normalised(found),
        "unchanged": found.templates - len(found.shifts),
    }
    for name in _LISTS:
        shifts = [s for s in found.shifts if s.name == name]
        answer[f"{name}_total"] = len(shifts)
        rows = (_RARE_ROWS if name == "rare" else _ROWS) if most is None else most or len(shifts)
        width = _WIDTH if most is None else _WHOLE
        answer[name] = [_row(reading, found, shift, width) for shift in shifts[:rows]]
    if reading.scan.table.rows > _RANKED_EVENTS:
        answer["services_note"] = (
            f"services were not ranked: over {_RANKED_EVENTS:,} events; compare one source, or use entities()"
        )
    elif ranked := _services(reading, side, without):
        answer["services"] = ranked
    return fit(answer, "rare", "fewer", "more", "vanished", "services", "new") if most is None else answer


def _empty(reading: Reading, side: Side) -> Correctable:
    name = "before" if not any(side(row) == 0 for row in reading.scan.table) else "after"
    summary = summarise(reading.scan)
    span = f"runs from {iso(summary.start)} to {iso(summary.end)}" if summary.start else "has no times"
    return Correctable(
        f"the window {name!r} holds no event",
        why=f"the log {span}, in {max(facts.lines for facts in reading.scan.facts):,} lines",
        next_step="Split at a time (or line) inside the log's own window.",
    )


def _services(reading: Reading, side: Side, without: Collection[int]) -> list[dict[str, Any]]:
    """Return the services by what rose, vanished and is blamed; nothing where there is but one."""
    scan = reading.scan
    if len(scan.services) - len(without) <= _TWO:
        return []
    return [_service(reading, suspect) for suspect in rank_services(scan, side, without)[:_RANKED]]


def _service(reading: Reading, suspect: Suspect) -> dict[str, Any]:
    reasons = [reading.text(reason, 200) for reason, _ in suspect.reasons[:_REASONS]]
    return {
        "service": reading.text(reading.scan.services[suspect.service], 60),
        "score": round(suspect.score, 1),
        "reasons": reasons,
        "reason_counts": [count for reason in reasons for count in counts_in(reason)],
        **({} if suspect.sure else {"may_be_chance": True}),
    }


def _normalised(found: Comparison) -> str:
    if found.usual:
        return f"after has {found.busier:.3g} times the usual lines of before (median of {found.usual} templates)"
    return f"after has {found.busier:.3g} times the events of before"


def _row(reading: Reading, found: Comparison, shift: Shift, width: int) -> dict[str, Any]:
    count, totals = shift.count, found.totals
    services = sorted(reading.text(reading.scan.services[n], 60) for n in count.services if n)
    row = {
        "template": reading.text(reading.scan.miner.templates[shift.template].text(), width),
        "level": Level(count.level).name,
        "before": count.before,
        "after": count.after,
        "per_1000": [round(count.before * 1000 / totals[0], 2), round(count.after * 1000 / totals[1], 2)],
        "fold": round(2**shift.fold, 2),
        "p": float(f"{shift.p:.1e}"),
        "q": float(f"{shift.q:.1e}"),
        "services": services[:4],
        **reading.at(shift.row),
    }
    return {**row, "burst": True} if shift.burst else row
