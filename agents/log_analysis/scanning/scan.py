"""One pass over a run's log files: lines, events, levels, times and templates, kept so that no tool reads twice."""

from __future__ import annotations

import re
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import nan
from pathlib import Path

from agents.log_analysis.formats.events import Assembler, Event
from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.parsing import Parser
from agents.log_analysis.formats.text import cut
from agents.log_analysis.kinds import CHANGE, Kind, kind_of
from agents.log_analysis.mining.miner import Miner
from agents.log_analysis.scanning.table import Row, Table
from agents.log_analysis.sources.bodies import Body, open_body
from agents.log_analysis.sources.files import LogFile
from kernel.errors import Correctable, NightdeskError

#: What is kept of a template's first message, and what the miner looks at.
SAMPLE = 400
_MINED = 1200
#: Services, and hosts, told apart.
_NAME_LIMIT = 5000
#: Lines that tell of deploys and changed settings; more of them are a log of deploys.
_CHANGE_LIMIT = 2000
#: A file without stamps or levels in which so much is not text is no log.
_JUNK_SHARE = 0.05
_ROTATION = re.compile(r"(?:\.log)?(?:[.-]\d[\d_.-]*)?(?:\.(?:gz|bz2|xz))?$")


@dataclass
class Profile:
    """What is known of a template from its first event."""

    file: int
    line: int
    message: str
    kind: Kind | None
    change: bool
    root_line: int = 0


@dataclass
class FileFacts:
    """What came out of one file; `notes` says what was cut, skipped or assumed."""

    name: str
    lines: int = 0
    events: int = 0
    size: int = 0
    form: str = ""
    confidence: float = 0.0
    seen: int = 0
    junk: int = 0
    structured: int = 0
    notes: list[str] = field(default_factory=list)


class Scan:
    """All that was read of a set of files. Lines are addressed by file number and line number."""

    def __init__(self, scratch: Path, max_bytes: int) -> None:
        self.files: list[LogFile] = []
        self.facts: list[FileFacts] = []
        self.problems: list[NightdeskError] = []
        self.table = Table(scratch)
        self.miner = Miner(refine=_refine)
        self.profiles: dict[int, Profile] = {}
        self.services: list[str] = [""]
        self.hosts: list[str] = [""]
        self.summaries: dict[int | None, object] = {}
        self.changes: list[Row] = []
        self._bodies: list[Body] = []
        self._service_ids: dict[str, int] = {"": 0}
        self._host_ids: dict[str, int] = {"": 0}
        self._scratch, self._max_bytes = scratch, max_bytes
        weakref.finalize(self, _close, self._bodies, self.table)

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
        handle, changed = file.open()
        try:
            body = open_body(handle, file.name, self._scratch, self._max_bytes)
        except NightdeskError:
            handle.close()
            raise
        if body.file is not handle:
            handle.close()
        self._bodies.append(body)
        number, parser = len(self.files), Parser(changed)
        facts = FileFacts(file.name, size=body.size, notes=list(body.notes))
        fallback = "" if alone else _ROTATION.sub("", file.path.name if file.roots else file.name)
        moment = nan
        for event in Assembler(parser).events(body.index()):
            time = event.record.time
            moment = moment if time is None else time
            self._take(event, number, moment, fallback, facts)
        facts.lines, facts.form, facts.confidence = body.lines, parser.form, parser.confidence
        if facts.structured * 5 < facts.events and facts.junk > _JUNK_SHARE * facts.seen:
            self._bodies.pop().close()
            raise Correctable(
                f"{file.name!r} is not a log",
                why="most of it is not text, and no line carries a time or a level",
                next_step="Name a text log, or the file that this one was made from.",
            )
        facts.notes += _notes(body, parser)
        self.files.append(file)
        self.facts.append(facts)

    def _take(self, event: Event, file: int, moment: float, fallback: str, facts: FileFacts) -> None:
        message, level = event.message[:_MINED], event.level
        template = self.miner.add(message, _group(level))
        if template not in self.profiles:
            self.profiles[template] = _profile(event, file, message)
        facts.seen += len(message)
        facts.junk += message.count("\ufffd")
        facts.events += 1
        facts.structured += event.record.structured or event.record.named
        service = _number(self.services, self._service_ids, event.record.service or fallback)
        host = _number(self.hosts, self._host_ids, event.record.host)
        self.table.add(file, event.line, moment, level, template, service, host)
        if self.profiles[template].change and level < Level.error and len(self.changes) < _CHANGE_LIMIT:
            self.changes.append(Row(file, event.line, moment, level, template, service, host))


def _number(names: list[str], known: dict[str, int], name: str) -> int:
    """Return the number of a service or host; past the limit all new ones are nobody."""
    number = known.get(name)
    if number is None:
        if len(names) >= _NAME_LIMIT:
            return 0
        number = known[name] = len(names)
        names.append(name[:80])
    return number


def _group(level: Level) -> str:
    if level >= Level.error:
        return "E"
    return "W" if level == Level.warning else ""


def _refine(group: str, message: str) -> str:
    """Keep different kinds of causes in different templates, however alike their lines are."""
    kind = kind_of(message[:SAMPLE]) if group else None
    return kind.key if kind else ""


def _profile(event: Event, file: int, message: str) -> Profile:
    sample = cut(message, SAMPLE)
    return Profile(
        file,
        event.line,
        sample,
        kind_of(sample),
        CHANGE.search(sample) is not None,
        event.root_line if event.root_line != event.line else 0,
    )


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
