"""One pass over a run's log files: lines, events, levels, times and templates, kept so that no tool reads twice."""

from __future__ import annotations

import copy
import re
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from agents.log_analysis.mining.miner import Miner
from agents.log_analysis.scanning.ledger import FileFacts, Ledger, Profile
from agents.log_analysis.scanning.merging import Merger, depends, stopped_note, total_lines
from agents.log_analysis.scanning.opened import Opened, settle
from agents.log_analysis.scanning.progress import Pace, Progress
from agents.log_analysis.scanning.reader import Reader
from agents.log_analysis.scanning.readers import LINKS, BrokenReaderError, read_shares
from agents.log_analysis.scanning.segments import readers_for, share
from agents.log_analysis.scanning.table import Columns, Row, Table
from agents.log_analysis.sources.bodies import Body
from agents.log_analysis.sources.files import LogFile
from agents.log_analysis.sources.opening import open_log
from agents.log_analysis.sources.rotation import turn
from kernel import logs
from kernel.errors import Correctable, NightdeskError

__all__ = ["FileFacts", "Profile", "Progress", "Scan"]

log = logs.get(__name__)

#: What a template, or its first event, takes, with the values seen in it; and a line, in the index of lines.
_TEMPLATE_BYTES, _LINES_PER_BYTE = 2_000, 8
_ROTATION = re.compile(r"(?:\.log)?(?:[.-]\d[\d_.-]*)?(?:\.(?:gz|bz2|xz|zst))?$")
#: The name of a rotated log is its service's; one that still ends as a document does is a file's name alone.
_NO_SERVICE = re.compile(r"(?i)\.(?:txt|text|jsonl?|ndjson|csv|tsv|md|ya?ml|xml|html?)$")


class Scan:
    """All that was read of a set of files. Lines are addressed by file number and line number.

    `columns()` gives the events as arrays, which is what loops over all of them should read; `profiles` has the
    first message of each template, `services` and `hosts` the names behind the numbers in the columns.
    """

    def __init__(
        self,
        scratch: Path,
        max_bytes: int,
        max_lines: int = 0,
        *,
        readers: int = 1,
        zone: str = "",
        stop: threading.Event | None = None,
    ) -> None:
        """Keep large things in files under `scratch`; read with so many processes (0: one per core, at most 4)."""
        self.files: list[LogFile] = []
        self.file_names: list[
            str
        ] = []  # what stands for the service in lines that name none; often it is none
        self.facts: list[FileFacts] = []
        self.problems: list[NightdeskError] = []
        self.summaries: dict[int | None, object] = {}
        self._ledger = Ledger(scratch)
        self._bodies: list[Body] = []
        self._scratch, self._max_bytes, self._max_lines = scratch, max_bytes, max_lines
        self._readers, self._zone = readers, zone
        self._stop = stop or threading.Event()
        self._whole: Scan | None = None
        weakref.finalize(self, _close, self._bodies, self._ledger)

    @property
    def table(self) -> Table:
        """Return the events, row by row or in columns."""
        return self._ledger.table

    def columns(self) -> Iterator[Columns]:
        """Yield the events as arrays, a chunk at a time, in reading order."""
        return self._ledger.table.columns()

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

    @property
    def memory(self) -> int:
        """Return about how many bytes of memory it takes; what lies in files does not count."""
        many = len(self.miner.templates) + len(self.profiles)
        lines = sum(facts.lines for facts in self.facts)
        return self.table.memory + many * _TEMPLATE_BYTES + lines // _LINES_PER_BYTE

    @property
    def scratch(self) -> Path:
        """Return the folder for what memory does not hold."""
        return self._scratch

    def over(self, table: Table) -> Scan:
        """Return this scan with other rows, and profiles of its own; it holds this one, and with it its files, open."""
        view = copy.copy(self)
        vars(view).update(summaries={}, _whole=self, _ledger=self._ledger.over(table))
        return view

    @property
    def stopped(self) -> bool:
        """Return whether reading was stopped before its end."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Let the reading end soon, with what there is; may be called from any thread."""
        self._stop.set()

    def body(self, file: int) -> Body:
        """Return the body of a file."""
        return self._bodies[file]

    def read(self, files: Sequence[LogFile], progress: Callable[[Progress], None] | None = None) -> None:
        """Read all files; one that cannot be read is a problem to tell, unless nothing else is left.

        `progress` is called a few times a second, in the thread that calls this.
        """
        opened = self._open(files)
        pace = Pace(progress, self._stop)
        pace.total = sum(one.body.size for one in opened)
        readers = readers_for(pace.total, self._readers) if LINKS.exists() else 1
        if readers == 1 or not self._read_apart(opened, readers, pace):
            self._read_here(opened, pace)
        self._ledger.table.flush()
        self.miner.settle()
        for one in opened:
            self.facts[one.number].notes[:0] = _notes(one.body)
        if not self.files and self.problems:
            raise self.problems[0]

    def _open(self, files: Sequence[LogFile]) -> list[Opened]:
        """Open what can be read and is a log; the rest is a problem to tell."""
        opened = []
        for file in files:
            try:
                body, changed = open_log(file, self._scratch, self._max_bytes, self._max_lines, self._stop)
            except NightdeskError as error:
                self.problems.append(error)
                continue
            name = _ROTATION.sub("", file.path.name if file.roots else file.name)
            named = "" if file.service or len(files) == 1 or _NO_SERVICE.search(name) else name
            fallback = file.service or named
            zone = file.zone or self._zone or "UTC"
            stem = turn(file.place or file.name)[0] if len(files) > 1 else ""
            one = Opened(len(self.files), file.name, body, changed, file.format, zone, fallback, stem)
            if one.is_junk(self._scratch):
                body.close()
                self.problems.append(_no_log(file.name))
                continue
            opened.append(one)
            self.files.append(file)
            self.file_names.append(named)
            self.facts.append(FileFacts(file.name, size=body.size))
            self._bodies.append(body)
        return settle(opened)

    def _read_here(self, opened: Sequence[Opened], pace: Pace) -> None:
        passed = lines = 0
        for one in opened:
            body, facts, parser = one.body, self.facts[one.number], one.parser()

            def tick(number: int, one: Opened = one, passed: int = passed, lines: int = lines) -> bool:
                rows = self._ledger.table.rows
                return pace.tell(passed + one.body.place, lines + number, rows, one.name)

            reader = Reader(body, parser, self._ledger, facts, file=one.number, fallback=one.fallback)
            if not pace.stopped:
                reader.read(tick=tick)
            facts.lines, facts.form, facts.confidence = body.lines, parser.form, parser.confidence
            facts.notes += parser.notes
            if pace.stopped:
                facts.notes.append(stopped_note(body.place, body.size))
            passed, lines = passed + body.size, lines + body.lines

    def _read_apart(self, opened: Sequence[Opened], readers: int, pace: Pace) -> bool:
        """Let other processes read; return whether that went well."""
        shares = share(opened, readers)
        if len(shares) == 1:
            return False
        try:
            results = read_shares(shares, self._scratch, pace, {one.number: one.name for one in opened})
        except BrokenReaderError as error:
            log.warning("reader_broken", reason=str(error))
            return False
        limit, told = self._max_lines, [result for result, _ in results]
        beyond = limit and any(lines > limit for lines in total_lines(told).values())
        if not pace.stopped and (beyond or depends(told)):
            for _, out in results:
                out.close()
            return False  # where the limit falls, and what such stamps mean, is known only from the start
        merger = Merger(self._ledger, {one.number: one for one in opened}, dict(enumerate(self.facts)))
        for result, out in results:
            if not merger.stopped:
                merger.take(result, out)
            out.close()
        merger.finish(stopped=pace.stopped)
        return True


def _no_log(name: str) -> Correctable:
    return Correctable(
        f"{name!r} is not a log",
        why="most of it is not text, and no line carries a time or a level",
        next_step="Name a text log, or the file that this one was made from.",
    )


def _notes(body: Body) -> list[str]:
    notes = list(body.notes)
    if body.cut_lines:
        notes.append(f"{body.cut_lines} very long line(s) were cut; head and end were kept")
    if body.nul_bytes:
        notes.append(f"{body.nul_bytes:,} NUL bytes were skipped (a hole left by truncating the file)")
    return notes


def _close(bodies: list[Body], ledger: Ledger) -> None:
    for body in bodies:
        body.close()
    ledger.table.close()
