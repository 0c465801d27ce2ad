"""Words the order in which services failed; failures more than a day apart are no cascade; pure."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from agents.log_analysis.judging.placing import code
from agents.log_analysis.judging.trails import AT_ONCE
from kernel.wording import ENGLISH, Words

#: Seconds between two first failures from which on the one did not bring the other about.
_DAY = 86_400.0
#: Services named.
_STEPS = 8

_Row = dict[str, Any]
_Step = tuple[str, str, str]


def chain(overview: _Row) -> list[_Step]:
    """Return service, time and `source:line` of each service's first error that has a time, in the order of times."""
    firsts: dict[str, _Row] = {}
    for row in overview.get("problems", []):
        if row.get("chronic") or row["level"] not in ("error", "fatal") or not row["first"]["time"]:
            continue  # places in files are no order of events
        for service in row.get("services", [])[:1]:
            if service not in firsts or when(row) < when(firsts[service]):
                firsts[service] = row
    ordered = sorted(firsts.items(), key=lambda item: when(item[1]))
    return [(s, r["first"]["time"], f"{r['first']['source']}:{r['first']['line']}") for s, r in ordered]


def chain_text(overview: _Row, cause: _Row, say: Words = ENGLISH) -> list[str]:
    """Return sentences on the services that failed with a cause, and on those that failed at another time."""
    parts = _split(chain(overview))
    name = next(iter(cause.get("services") or []), "")
    own = next((part for part in parts if any(step[0] == name for step in part)), parts[0] if parts else [])
    texts = []
    if len(own) > 1:  # one service is no chain
        days = {step[1].partition("T")[0] for step in own}
        told = _told(own, dated=len(days) > 1)
        texts.append(say("First error of each service, by its stamp: {told}", told=told))
    others = [step for part in parts if part is not own for step in part]
    if others:
        told = _told(others, dated=True, between=", ")
        texts.append(say("More than a day apart, so hardly the same failure: {told}", told=told))
    if along := _along(overview, say):
        texts.append(along)
        if own and overview["paths"]["chains"][0]["services"][0] != own[0][0]:
            text = "Errors of one id within {seconds:g} s are one failure: the service called last goes first"
            texts.append(say(text, seconds=AT_ONCE))
    return texts


def _along(overview: _Row, say: Words) -> str:
    """Return how failures ran along the ids that join lines, or an empty text."""
    paths = overview.get("paths") or {}
    if not paths.get("chains"):
        return ""
    top = paths["chains"][0]
    text = "Along {failed} of {paths} {kind} ids the failure ran {told} ({count} of them, such as {id})"
    counts = {name: paths[name] for name in ("failed", "paths", "kind")}
    return say(
        text, **counts, told=" → ".join(top["services"][:_STEPS]), count=top["count"], id=code(top["id"])
    )


def _split(steps: list[_Step]) -> list[list[_Step]]:
    """Return the steps in runs without a gap of more than a day."""
    parts: list[list[_Step]] = []
    for step in steps:
        if parts and _seconds(parts[-1][-1], step) <= _DAY:
            parts[-1].append(step)
        else:
            parts.append([step])
    return parts


def _seconds(first: _Step, last: _Step) -> float:
    """Return the time between two steps, 0 where one has none."""
    if not first[1] or not last[1]:
        return 0.0
    return (datetime.fromisoformat(last[1]) - datetime.fromisoformat(first[1])).total_seconds()


def _told(steps: list[_Step], *, dated: bool, between: str = " → ") -> str:
    def moment(time: str) -> str:
        day, _, clock = time.partition("T")
        return f"{day} {clock}" if dated and clock else clock

    return between.join(f"{service} ({moment(time) or where})" for service, time, where in steps[:_STEPS])


def when(row: _Row) -> tuple[str, int]:
    """Return what rows are ordered by: time, then line; a row without a time comes last."""
    return (row["first"]["time"] or "~", row["first"]["line"])
