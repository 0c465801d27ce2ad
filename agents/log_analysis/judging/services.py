"""Ranks services by what changed between two sides: errors that rose, output that vanished, and who is blamed."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.judging.halves import Half, halves
from agents.log_analysis.judging.rates import SMALLEST, two_rates
from agents.log_analysis.judging.trails import Trail, id_kind, moment
from agents.log_analysis.judging.windows import Side
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.table import Row

#: Evidence is told as -log10 of its p; more than this is as sure as it gets.
_MOST = 10.0
#: What a blamed service gets of the blamer's evidence, and how much more than a fall a full silence weighs. Half
#: or twice of any of these weights keeps the culprit among the first three, in each incident that was tried.
_BLAMED, _SILENT = 0.5, 2.0
#: Fewer calls from outside are mostly the users' doing.
_FEWER_CALLS = 0.5
#: Without paths: what the first of several services to fail gets (the n-th an n-th of it), and the most of the rest.
_FIRST, _RISE_WITHOUT_PATHS, _SEVERAL = 4.0, 0.5, 2
#: Evidence below this (p above .1) is no reason.
_LEAST = 1.0


@dataclass
class Suspect:
    """One service with its evidence. `reasons` are (what, strength) in words for people; sorted by strength."""

    service: int
    score: float = 0.0
    reasons: list[tuple[str, float]] = field(default_factory=list)

    def add(self, strength: float, reason: str) -> None:
        """Count a reason."""
        self.score += strength
        self.reasons.append((reason, round(strength, 1)))


def rank_services(scan: Scan, side: Side) -> list[Suspect]:
    """Return the services whose behaviour differs between two sides (0 before, 1 after), the likeliest culprit first.

    All counts are normalised per line and, where ids join lines, per path too; the weaker evidence counts. An
    error that follows another service's error in the same path, or names a service that fails or is silent
    itself, is a symptom. A silence is explained where the caller is silent too, or failed before it called.
    """
    kind = id_kind(scan)
    before, after = halves(scan, side, kind)
    if not before.lines or not after.lines:
        return []
    everyone = sorted((set(before.lines) | set(after.lines)) - {0})
    suspects = {service: Suspect(service) for service in everyone}
    rises = {s: _rise(s, before, after) for s in everyone}
    silent = {s for s in everyone if before.lines[s] and not after.lines[s]}
    for service in everyone:
        _blame(scan, suspects, service, rises, silent, after)
    for service in everyone:
        _silence(suspects[service], before, after)
        _missing(scan, suspects[service], before, after)
    if not kind:
        _order(suspects, before, after)
    for suspect in suspects.values():
        suspect.reasons.sort(key=lambda r: -r[1])
    return sorted((s for s in suspects.values() if s.reasons), key=lambda s: -s.score)


def _rise(service: int, before: Half, after: Half) -> float:
    """Return how surely a service's errors rose, per line and per path."""
    lines = (float(before.lines.total()), float(after.lines.total()))
    found = _up(before.errors[service], after.errors[service], lines)
    if before.paths and after.paths and after.failed[service]:
        paths = (float(len(before.paths)), float(len(after.paths)))
        found = min(found, _up(before.failed[service], after.failed[service], paths))
    return found


def _up(before: int, after: int, exposure: tuple[float, float]) -> float:
    if after * exposure[0] <= before * exposure[1]:
        return 0.0
    return min(_MOST, -math.log10(max(SMALLEST, two_rates(before, after, exposure))))


def _down(before: int, after: int, exposure: tuple[float, float]) -> float:
    if after * exposure[0] >= before * exposure[1]:
        return 0.0
    return min(_MOST, -math.log10(max(SMALLEST, two_rates(before, after, exposure))))


def _blame(
    scan: Scan,
    suspects: dict[int, Suspect],
    service: int,
    rises: dict[int, float],
    silent: set[int],
    after: Half,
) -> None:
    """Weigh a service's errors: its own, or symptoms of others, who get their part of the blame."""
    strength, errors = rises[service], after.errors[service]
    if strength < _LEAST or not errors:
        return
    named = after.blames.get(service, Counter())
    follows = sum(1 for p in after.paths.values() if _follows(p, service))
    failing = {s for s, rise in rises.items() if rise >= _LEAST} | silent
    explained = min(
        1.0, max(follows / max(1, after.failed[service]), *(named[s] / errors for s in failing), 0.0)
    )
    own = strength * (1 - explained)
    text = f"{errors} errors, more than before"
    if explained > 1 - explained:
        text += f", {explained:.0%} of them after another service's failure"
    suspects[service].add(own, text)
    for other, count in named.most_common(3):
        if other in suspects and count * 4 >= errors:
            share = min(1.0, count / errors)
            suspects[other].add(
                strength * share * _BLAMED, f"{count} errors of {scan.services[service]} name it"
            )


def _order(suspects: dict[int, Suspect], before: Half, after: Half) -> None:
    """Weigh who failed first, where no path says who failed because of whom; how often says little then."""
    new = [s for s in after.errors if s in suspects and not before.errors[s]]
    if len(new) < _SEVERAL:
        return
    new.sort(key=lambda s: moment(after.first_errors[s]))
    for place, service in enumerate(new, 1):
        suspect = suspects[service]
        suspect.score = min(suspect.score, _RISE_WITHOUT_PATHS)
        suspect.add(_FIRST / place, f"number {place} of {len(new)} services that began to fail")


def _follows(path: Trail, service: int) -> bool:
    """Tell whether a service fails in a path after another one failed."""
    first = path.first_error
    return (
        first is not None
        and first.service != service
        and any(r.service == service and r.level >= Level.error for r in path.steps)
    )


def _silence(suspect: Suspect, before: Half, after: Half) -> None:
    """Weigh that a service speaks less, or no more, though it was called."""
    service = suspect.service
    gone = not after.lines[service]
    weight = _SILENT if gone else 1.0
    if not before.paths or not after.paths or not before.holds[service]:
        lines = (float(before.lines.total()), float(after.lines.total()))
        strength = _down(before.lines[service], after.lines[service], lines) if gone else 0.0
        text = f"{before.lines[service]} lines before, none after"
    elif 2 * before.entries[service] >= before.holds[service]:
        looks = (float(len(before.paths)), float(len(after.paths)))
        strength = _down(before.holds[service], after.holds[service], looks)
        held, looked = before.holds[service], len(before.paths)
        text = f"in {after.holds[service]} of {len(after.paths)} paths, before in {held} of {looked}"
        weight = _SILENT if gone else _FEWER_CALLS
    else:
        strength, text = _uncalled(service, before, after)
    if strength >= _LEAST:
        suspect.add(strength * weight, f"silent: {text}" if gone else text)


def _uncalled(service: int, before: Half, after: Half) -> tuple[float, str]:
    """Return how surely a service is missing from the paths of the one that used to call it most."""
    callers = {c: n for (c, callee), n in before.met.items() if callee == service}
    if not callers:
        return 0.0, ""
    caller = max(callers, key=lambda c: (callers[c], -before.holds[c]))
    went_on = after.met[caller, -1]
    if not went_on:
        return 0.0, ""  # the caller is silent, or failed before it could call
    reached = after.met[caller, service]
    looks = (float(before.holds[caller]), float(max(went_on, reached)))
    strength = _down(callers[caller], reached, looks)
    return (
        strength,
        f"called in {reached} of {went_on} paths of its caller, before in {callers[caller]} of {before.holds[caller]}",
    )


def _missing(scan: Scan, suspect: Suspect, before: Half, after: Half) -> None:
    """Weigh the line that a service no longer writes in the paths it is still in."""
    service = suspect.service
    entered = sum(
        1
        for p in after.paths.values()
        if service in p.services and (p.first_error is None or p.first_error.service == service)
    )
    if not entered or not before.holds[service]:
        return
    usual = [(t, n) for (s, t), n in before.speaks.items() if s == service]
    looks = (float(before.holds[service]), float(entered))
    found = [(_down(n, min(entered, after.speaks[service, t]), looks), t, n) for t, n in usual]
    strength, template, count = max(found, default=(0.0, 0, 0))
    strength -= math.log10(max(1, len(found)))  # as many lines, as many chances
    if strength >= _LEAST:
        said = scan.miner.templates[template].text()[:80]
        got = after.speaks[service, template]
        suspect.add(
            strength,
            f"its line {said!r} is in {got} of {entered} paths it enters, before in {count} of {before.holds[service]}",
        )


def row_side(before: set[int], after: set[int]) -> Side:
    """Return the side of events by their files."""

    def side(row: Row) -> int | None:
        return 0 if row.file in before else 1 if row.file in after else None

    return side
