"""Where the path of a request first leaves the usual way, and which services that points at; pure."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from agents.log_analysis.judging.trails import STEPS, Trail

#: One kind of line of one service.
Step = tuple[int, int]
_END: Step = (-1, -1)
#: What follows a step is known from so many paths on; what followed in less than a share of one in so many is unusual.
_KNOWN, _RARE = 3, 50


def steps_of(path: Trail, final: Callable[[int], int]) -> list[Step]:
    """Return a path's steps in the order of time, without lines of no service."""
    return [(row.service, final(row.template)) for row in path.steps if row.service]


class Ways:
    """Which step usually follows which, counted by paths."""

    def __init__(self, paths: Iterable[Sequence[Step]], gone: Collection[int] = ()) -> None:
        """Count the paths of the side that is usual; `gone` services are in no path of the other side."""
        self._gone = gone
        self._passes: Counter[Step] = Counter()
        self._follows: dict[Step, Counter[Step]] = defaultdict(Counter)
        self._leads: dict[Step, Counter[Step]] = defaultdict(Counter)
        for steps in paths:
            self._passes.update(set(steps))
            for step, following in set(_moves(steps)):
                self._follows[step][following] += 1
                self._leads[following][step] += 1

    def departure(self, steps: Sequence[Step], *, own: bool) -> dict[int, float]:
        """Return the services that a path's first unusual move points at, with shares that add up to one; or nothing.

        What comes after the first unusual move is its consequence and says nothing. `own` paths were counted
        themselves: they are judged by the others, so that both sides are judged alike.
        """
        spoken: set[int] = set()
        for step, following in _moves(steps):
            spoken.add(step[0])
            known = self._passes[step] - own
            seen = self._follows[step][following] - own
            if known >= _KNOWN and seen * _RARE < known:
                return self._pointed(steps, (step, following), spoken, own=own)
        return {}

    def _pointed(
        self, steps: Sequence[Step], move: tuple[Step, Step], spoken: Collection[int], *, own: bool
    ) -> dict[int, float]:
        """Say whose fault an unusual move may be: who stopped in its work, did not answer, or called nobody."""
        step, following = move
        taken = set(_moves(steps)) if own else set()
        speaker, instead = step[0], following[0]
        after, share = self._usual(self._follows[step], {b for a, b in taken if a == step})
        known = self._passes[following] - own > 0
        if after == speaker or (instead == speaker and not known and after in spoken):
            return {speaker: 1.0}
        # one that is in no path any more is likelier silent than uncalled
        votes: dict[int, float] = defaultdict(float, {speaker: 0.5 if after in self._gone else 1.0})
        # who fails in its own new words before it calls is likelier at fault than whom it did not call
        votes[after if after >= 0 else instead] += share / 2 if instead == speaker and not known else share
        if known:
            before, share = self._usual(self._leads[following], {a for a, b in taken if b == following})
            votes[before] += share
        votes = {service: n for service, n in votes.items() if service >= 0 and n > 0}
        return {service: n / sum(votes.values()) for service, n in votes.items()}

    def _usual(self, steps: Counter[Step], taken: set[Step]) -> tuple[int, float]:
        """Return the service of most of the steps, one path's left out, and its share; one that is gone goes first."""
        services: Counter[int] = Counter()
        for step, count in steps.items():
            services[step[0]] += count - (step in taken)
        service = max(services, key=lambda s: (s in self._gone, services[s]), default=-1)
        if service in self._gone:
            return service, 1.0
        return service, services[service] / max(1, services.total())


def _moves(steps: Sequence[Step]) -> Iterator[tuple[Step, Step]]:
    yield from pairwise(steps)
    if steps and len(steps) < STEPS:
        yield steps[-1], _END


@dataclass
class Pointed:
    """What the paths of one side point at: per path the shares of services; per service paths, and those without it."""

    paths: dict[str, dict[int, float]] = field(default_factory=dict)
    at: Counter[int] = field(default_factory=Counter)
    absent: Counter[int] = field(default_factory=Counter)
    shares: dict[int, float] = field(default_factory=lambda: defaultdict(float))


def departed(
    before: Iterable[Trail], after: Iterable[Trail], final: Callable[[int], int]
) -> tuple[Pointed, Pointed]:
    """Return where the paths of both sides first leave the ways of the side before."""
    walked = [[(path.id, steps_of(path, final)) for path in side] for side in (before, after)]
    spoke = [{step[0] for _, steps in side for step in steps} for side in walked]
    ways = Ways((steps for _, steps in walked[0]), spoke[0] - spoke[1])
    pointed = tuple(
        {number: shares for number, steps in paths if (shares := ways.departure(steps, own=not side))}
        for side, paths in enumerate(walked)
    )
    return _counted(pointed[0], walked[0]), _counted(_settled(pointed[1]), walked[1])


def _settled(paths: dict[str, dict[int, float]]) -> dict[str, dict[int, float]]:
    """Return the shares with each path leaning to the service that most of the others point at."""
    weights: dict[int, float] = defaultdict(float)
    for shares in paths.values():
        for service, share in shares.items():
            weights[service] += share
    found = {}
    for number, shares in paths.items():
        leaning = {service: share * weights[service] for service, share in shares.items()}
        whole = sum(leaning.values())
        found[number] = {service: share / whole for service, share in leaning.items()}
    return found


def _counted(paths: dict[str, dict[int, float]], walked: Sequence[tuple[str, Sequence[Step]]]) -> Pointed:
    found = Pointed(paths)
    for number, steps in walked:
        holds = {step[0] for step in steps}
        for service, share in paths.get(number, {}).items():
            found.at[service] += 1
            found.absent[service] += service not in holds
            found.shares[service] += share
    return found
