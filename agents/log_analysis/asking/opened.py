"""Logs that were read once, and what people and programs ask of them; each answer is the tools' own."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from agents.log_analysis.asking.comparing import compare_baseline_of, compare_files_of, compare_of
from agents.log_analysis.asking.entities import entities_of
from agents.log_analysis.asking.following import follow_of
from agents.log_analysis.asking.histogram import BUCKETS_FOR_PEOPLE, histogram_of
from agents.log_analysis.asking.overview import overview_of
from agents.log_analysis.asking.searching import read_level, read_query, read_time
from agents.log_analysis.asking.streaming import Stream
from agents.log_analysis.asking.streaming import around as lines_around
from agents.log_analysis.asking.templates import Choice, all_templates, line_templates
from agents.log_analysis.asking.timeline import timeline_of
from agents.log_analysis.asking.turning import changes_answer
from agents.log_analysis.asking.windows import split_windows
from agents.log_analysis.formats.times import iso
from agents.log_analysis.reading import Reading, find
from agents.log_analysis.scanning.summary import summarise
from agents.runtime.evidence import quote_stands
from kernel.errors import Correctable

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

    @property
    def window(self) -> tuple[str, str]:
        """Return the first and the last time of all lines; empty where there are none."""
        summary = summarise(self._reading.scan)
        return iso(summary.start), iso(summary.end)

    def overview(self, source: str = "", *, since: str = "", until: str = "") -> dict[str, Any]:
        """Return the first look, of a window judged beside the whole log where one is named."""
        first, last = read_time(since, "since"), read_time(until, "until")
        return overview_of(self._reading, self._reading.number(source), first, last, _ROOM)

    def timeline(
        self, source: str = "", *, since: str = "", until: str = "", parts: int = 60
    ) -> dict[str, Any]:
        """Return counts per part of the window and level, with sparklines of all and of errors."""
        first, last = read_time(since, "since"), read_time(until, "until")
        return timeline_of(self._reading, self._reading.number(source), first, last, parts=parts)

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
        limit: int = 0,
    ) -> dict[str, Any]:
        """Compare two windows both ways; a baseline lets the log choose them. A limit of 0 means all rows."""
        file = self._reading.number(source)
        if baseline:
            return compare_baseline_of(self._reading, file, baseline, rows=limit)
        windows = split_windows(self._reading, file, split_at, before, after)
        by_line = split_at.startswith("line ")
        return compare_of(self._reading, file, *windows, by_line=by_line, rows=limit)

    def compare_given(self, *, limit: int = 0) -> dict[str, Any]:
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
        return compare_files_of(self._reading, *sides, rows=limit)

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

    def entities(
        self,
        by: str = "auto",
        *,
        pattern: str = "",
        level: str = "",
        source: str = "",
        since: str = "",
        until: str = "",
        limit: int = 0,
    ) -> dict[str, Any]:
        """Return how lines spread over hosts, services, pods, users …; a limit of 0 means all."""
        query = read_query(self._reading, pattern, source, level, since, until)
        return entities_of(self._reading, by, query, limit=limit, whole=True)

    def follow(
        self, wanted: str = "", *, source: str = "", since: str = "", until: str = "", limit: int = 0
    ) -> dict[str, Any]:
        """Return the lines of one id in the order of time, or ids worth following; a limit of 0 means all."""
        query = read_query(self._reading, "", source, "", since, until)
        return follow_of(self._reading, wanted.strip(), query, limit=limit, whole=True)

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
