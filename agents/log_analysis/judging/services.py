"""Ranks services by what changed between two sides: paths that leave their way, errors, silence, delay, and blame."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from statistics import fmean

from agents.log_analysis.judging.departures import Pointed, departed
from agents.log_analysis.judging.halves import Half, failing, halves
from agents.log_analysis.judging.lags import SLOWER, lags
from agents.log_analysis.judging.rates import SMALLEST, ranks_above, shares_above, two_rates
from agents.log_analysis.judging.trails import id_kind, moment
from agents.log_analysis.judging.windows import Side
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.table import Row

#: Evidence is told as -log10 of its p; more than this is as sure as it gets.
_MOST = 10.0
#: What a blamed service gets of the blamer's evidence.
_BLAMED = 0.5
#: Fewer calls from outside are mostly the users' doing.
_FEWER_CALLS = 0.5
#: Without paths: what the first of several services to fail gets (the n-th an n-th of it), and the most of the rest.
_FIRST, _RISE_WITHOUT_PATHS, _SEVERAL = 4.0, 0.5, 2
#: Evidence below this (p above .1) is no reason; from this on, all tests considered, chance does not explain it.
_LEAST, _SURE = 1.0, 2.0


@dataclass
class Suspect:
    """One service with its evidence. `reasons` are (what, strength) in words for people; sorted by strength."""

    service: int
    score: float = 0.0
    reasons: list[tuple[str, float]] = field(default_factory=list)
    sure: bool = False

    def add(self, strength: float, reason: str) -> None:
        """Count a reason."""
        self.score += strength
        self.reasons.append((reason, round(strength, 1)))


def rank_services(scan: Scan, side: Side, without: Collection[int] = ()) -> list[Suspect]:
    """Return the services whose behaviour differs between two sides (0 before, 1 after), the likeliest culprit first.

    Where ids join lines to paths, a path points at the service at which it first leaves the usual way; what comes
    later in it, errors of callers too, is a consequence. `sure` tells whom chance does not explain; the others are
    worth a look where nobody is. `without` are names that are no services'.
    """
    kind = id_kind(scan)
    before, after = halves(scan, side, kind)
    if not before.lines or not after.lines:
        return []
    everyone = sorted((set(before.lines) | set(after.lines)) - {0, *without})
    suspects = {service: Suspect(service) for service in everyone}
    pointed = departed(before.paths.values(), after.paths.values(), scan.miner.final)
    rises = {s: _rise(s, before, after) for s in everyone}
    failing = {s for s in everyone if rises[s] >= _LEAST or (before.lines[s] and not after.lines[s])}
    slow = lags(before.paths.values(), after.paths.values(), scan.miner.final)
    for service, suspect in suspects.items():
        _leaves(suspect, pointed, before, after, 1 - _named(service, failing, after))
        _blame(scan, suspects, service, rises, failing, after, pointed[1])
        _silence(suspect, before, after)
        _slower(suspect, slow[0].get(service, []), slow[1].get(service, []))
    if not kind:
        _order(suspects, before, after)
    for suspect in suspects.values():
        suspect.reasons.sort(key=lambda r: -r[1])
        suspect.sure = suspect.score >= _SURE + math.log10(len(everyone))
    return sorted((s for s in suspects.values() if s.reasons), key=lambda s: -s.score)


def _strength(p: float) -> float:
    return min(_MOST, -math.log10(max(SMALLEST, p)))


def _leaves(
    suspect: Suspect, pointed: tuple[Pointed, Pointed], before: Half, after: Half, own: float
) -> None:
    """Weigh that paths first leave their usual way at a service, more often than usual paths do by themselves."""
    service = suspect.service
    (left, of), (more, of_more) = (
        (side.at[service], half.holds[service] + side.absent[service])
        for side, half in zip(pointed, (before, after), strict=True)
    )
    strength = _strength(shares_above((left, of), (more, of_more)))
    if strength >= _LEAST:
        text = f"{more} of {of_more} paths leave their usual way at it, before {left} of {of}"
        suspect.add(strength * own * pointed[1].shares[service] / more, text)


def _rise(service: int, before: Half, after: Half) -> float:
    """Return how surely a service's errors rose, per line and, where its errors are in paths, per path it is in."""
    lines = (float(before.lines.total()), float(after.lines.total()))
    few, many = before.errors[service], after.errors[service]
    found = _strength(two_rates(few, many, lines)) if many * lines[0] > few * lines[1] else 0.0
    if after.failed[service] and before.paths:
        paths = [(half.failed[service], half.holds[service]) for half in (before, after)]
        found = min(found, _strength(shares_above(paths[0], paths[1])))
    return found


def _blame(
    scan: Scan,
    suspects: dict[int, Suspect],
    service: int,
    rises: dict[int, float],
    failing: set[int],
    after: Half,
    pointed: Pointed,
) -> None:
    """Weigh a service's errors: its own, or consequences of others, who get their part of the blame."""
    strength, errors = rises[service], after.errors[service]
    if strength < _LEAST or not errors:
        return
    named = after.blames.get(service, Counter())
    follows = _follows(service, after, pointed)
    explained = max(follows, _named(service, failing, after))
    text = f"{errors} errors, more than before"
    if explained > 1 - explained:
        text += f", {explained:.0%} of them after another service's failure"
    suspects[service].add(strength * (1 - explained), text)
    for other, count in named.most_common(3):
        if other in suspects and count * 4 >= errors:
            share = min(1.0, count / errors)
            suspects[other].add(
                strength * share * _BLAMED, f"{count} errors of {scan.services[service]} name it"
            )


def _named(service: int, failing: set[int], after: Half) -> float:
    """Return which share of a service's errors names another one that fails or is silent itself."""
    named = after.blames.get(service, Counter())
    return min(1.0, max((named[s] / max(1, after.errors[service]) for s in failing if named[s]), default=0.0))


def _follows(service: int, after: Half, pointed: Pointed) -> float:
    """Return in which share of the paths a service fails in it does so because of another one."""
    others = 0.0
    for number, path in after.paths.items():
        if service in failing(path):
            first = path.first_error
            shares = pointed.paths.get(number)
            if shares is not None:
                others += 1 - shares.get(service, 0.0)
            else:
                others += first is not None and first.service != service
    return others / max(1, after.failed[service])


def _order(suspects: dict[int, Suspect], before: Half, after: Half) -> None:
    """Weigh who failed first in a new way; where no path says who failed because of whom, how often says little."""
    firsts: dict[int, Row] = {}
    for kind, row in sorted(after.first_errors.items(), key=lambda one: moment(one[1])):
        if kind not in before.first_errors and kind[0] in suspects:
            firsts.setdefault(kind[0], row)
    if len(firsts) < _SEVERAL:
        return
    for place, service in enumerate(firsts, 1):
        suspect = suspects[service]
        suspect.score = min(suspect.score, _RISE_WITHOUT_PATHS)
        suspect.add(_FIRST / place, f"number {place} of {len(firsts)} services that began to fail")


def _silence(suspect: Suspect, before: Half, after: Half) -> None:
    """Weigh that a service speaks no more, or that fewer paths begin at it."""
    service = suspect.service
    gone = not after.lines[service]
    if before.holds[service] and after.paths:
        began, paths = before.entries[service], len(after.paths)
        kept, looked = after.entries[service], len(before.paths)
        strength = _strength(shares_above((looked - began, looked), (paths - kept, paths)))
        text = f"{kept} of {paths} paths begin at it, before {began} of {looked}"
    elif gone:
        lines = (float(before.lines.total()), float(after.lines.total()))
        strength = _strength(two_rates(before.lines[service], 0, lines))
        text = f"{before.lines[service]} lines before, none after"
    else:
        return
    if strength >= _LEAST:
        suspect.add(strength * (1.0 if gone else _FEWER_CALLS), f"silent: {text}" if gone else text)


def _slower(suspect: Suspect, before: list[float], after: list[float]) -> None:
    """Weigh that the work of a service, and the calls to and from it, take longer than they did."""
    if not before or not after:
        return
    times = math.exp(fmean(after) - fmean(before))
    strength = _strength(ranks_above(before, after))
    if times >= SLOWER and strength >= _LEAST:
        suspect.add(strength, f"{times:.3g} times as long between its lines as before, in {len(after)} paths")


def row_side(before: set[int], after: set[int]) -> Side:
    """Return the side of events by their files."""

    def side(row: Row) -> int | None:
        return 0 if row.file in before else 1 if row.file in after else None

    return side
