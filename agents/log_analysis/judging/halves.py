"""What two sides of a scan hold per service and per path: lines, errors, blame, and who speaks after whom; pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

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
    first_errors: dict[tuple[int, int], Row] = field(default_factory=dict)  # service, template
    blames: dict[int, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    paths: dict[str, Trail] = field(default_factory=dict)
    failed: Counter[int] = field(default_factory=Counter)  # paths in which a service has an error
    entries: Counter[int] = field(default_factory=Counter)
    holds: Counter[int] = field(default_factory=Counter)  # service: paths


def halves(scan: Scan, side: Side, kind: str) -> tuple[Half, Half]:
    """Return what both sides hold; `kind` names the ids that join lines to paths, if any."""
    found = (Half(), Half())
    numbers = _numbers(scan.services)
    nameless = _nameless(scan)
    for line, text in with_text(scan):
        which = side(line)
        if which is None:
            continue
        row = line._replace(service=0) if (line.file, line.service) in nameless else line
        half = found[which]
        half.lines[row.service] += 1
        if row.level >= Level.error:
            half.errors[row.service] += 1
            failure = (row.service, scan.miner.final(row.template))
            if moment(row) < moment(half.first_errors.setdefault(failure, row)):
                half.first_errors[failure] = row
            profile = scan.profiles[failure[1]].message
            told = _told(numbers, text[:_NAMED_IN] + " " + profile)
            half.blames[row.service].update(told - {row.service})
        if number := id_of(kind, text):
            path = half.paths.get(number)
            if path is None and len(half.paths) < IDS:
                path = half.paths[number] = Trail(number)
            if path is not None and len(path.steps) < STEPS:
                path.steps.append(row)
    for half in found:
        walk(half)
    return found


def _nameless(scan: Scan) -> set[tuple[int, int]]:
    """Return (file, service) of lines that name no service, in files in which others do.

    They go by their file's name, which is no service there: in the other side's file it would seem to be silent.
    """
    held: dict[int, set[int]] = defaultdict(set)
    for columns in scan.table.columns():
        for file, service in set(zip(columns.file, columns.service, strict=True)):
            held[file].add(service)
    return {
        (file, service)
        for file, services in held.items()
        if len(services) > 1
        for service in services
        if service and PurePath(scan.files[file].name).name.startswith(scan.services[service])
    }


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


def walk(half: Half) -> None:
    """Count who is in which path, where it begins, and who fails first."""
    for path in half.paths.values():
        path.steps.sort(key=moment)
        path.first_error = origin(path.steps)
        order = path.services
        if not order:
            continue
        half.entries[order[0]] += 1
        half.failed.update(failing(path))
        half.holds.update(order)


def failing(path: Trail) -> set[int]:
    """Return the services that have an error in a path."""
    return {row.service for row in path.steps if row.level >= Level.error}
