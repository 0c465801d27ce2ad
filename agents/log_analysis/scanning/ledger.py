"""What the events of a scan add up to: the table, templates with their first events, names, changes."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.log_analysis.formats.events import Event
from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.text import cut
from agents.log_analysis.kinds import CHANGE, kind_of
from agents.log_analysis.mining.miner import Miner
from agents.log_analysis.platforms import Kind
from agents.log_analysis.scanning.shapes import Known
from agents.log_analysis.scanning.table import Row, Table

#: What is kept of a template's first message, and what the miner looks at.
SAMPLE = 400
_MINED = 1200
#: Services, and hosts, told apart.
_NAME_LIMIT = 5000
#: Lines that tell of deploys and changed settings; more of them are a log of deploys.
CHANGE_LIMIT = 2000


@dataclass
class Profile:
    """What is known of a template from its first event; `message` is its text, neither masked nor redacted."""

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


class Names:
    """Services or hosts by number; past the limit all new ones are nobody."""

    def __init__(self) -> None:
        self.all: list[str] = [""]
        self._numbers: dict[str, int] = {"": 0}

    def number(self, name: str) -> int:
        """Return the number of a name."""
        number = self._numbers.get(name)
        if number is None:
            if len(self.all) >= _NAME_LIMIT:
                return 0
            number = self._numbers[name] = len(self.all)
            self.all.append(name[:80])
        return number


class Ledger:
    """Takes events one after the other, in the order in which they stand in the files."""

    def __init__(self, scratch: Path, table: Table | None = None) -> None:
        self.table = table or Table(scratch)
        self.miner = Miner(refine=refine)
        self.profiles: dict[int, Profile] = {}
        self.services = Names()
        self.hosts = Names()
        self.changes: list[Row] = []

    def take(self, event: Event, file: int, moment: float, service: str, facts: FileFacts) -> Known:
        """Add one event, and return what it came to."""
        message, level, record = event.message[:_MINED], event.level, event.record
        template = self.miner.add(message, _group(level))
        profile = self.profiles.get(template)
        if profile is None:
            profile = self.profiles[template] = _profile(event, file, message)
        known = Known(
            template,
            level,
            self.services.number(service),
            self.hosts.number(record.host),
            profile.change and level < Level.error,
            len(message),
            message.count("\ufffd"),
            record.structured or record.named,
            "",
        )
        self.settle([known], facts, mined=True)
        self.add(file, event.line, moment, known)
        return known

    def names(self, event: Event, service: str) -> list[str]:
        """Return the parts of an event just taken whose digits decide what it comes to."""
        telling = self.miner.telling(event.message[:_MINED], _group(event.level))
        return [service, event.record.host, *telling]

    def add(self, file: int, line: int, moment: float, known: Known) -> None:
        """Add the row of an event of which it is known what it comes to."""
        cells = (file, line, moment, known.level, known.template, known.service, known.host)
        self.table.add(cells)
        if known.change and len(self.changes) < CHANGE_LIMIT:
            self.changes.append(Row(*cells))

    def over(self, table: Table) -> Ledger:
        """Return this ledger with other rows, and a copy of its profiles."""
        other = copy.copy(self)
        other.table, other.profiles = table, dict(self.profiles)
        return other

    def state(self) -> dict[str, Any]:
        """Return all but the rows as JSON: what one process tells another."""
        return {
            "chunks": self.table.chunks,
            "services": self.services.all,
            "hosts": self.hosts.all,
            "miner": self.miner.state(),
            "profiles": [
                [n, p.file, p.line, p.message, p.change, p.root_line] for n, p in self.profiles.items()
            ],
            "changes": self.changes,
        }

    def settle(self, known: Iterable[Known], facts: FileFacts, *, mined: bool = False) -> None:
        """Count what was added without being parsed: in the facts of its file, and with its template."""
        for one in known:
            count = 1 if mined else one.count
            facts.events += count
            facts.seen += one.seen * count
            facts.junk += one.junk * count
            facts.structured += one.structured * count
            if not mined:
                self.miner.templates[self.miner.final(one.template)].count += count
                one.count = 0


def _group(level: Level) -> str:
    if level >= Level.error:
        return "E"
    return "W" if level == Level.warning else ""


def refine(group: str, message: str) -> str:
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
