"""Joins what reading processes found to one ledger, in reading order, as if one process had read all."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from math import nan
from pathlib import Path
from typing import Any, BinaryIO

from agents.log_analysis.kinds import kind_of
from agents.log_analysis.mining.miner import Miner
from agents.log_analysis.scanning.ledger import CHANGE_LIMIT, FileFacts, Ledger, Profile, refine
from agents.log_analysis.scanning.opened import Opened
from agents.log_analysis.scanning.table import Columns, Row, Table

#: Sums over the parts of a file.
_SUMS = ("events", "seen", "junk", "structured")


class Merger:
    """Takes the results of all processes, first to last."""

    def __init__(self, ledger: Ledger, logs: Mapping[int, Opened], facts: Mapping[int, FileFacts]) -> None:
        self._ledger, self._logs, self._facts = ledger, logs, facts
        self._tallies = {number: log.parser() for number, log in logs.items()}
        self._lines = dict.fromkeys(logs, 0)
        self._places = dict.fromkeys(logs, 0)
        #: Whether a part was left before its end: which line is which is not known after it.
        self.stopped = False
        self._moments = dict.fromkeys(logs, nan)
        self._indexes: dict[int, list[tuple[int, array[int]]]] = {number: [] for number in logs}

    def take(self, result: Mapping[str, Any], out: BinaryIO) -> None:
        """Take one result, with the file that its columns are in."""
        if not result["parts"]:
            self.stopped = True
            return
        first = result["parts"][0]["file"]
        before = self._lines[first]
        ids = self._templates(result, first, before)
        services = [self._ledger.services.number(name) for name in result["services"]]
        hosts = [self._ledger.hosts.number(name) for name in result["hosts"]]
        theirs = Table(Path(), file=out)
        theirs.adopt((place, rows) for place, rows in result["chunks"])
        moment = self._moments[first]
        for columns in theirs.columns():
            moved = _moved(columns, first, before, moment)
            self._ledger.table.extend(
                moved._replace(
                    template=array("I", map(ids.__getitem__, moved.template)),
                    service=array("H", map(services.__getitem__, moved.service)),
                    host=array("H", map(hosts.__getitem__, moved.host)),
                )
            )
            self._moments[moved.file[-1]] = moved.time[-1]
        for cells in result["changes"][: CHANGE_LIMIT - len(self._ledger.changes)]:
            row = Row(*cells)
            self._ledger.changes.append(
                row._replace(
                    line=row.line + (before if row.file == first else 0),
                    template=ids[row.template],
                    service=services[row.service],
                    host=hosts[row.host],
                    time=moment if row.time != row.time and row.file == first else row.time,
                )
            )
        for part in result["parts"]:
            self._part(part, theirs)

    def _templates(self, result: Mapping[str, Any], first: int, before: int) -> list[int]:
        """Join the templates and their first events; return their ids as ours."""
        moved = self._ledger.miner.merge(Miner.from_state(result["miner"], refine))
        for number, file, line, message, change, root_line in result["profiles"]:
            shift = before if file == first else 0
            self._ledger.profiles.setdefault(
                moved[number],
                Profile(
                    file,
                    line + shift,
                    message,
                    kind_of(message),
                    change,
                    root_line + shift if root_line else 0,
                ),
            )
        return [moved[number] for number in range(len(moved))]

    def _part(self, part: Mapping[str, Any], table: Table) -> None:
        number = part["file"]
        facts, parser, body = self._facts[number], self._tallies[number], self._logs[number].body
        place, count = part["offsets"]
        self._indexes[number].append((self._lines[number], array("Q", table.fetch(place, count * 8))))
        self._lines[number] += part["lines"]
        self._places[number] = part["place"]
        self.stopped = self.stopped or part["stopped"]
        for name in _SUMS:
            setattr(facts, name, getattr(facts, name) + part[name])
        for form, lines in part["forms"].items():
            parser.tally.note(form, lines)
        body.notes += part["body_notes"]
        body.cut_lines += part["cut"]
        body.nul_bytes += part["nul"]
        facts.notes += [note for note in part["notes"] if note not in facts.notes]
        facts.form, facts.confidence = parser.form, parser.confidence

    def finish(self, *, stopped: bool) -> None:
        """Give every body the index of its lines, and say how far it was read."""
        for number, log in self._logs.items():
            if stopped and self._places[number] < log.body.size:
                self._facts[number].notes.append(stopped_note(self._places[number], log.body.size))
            log.body.adopt(self._indexes[number], self._lines[number])
            self._facts[number].lines = self._lines[number]


def _moved(columns: Columns, first: int, before: int, moment: float) -> Columns:
    """Return the events with the lines and times that they have in the whole file `first`."""
    lines, times = columns.line, columns.time
    if before and columns.file[0] == first:
        end = len(lines) if columns.file[-1] == first else bisect_right(columns.file, first)
        lines = array("I", [line + before for line in lines[:end]]) + lines[end:]
    if moment == moment and columns.file[0] == first:  # noqa: PLR0124 - a NaN differs from itself
        place = 0
        while place < len(times) and times[place] != times[place] and columns.file[place] == first:
            times[place] = moment
            place += 1
    return columns._replace(line=lines, time=times)


def stopped_note(done: int, size: int) -> str:
    """Say that a file was not read to its end because somebody wanted to stop."""
    return f"reading was stopped after {done:,} of {size:,} bytes"


def depends(results: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether a part of a cut file has times that depend on lines in the parts before it."""
    parts = [part for result in results for part in result["parts"]]
    cut = {part["file"] for part in parts if part["start"]}
    return any(part["open"] for part in parts if part["file"] in cut)


def total_lines(results: Sequence[Mapping[str, Any]]) -> dict[int, int]:
    """Return the lines of each file over all its parts."""
    lines: dict[int, int] = {}
    for result in results:
        for part in result["parts"]:
            lines[part["file"]] = lines.get(part["file"], 0) + part["lines"]
    return lines
