"""What two sides of a scan hold per service and per path: lines, errors, blame, and who speaks after whom; pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.judging.trails import IDS, STEPS, Trail, id_of, moment, origin, with_text
from agents.log_analysis.judging.windows import Side
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.table import Row

#: Characters of an error that are searched for names of services; shorter names stand in too many words.
_NAMED_IN, _NAME = 4000, 4
_WORD = re.compile(r"[\w-]+")


@dataclass
class Half:
    """What one side holds."""

    lines: Counter[int] = field(default_factory=Counter)
    errors: Counter[int] = field(default_factory=Counter)
    first_errors: dict[int, Row] = field(default_factory=dict)
    blames: dict[int, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    paths: dict[str, Trail] = field(default_factory=dict)
    failed: Counter[int] = field(default_factory=Counter)  # paths in which a service has an error
    entries: Counter[int] = field(default_factory=Counter)
    met: Counter[tuple[int, int]] = field(default_factory=Counter)  # caller, callee: paths
    holds: Counter[int] = field(default_factory=Counter)  # service: paths
    speaks: Counter[tuple[int, int]] = field(default_factory=Counter)  # service, template: paths


def halves(scan: Scan, side: Side, kind: str) -> tuple[Half, Half]:
    """Return what both sides hold; `kind` names the ids that join lines to paths, if any."""
    found = (Half(), Half())
    numbers = _numbers(scan.services)
    for row, text in with_text(scan):
        which = side(row)
        if which is None:
            continue
        half = found[which]
        half.lines[row.service] += 1
        if row.level >= Level.error:
            half.errors[row.service] += 1
            if (
                moment(row) < moment(half.first_errors.get(row.service, row))
                or row.service not in half.first_errors
            ):
                half.first_errors[row.service] = row
            profile = scan.profiles[scan.miner.final(row.template)].message
            told = _told(numbers, text[:_NAMED_IN] + " " + profile)
            half.blames[row.service].update(told - {row.service})
        if number := id_of(kind, text):
            path = half.paths.get(number)
            if path is None and len(half.paths) < IDS:
                path = half.paths[number] = Trail(number)
            if path is not None and len(path.steps) < STEPS:
                path.steps.append(row)
    for half in found:
        walk(half, scan.miner.final)
    return found


def _numbers(services: Sequence[str]) -> dict[str, list[tuple[str, int]]]:
    """Return the services by the first word of their names, the longest names first.

    One pattern of all names would try each of thousands at every word of a line.
    """
    found: dict[str, list[tuple[str, int]]] = defaultdict(list)
    for number, service in sorted(enumerate(services), key=lambda one: -len(one[1])):
        name = service.lower()
        if len(name) >= _NAME and (word := _WORD.match(name)):
            found[word[0]].append((name, number))
    return found


def _told(numbers: dict[str, list[tuple[str, int]]], text: str) -> set[int]:
    """Return the services that a text names as whole words."""
    told, text = set(), text.lower()
    for word in _WORD.finditer(text):
        for name, number in numbers.get(word[0], ()):
            end = word.start() + len(name)
            if text.startswith(name, word.start()) and not _WORD.match(text, end):
                told.add(number)
                break
    return told


def walk(half: Half, final: Callable[[int], int]) -> None:
    """Count who is in which path, who calls whom, and who fails first."""
    for path in half.paths.values():
        path.steps.sort(key=moment)
        path.first_error = origin(path.steps)
        order = path.services
        if not order:
            continue
        half.entries[order[0]] += 1
        half.failed.update({r.service for r in path.steps if r.level >= Level.error})
        reached = _before_trouble(path)
        half.holds.update(set(order))
        half.met.update((caller, callee) for n, callee in enumerate(order) for caller in order[:n])
        half.met.update((caller, -1) for caller in reached)
        half.speaks.update({(r.service, final(r.template)) for r in path.steps})


def _before_trouble(path: Trail) -> list[int]:
    """Return the services of a path that had the chance to go on: all, or none where the path failed early."""
    return [] if path.first_error is not None else path.services
