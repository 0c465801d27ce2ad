"""Reads a person's own logs without a desk: what the command line asks through the entry point `nightdesk.logs`."""

from __future__ import annotations

import secrets
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from agents.log_analysis.asking.comparing import compare_baseline_of, compare_files_of, compare_of
from agents.log_analysis.asking.histogram import BUCKETS_FOR_PEOPLE, histogram_of
from agents.log_analysis.asking.overview import overview_of
from agents.log_analysis.asking.searching import read_level, read_query
from agents.log_analysis.asking.streaming import Stream
from agents.log_analysis.asking.streaming import around as lines_around
from agents.log_analysis.asking.templates import Choice, all_templates, line_templates
from agents.log_analysis.asking.timeline import timeline_of
from agents.log_analysis.asking.turning import changes_answer
from agents.log_analysis.asking.windows import split_windows
from agents.log_analysis.formats.text import clean
from agents.log_analysis.reading import Reading, find
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.sources.files import LogFile
from agents.log_analysis.sources.finding import resolve
from agents.log_analysis.sources.gathering import Gathering
from agents.log_analysis.sources.named import named_sources
from agents.log_analysis.sources.streams import STDIN, copied, place
from agents.runtime.evidence import quote_stands
from kernel.artifacts import ArtifactStore
from kernel.contracts import Source
from kernel.errors import Correctable, NightdeskError
from kernel.redaction import make_redactor
from kernel.settings import Settings

#: Told now and then while logs are read: bytes (or what the reader counts) done and in all, and the file.
Progress = Callable[[int, int, str], None]

#: The rights of the shell's user hold, not the desk's roots.
_EVERYWHERE = (Path("/"),)
#: One salt per process: the same value has the same placeholder in all that one command prints.
_SALT = secrets.token_bytes(16)
#: Bytes of an overview: a person scrolls, and no model pays for it.
_ROOM = 1 << 20


class OpenLogs:
    """Logs that were read once; each answer is the tools' own, cleaned and redacted."""

    def __init__(
        self, reading: Reading, given: Sequence[Collection[Path]] = (), held: Sequence[BinaryIO] = ()
    ) -> None:
        self._reading = reading
        self._given = given  # the files of each argument
        self._held = held  # copies of what cannot be read twice live as long as their reader

    @property
    def notes(self) -> list[str]:
        """Return what was cut, skipped or assumed, and what could not be read."""
        told = [f"{f.name}: {note}" for f in self._reading.scan.facts for note in f.notes]
        return [*told, *self._reading.not_read]

    @property
    def sources(self) -> list[str]:
        """Return the names of the files that were read, in reading order."""
        return [f.name for f in self._reading.scan.facts]

    def overview(self, source: str = "") -> dict[str, Any]:
        """Return the first look."""
        return overview_of(self._reading, self._reading.number(source), room=_ROOM)

    def timeline(self, source: str = "", *, parts: int = 60) -> dict[str, Any]:
        """Return counts per part of the window and level, with sparklines of all and of errors."""
        return timeline_of(self._reading, self._reading.number(source), parts=parts)

    def templates(
        self, *, pattern: str = "", source: str = "", level: str = "", sort: str = "count", limit: int = 0
    ) -> dict[str, Any]:
        """Return templates with totals; a limit of 0 means all."""
        file = self._reading.number(source)
        choice = Choice(pattern=pattern, file=file, level=read_level(level), sort=sort)
        return all_templates(self._reading, choice, limit=limit)

    def line_templates(self) -> Iterator[tuple[str, str]]:
        """Yield id and template of each physical line, in reading order."""
        return line_templates(self._reading)

    def compare(
        self,
        *,
        source: str = "",
        split_at: str = "",
        before: str = "",
        after: str = "",
        baseline: str = "",
    ) -> dict[str, Any]:
        """Compare two windows both ways; a baseline lets the log choose them."""
        file = self._reading.number(source)
        if baseline:
            return compare_baseline_of(self._reading, file, baseline)
        windows = split_windows(self._reading, file, split_at, before, after)
        return compare_of(self._reading, file, *windows, by_line=split_at.startswith("line "))

    def compare_given(self) -> dict[str, Any]:
        """Compare what the first argument named with what the second one named."""
        sides = [
            {n for n, f in enumerate(self._reading.scan.files) if f.path in paths} for paths in self._given
        ]
        if len(sides) != 2 or not all(sides) or sides[0] & sides[1]:  # noqa: PLR2004 - before and after
            raise Correctable(
                "nothing to compare",
                why="two different logs are compared, or two windows of one",
                next_step="Name two files, or pass --split-at TIME, or --before F..T with --after F..T.",
            )
        return compare_files_of(self._reading, *sides)

    def changes(self) -> dict[str, Any]:
        """Return change points, restarts and silences."""
        return changes_answer(self._reading, None)

    def found(
        self,
        pattern: str = "",
        *,
        source: str = "",
        level: str = "",
        since: str = "",
        until: str = "",
        limit: int = 50,
        context: int = 0,
        newest_first: bool = False,
    ) -> Stream:
        """Return lines that fit as they are found; a limit of 0 means all; `context` adds lines round each.

        From the end backwards it is a limited number, whatever the limit says.
        """
        query = read_query(self._reading, pattern, source, level, since, until)
        return Stream(self._reading, query, limit=limit, context=context, newest=newest_first)

    def histogram(
        self,
        *,
        bucket: str = "auto",
        level: str = "",
        pattern: str = "",
        source: str = "",
        since: str = "",
        until: str = "",
    ) -> dict[str, Any]:
        """Return counts over time, in many more buckets than a model reads."""
        query = read_query(self._reading, pattern, source, level, since, until)
        return histogram_of(self._reading, query, bucket, most=BUCKETS_FOR_PEOPLE)

    def context(self, source: str, line: int, around: int) -> list[dict[str, Any]]:
        """Return the lines round one line; nothing where there is no such source or line."""
        file = find(self._reading.scan, source)
        if file is None or not 1 <= line <= self._reading.scan.body(file).lines:
            return []
        return lines_around(self._reading, file, line, around)

    def has(self, source: str) -> bool:
        """Tell whether a source of this name was read."""
        return find(self._reading.scan, source) is not None

    def stands(self, source: str, line: int, quote: str) -> bool:
        """Tell whether a line says what a quote says, as the checker of evidence reads it."""
        file = find(self._reading.scan, source)
        text = None if file is None else self._reading.line(file, line)
        return text is not None and quote_stands(quote, text)


def open_logs(
    paths: Sequence[str | Source],
    *,
    settings: Settings,
    format: str = "",  # noqa: A002 - the name that a source gives it
    zone: str = "",
    artifacts: Mapping[str, Path] | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    salt: bytes = b"",
    run: str = "",
) -> OpenLogs:
    """Read logs, wherever the person may read: files, folders, globs, `-` for standard input, pipes.

    The sources of a run are taken too: `artifacts` are paths of attached files by their ids, and with the run's
    `salt` placeholders are its own. Where the `run` is named, its sources hold the very bytes that it has read, or
    are said to be gone. Once `stop` is set, what was read by then is all there is. Raise where nothing could be read.
    """
    held: dict[str, BinaryIO] = {}
    bare = [p for p in paths if isinstance(p, str) and "/" not in p and p != STDIN and not Path(p).exists()]
    named = named_sources(settings) if bare else {}
    tell = None if progress is None else lambda done: progress(done, 0, "standard input")
    given = [
        p
        if isinstance(p, Source)
        else _asked(place(p, lambda f: copied(f, stop, tell), held, named), format, zone)
        for p in paths
    ]
    attached = {**(artifacts or {}), **{name: Path(file.name) for name, file in held.items()}}
    if run:
        store = ArtifactStore(settings.artifacts, max_bytes=settings.artifact_max_bytes)
        files, problems = Gathering(run, settings, store, _EVERYWHERE, attached).again(given)
    else:
        files, problems = resolve(given, _EVERYWHERE, attached, named)
    scan = _scanned(files, problems, settings, progress, stop)
    redactor = make_redactor(settings, salt or _SALT)
    told = [redactor.text(clean(str(problem))) for problem in (*problems, *scan.problems)]
    of_each = [{f.path for f in resolve([one], _EVERYWHERE, attached, named)[0]} for one in given]
    return OpenLogs(Reading(scan, redactor, tuple(told)), of_each, list(held.values()))


def _asked(source: Source, form: str, zone: str) -> Source:
    return source.model_copy(update={"format": form, "zone": zone})


def _scanned(
    files: Sequence[LogFile],
    problems: Sequence[NightdeskError],
    settings: Settings,
    progress: Progress | None,
    stop: threading.Event | None,
) -> Scan:
    if not files:
        raise problems[0] if problems else _nothing()
    scan = Scan(
        Path(tempfile.gettempdir()),
        settings.log_max_bytes,
        settings.log_max_lines,
        readers=settings.log_readers,
        zone=settings.log_zone,
        stop=None if stop is not None and stop.is_set() else stop,  # a copy that was cut short is read whole
    )
    scan.read(files, None if progress is None else lambda now: progress(now.done, now.total, now.file))
    return scan


def _nothing() -> Correctable:
    return Correctable(
        "no log was named", next_step="Name a file, a folder, a glob, or - for standard input."
    )
