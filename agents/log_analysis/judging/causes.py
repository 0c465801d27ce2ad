"""Ranks candidate causes from what the tools answered; each finding cites lines of those answers only; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from agents.log_analysis.judging.chains import chain_text, when
from agents.log_analysis.judging.reasons import against_of, evidence, last_of, over, reasons_of
from agents.log_analysis.judging.titles import phrase, title
from agents.log_analysis.kinds import ERROR, GROWTH, KINDS, SLOW, SYMPTOM
from kernel.contracts import Evidence, Finding
from kernel.wording import ENGLISH, Words

#: Findings reported; the sum of weights that counts as certain; below the floor a problem is not worth a finding.
FINDINGS = 5
_CERTAIN = 1.45
_FLOOR = 0.1
#: An error that scores more is critical.
_CRITICAL = 0.69
#: A change is told with the trouble if it came so shortly before it (seconds), or within this share of the window.
_SHORTLY = 900.0
_SHORTLY_SHARE = 0.1

_WEIGHTS = {k.key: k.weight for k in (*KINDS, ERROR, GROWTH, SLOW)}
_RATIO = re.compile(r"\b\d+\s?/\s?\d+\b")
_NUMBER = re.compile(r"\d")
#: A service is told by name where the log calls it by one.
_NAME = re.compile(r"[\w.-]{2,60}")
#: Sides of a comparison, and what each is called.
_SIDES = {"new": "new", "more": "more often", "fewer": "less often", "vanished": "vanished"}

_Row = dict[str, Any]


@dataclass
class Cause:
    """Problems of one kind in one service, the likeliest first."""

    key: str
    rows: list[_Row] = field(default_factory=list)

    @property
    def first(self) -> _Row:
        """Return the row that appeared first."""
        return min(self.rows, key=when)

    @property
    def telling(self) -> _Row:
        """Return the row whose message says most: one with a ratio, then with a number, then the first."""

        def rank(row: _Row) -> tuple[bool, bool, int]:
            text = row["message"]
            level = row["level"] in ("error", "fatal")
            return (
                not (level and _RATIO.search(text)),
                not (level and _NUMBER.search(text)),
                self.rows.index(row),
            )

        return min(self.rows, key=rank)

    @property
    def count(self) -> int:
        """Return how many lines tell of it."""
        return sum(int(row["count"]) for row in self.rows)


def rank(
    overview: dict[str, Any], comparison: dict[str, Any] | None = None, *, say: Words = ENGLISH
) -> list[Finding]:
    """Return the findings, the likeliest cause first; nothing where the log tells of no trouble."""
    causes = _causes(overview.get("problems", []))
    findings = []
    for position, cause in enumerate(causes[:FINDINGS]):
        score = max(0.0, min(1.0, cause.rows[0]["score"]))
        if score < _FLOOR:
            continue
        top = not position
        change = _change(overview, cause) if top else None
        before = overview.get("before", []) if top and not cause.rows[0].get("chronic") else []
        findings.append(
            Finding(
                title=title(cause.telling, cause.key, say),
                severity=_severity(cause),
                score=round(score, 2),
                key=cause.key,
                detail=_detail(cause, overview, comparison if top else None, change, chain=top, say=say),
                evidence=_evidence(cause, change, overview, before),
                reasons=reasons_of(cause.rows, {**overview, "before": before}, change, say),
                against=against_of(cause.rows),
            )
        )
    return findings


def certainty(weights: float) -> float:
    """Return a score from 0 to 1 for a sum of weights: the only one that people are shown, in each answer the same."""
    return round(max(0.0, min(1.0, weights / _CERTAIN)), 3)


def top_rows(overview: dict[str, Any]) -> list[_Row]:
    """Return the problems that make up the likeliest cause."""
    causes = _causes(overview.get("problems", []))
    return causes[0].rows if causes else []


def rows_beside(rows: Iterable[_Row], number: int) -> list[_Row]:
    """Return the problems that are one cause with the problem of a template."""
    return next((c.rows for c in _causes(rows) if any(row["id"] == number for row in c.rows)), [])


def _causes(rows: Iterable[_Row]) -> list[Cause]:
    causes: dict[tuple[str, str], Cause] = {}
    for row in rows:
        kind = row["kind"]
        if kind == ERROR.key:
            part = str(row["id"])
        else:  # symptoms of one kind are one finding, whichever services show them
            part = (row.get("services") or [""])[0] if _WEIGHTS.get(kind, 1.0) >= SYMPTOM else ""
        causes.setdefault((kind, part), Cause(kind)).rows.append(row)
    return sorted(causes.values(), key=lambda c: -c.rows[0]["score"])


def _severity(cause: Cause) -> Any:
    levels = {row["level"] for row in cause.rows}
    if "fatal" in levels or (cause.rows[0]["score"] > _CRITICAL and "error" in levels):
        return "critical"
    return "error" if "error" in levels else "warning"


def _detail(
    cause: Cause,
    overview: dict[str, Any],
    comparison: dict[str, Any] | None,
    change: _Row | None,
    *,
    chain: bool,
    say: Words,
) -> str:
    parts = [_how_often(cause, say)]
    blamed = sorted({row["blames"] for row in cause.rows if row.get("blames")})
    if blamed:
        parts.append(say("It follows from {blamed}", blamed=", ".join(blamed)))
    if chain:
        parts += chain_text(overview, cause.first, say)
    if change:
        where = f"{change['source']}:{change['line']}"
        parts.append(say("It follows a change at {time} ({where})", time=change["time"], where=where))
    if comparison and any(comparison.get(f"{name}_total") for name in _SIDES):
        parts.append(_comparison_text(comparison, say))
    if service := next(
        (s for row in cause.rows for s in row.get("services") or [] if _NAME.fullmatch(s)), ""
    ):
        # with the pattern after it: what the memory keeps of a cause
        parts.append(say("Service: {service}", service=service))
    parts.append(say('Pattern: "{phrase}"', phrase=phrase(cause.rows[0])))
    if name := next((row["nickname"] for row in cause.rows if row.get("nickname")), ""):
        parts.append(say("A model's name for it: {name}", name=name))
    return f"{say.plain('. ').join(parts)}{say.plain('.')}"


def _how_often(cause: Cause, say: Words) -> str:
    if (timing := cause.rows[0].get("timing") or {}).get("rose"):
        spot = cause.rows[0]["first"]
        text = "Slow from {time} on ({where})"
        return say(text, time=timing["rose"], where=f"{spot['source']}:{spot['line']}")
    first = cause.first["first"]
    last = max(map(last_of, cause.rows), key=lambda spot: (spot["time"], spot["line"]))
    lines = say("1 line tells") if cause.count == 1 else say("{count} lines tell", count=cause.count)
    where = f"{first['source']}:{first['line']}"
    if not first["time"]:
        return say("{lines} of it, the first of them {where}", lines=lines, where=where)
    text = say("{lines} of it, first at {time} ({where})", lines=lines, time=first["time"], where=where)
    if cause.count == 1 or not last["time"]:
        return text
    return text + say(", last at {time} (line {line})", time=last["time"], line=last["line"])


def _comparison_text(comparison: dict[str, Any], say: Words) -> str:
    counts = [(say.plain(name), comparison[f"{key}_total"]) for key, name in _SIDES.items()]
    told = ", ".join(f"{count} {name}" for name, count in counts if count)
    text = say("Kinds of lines, against the time before: {told}", told=told)
    gone = [row["template"][:80] for row in comparison.get("vanished", [])[:2]]
    return text + (f" ({'; '.join(gone)})" if gone else "")


def _change(overview: dict[str, Any], cause: Cause) -> _Row | None:
    """Return the last change before the cause first showed, if it is near."""
    began = _moment(cause.first["first"]["time"])
    start, end = (_moment(overview["window"][side]) for side in ("from", "to"))
    if began is None:
        return None
    near = _SHORTLY
    if start is not None and end is not None:
        near = max(near, (end - start) * _SHORTLY_SHARE)
    best: tuple[float, _Row] | None = None
    for row in overview.get("changes", []):
        moment = _moment(row["time"])
        if moment is None or not 0 <= began - moment <= near:
            continue
        if best is None or moment > best[0]:
            best = (moment, row)
    return best[1] if best else None


def _moment(text: str) -> float | None:
    return datetime.fromisoformat(text).timestamp() if text else None


def _evidence(cause: Cause, change: _Row | None, overview: _Row, before: list[_Row]) -> list[Evidence]:
    spots = [cause.first["first"], cause.telling["first"]]
    spots += [row["root"] for row in cause.rows[:2] if row.get("root")]
    spots += [row["first"] for row in cause.rows[:2]]
    spots += [*([change] if change else []), *(row.get("last") or row for row in before)]
    spots += [spot for spot in (over(cause.rows, "recovered"),) if spot]
    spots += [spot for row in cause.rows[:1] for spot in row.get("more", [])]
    spots += [row["last"] for row in cause.rows[:1] if row.get("last", {}).get("quote")]
    numbers = {row["id"] for row in cause.rows}
    spots += [t for t in overview.get("traces", []) if numbers & set(t["templates"])][:1]
    return evidence(spots)[:6]
