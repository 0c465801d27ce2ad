"""One pass over a run's log files: lines, events, levels, times and templates, kept so that no tool reads twice."""

from __future__ import annotations

import re
import weakref
from collections.abc import Sequence
from pathlib import Path

from agents.log_analysis.formats.parsing import Parser
from agents.log_analysis.mining.miner import Miner
from agents.log_analysis.scanning.ledger import FileFacts, Ledger, Profile
from agents.log_analysis.scanning.reader import Reader
from agents.log_analysis.scanning.table import Row, Table
from agents.log_analysis.sources.bodies import Body
from agents.log_analysis.sources.files import LogFile
from agents.log_analysis.sources.opening import open_log
from kernel.errors import Correctable, NightdeskError

__all__ = ["FileFacts", "Profile", "Scan"]

#: A file without stamps or levels in which so much is not text is no log.
_JUNK_SHARE = 0.05
_ROTATION = re.compile(r"(?:\.log)?(?:[.-]\d[\d_.-]*)?(?:\.(?:gz|bz2|xz))?$")


class Scan:
    """All that was read of a set of files. Lines are addressed by file number and line number."""

    def __init__(self, scratch: Path, max_bytes: int, max_lines: int = 0) -> None:
        self.files: list[LogFile] = []
        self.facts: list[FileFacts] = []
        self.problems: list[NightdeskError] = []
        self.summaries: dict[int | None, object] = {}
        self._ledger = Ledger(scratch)
        self._bodies: list[Body] = []
        self._scratch, self._max_bytes, self._max_lines = scratch, max_bytes, max_lines
        weakref.finalize(self, _close, self._bodies, self._ledger.table)

    @property
    def table(self) -> Table:
        """Return the events, row by row or in columns."""
        return self._ledger.table

    @property
    def miner(self) -> Miner:
        """Return the templates."""
        return self._ledger.miner

    @property
    def profiles(self) -> dict[int, Profile]:
        """Return what is known of each template from its first event."""
        return self._ledger.profiles

    @property
    def services(self) -> list[str]:
        """Return the services by number; 0 is none."""
        return self._ledger.services.all

    @property
    def hosts(self) -> list[str]:
        """Return the hosts by number; 0 is none."""
        return self._ledger.hosts.all

    @property
    def changes(self) -> list[Row]:
        """Return the events that tell of deploys and changed settings."""
        return self._ledger.changes

    def read(self, files: Sequence[LogFile]) -> None:
        """Read all files; one that cannot be read is a problem to tell, unless nothing else is left."""
        for file in files:
            try:
                self._read(file, alone=len(files) == 1)
            except NightdeskError as error:
                self.problems.append(error)
        if not self.files and self.problems:
            raise self.problems[0]

    def body(self, file: int) -> Body:
        """Return the body of a file."""
        return self._bodies[file]

    def _read(self, file: LogFile, *, alone: bool) -> None:
        body, changed = open_log(file, self._scratch, self._max_bytes, self._max_lines)
        self._bodies.append(body)
        number, parser = len(self.files), Parser(changed, file.format, file.zone or "UTC")
        facts = FileFacts(file.name, size=body.size)
        fallback = (
            file.service
            if alone or file.service
            else _ROTATION.sub("", file.path.name if file.roots else file.name)
        )
        Reader(body, parser, self._ledger, facts, file=number, fallback=fallback).read()
        facts.lines, facts.form, facts.confidence = body.lines, parser.form, parser.confidence
        if facts.structured * 5 < facts.events and facts.junk > _JUNK_SHARE * facts.seen:
            self._bodies.pop().close()
            raise Correctable(
                f"{file.name!r} is not a log",
                why="most of it is not text, and no line carries a time or a level",
                next_step="Name a text log, or the file that this one was made from.",
            )
        facts.notes += [*body.notes, *_notes(body, parser)]
        self.files.append(file)
        self.facts.append(facts)


def _notes(body: Body, parser: Parser) -> list[str]:
    notes = []
    if body.cut_lines:
        notes.append(f"{body.cut_lines} very long line(s) were cut; head and end were kept")
    if body.nul_bytes:
        notes.append(f"{body.nul_bytes:,} NUL bytes were skipped (a hole left by truncating the file)")
    return notes + parser.notes


def _close(bodies: list[Body], table: Table) -> None:
    for body in bodies:
        body.close()
    table.close()
