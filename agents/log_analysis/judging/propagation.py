"""How failures run through services, path by path: who fails first, who fails with it, what usually follows; pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.judging.trails import Trail, id_kind, origin, trails
from agents.log_analysis.scanning.scan import Scan

#: A line belongs to the usual path if it is in so large a share of so many paths that begin alike and go well.
_USUAL, _PATHS = 0.8, 4


@dataclass
class Propagation:
    """Failed paths of a scan: `chains` are services in the order of blame (origin first) with counts of paths."""

    kind: str = ""
    paths: int = 0
    failed: int = 0
    origins: Counter[int] = field(default_factory=Counter)
    chains: Counter[tuple[int, ...]] = field(default_factory=Counter)
    examples: dict[tuple[int, ...], str] = field(default_factory=dict)


def propagation(scan: Scan, file: int | None = None) -> Propagation:
    """Return in which order services fail in the paths of requests; empty where no id joins the lines.

    The origin is the first error of a path; of services that fail at about the same time, the one called last.
    """
    kind = id_kind(scan)
    return spread(kind, trails(scan, kind, None if file is None else {file}).values())


def spread(kind: str, paths: Iterable[Trail]) -> Propagation:
    """Return the propagation over paths that are at hand."""
    found = Propagation(kind)
    for path in paths:
        found.paths += 1
        first = origin(path.steps)
        if first is None:
            continue
        found.failed += 1
        found.origins[first.service] += 1
        failing = dict.fromkeys(row.service for row in path.steps if row.level >= Level.error)
        chain = (first.service, *(s for s in failing if s != first.service))
        found.chains[chain] += 1
        found.examples.setdefault(chain, path.id)
    return found


def missing(path: Trail, others: Iterable[Trail], final: Callable[[int], int]) -> list[tuple[int, int, int]]:
    """Return templates that a path lacks though paths that begin like it have them: template, in how many, of how many.

    They come in the order in which the usual path has them; only paths without an error are usual.
    """
    if not path.steps:
        return []
    entry = final(path.steps[0].template)
    seen: Counter[int] = Counter()
    places: dict[int, list[int]] = defaultdict(list)
    usual = 0
    for other in others:
        if other.id == path.id or other.errors or not other.steps or final(other.steps[0].template) != entry:
            continue
        usual += 1
        order = dict.fromkeys(final(row.template) for row in other.steps)
        for place, template in enumerate(order):
            seen[template] += 1
            places[template].append(place)
    if usual < _PATHS:
        return []
    own = {final(row.template) for row in path.steps}
    lacking = [t for t, n in seen.items() if n >= _USUAL * usual and t not in own]
    lacking.sort(key=lambda t: sum(places[t]) / len(places[t]))
    return [(t, seen[t], usual) for t in lacking]
