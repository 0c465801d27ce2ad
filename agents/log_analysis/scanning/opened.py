"""A log that is open and waits to be read: what its start and its end tell of the rest, and whether it is a log."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agents.log_analysis.formats.parsing import Parser
from agents.log_analysis.formats.text import clean, decode
from agents.log_analysis.scanning.ledger import FileFacts, Ledger
from agents.log_analysis.scanning.moments import Moments
from agents.log_analysis.scanning.probing import DIGITS
from agents.log_analysis.scanning.reader import Reader
from agents.log_analysis.sources.bodies import Body

#: Bytes at the start of a file that tell its columns and how it writes its dates, and lines of them looked at.
_HEAD, _HEAD_LINES = 64 * 1024, 100
#: Where those name no year: bytes that are searched for lines that do, such lines, and lines looked at beside each.
_SOUGHT, _DATED, _BESIDE = 2 * 1024 * 1024, 50, 3
_YEAR = re.compile(rb"(?<!\d)(?:19|20)\d\d(?=[^\d.])")
#: A file without stamps or levels in which so much is not text is no log.
_JUNK_SHARE = 0.05
#: A place in such a file is suspicious from a smaller share on.
_SUSPICIOUS = 0.01


@dataclass(frozen=True)
class Part:
    """A stretch of one file for one process: what it must know to read it as if it had read all before."""

    file: int
    fd: int
    start: int
    end: int
    reference: str
    form: str
    zone: str
    fallback: str
    max_lines: int
    #: Bytes of the whole log, whose last lines settle what others leave open; 0: all that the file has.
    size: int = 0

    def plain(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Opened:
    """A log that is open and waits to be read; `fallback` is the service of lines that name none."""

    number: int
    name: str
    body: Body
    changed: datetime
    form: str
    zone: str
    fallback: str
    #: The log that a file of a rotated set belongs to.
    stem: str = ""

    def parser(self) -> Parser:
        """Return a parser that knows what the start and the end of the file tell."""
        parser = Parser(self.changed, self.form, self.zone)
        parser.prepare(_first_lines(self.body), _last_lines(self.body), lambda: _dated_lines(self.body))
        return parser

    def begins(self) -> float | None:
        """Return the first moment near the start of the file."""
        parser = self.parser()
        times = (parser.parse(text).time for text in _first_lines(self.body) if text and not text.isspace())
        return next((time for time in times if time is not None), None)

    def part(self, start: int, end: int) -> Part:
        """Return a stretch of it."""
        return Part(
            self.number,
            self.body.file.fileno(),
            start,
            end,
            self.changed.isoformat(),
            self.form,
            self.zone,
            self.fallback,
            self.body.max_lines,
            self.body.size,
        )

    def undated(self) -> bool:
        """Return whether stamps leave out the year or the day: what they mean depends on those before them."""
        parser = self.parser()
        moments = Moments(parser.stamps)
        head = os.pread(self.body.file.fileno(), min(_HEAD, self.body.size), 0)
        for line in head.split(b"\n")[:_HEAD_LINES]:
            raw = line.removesuffix(b"\r")
            text = clean(decode(raw))
            if not text or text.isspace() or text.encode(errors="replace") != raw:
                continue
            time = parser.parse(text).time
            if time is not None:
                stamp = moments.locate(raw, raw.translate(DIGITS), text, time)
                if stamp is not None and not stamp.dated:
                    return True
        return False

    def is_junk(self, scratch: Path) -> bool:
        """Return whether it is no log: asked of all of it where its start, middle or end is not text."""
        body = self.body
        places = (0, max(0, body.size // 2), max(0, body.size - _HEAD))
        samples = (os.pread(body.file.fileno(), min(_HEAD, body.size - place), place) for place in places)
        if not any(_broken(sample) for sample in samples):
            return False
        trial, facts = Ledger(scratch), FileFacts("")
        Reader(body, self.parser(), trial, facts).read()
        trial.table.close()
        return facts.structured * 5 < facts.events and facts.junk > _JUNK_SHARE * facts.seen


def settle(opened: Sequence[Opened]) -> list[Opened]:
    """Return the logs with each file of a rotated set last changed no later than the next one of it begins.

    Copying and unpacking give all of a set one time of change, by which stamps without a year would each be settled.
    """
    begun: dict[str, float | None] = {}
    settled = []
    for one in reversed(opened):
        limit = begun.get(one.stem)
        if limit is not None and limit < one.changed.timestamp():
            one = replace(one, changed=datetime.fromtimestamp(limit, UTC))  # noqa: PLW2901 - what is gone on with
        if one.stem:
            begun[one.stem] = one.begins()
        settled.append(one)
    return settled[::-1]


def _broken(sample: bytes) -> bool:
    text = "".join(decode(line) for line in sample.split(b"\n"))
    return text.count("\ufffd") > _SUSPICIOUS * len(text)


def _first_lines(body: Body) -> list[str]:
    """Return the texts of a file's first lines."""
    head = os.pread(body.file.fileno(), min(_HEAD, body.size), 0)
    return [clean(decode(raw.removesuffix(b"\r"))) for raw in head.split(b"\n")[:_HEAD_LINES]]


def _last_lines(body: Body) -> list[str]:
    """Return the texts of a file's last lines."""
    tail = os.pread(body.file.fileno(), min(_HEAD, body.size), max(0, body.size - _HEAD))
    lines = tail.split(b"\n")[1 if body.size > _HEAD else 0 :]
    return [clean(decode(raw.removesuffix(b"\r"))) for raw in lines[-_HEAD_LINES:]]


def _dated_lines(body: Body) -> list[str]:
    """Return lines near a file's start that may name a year, each with those after it."""
    head = os.pread(body.file.fileno(), min(_SOUGHT, body.size), 0)
    lines: list[bytes] = []
    end = 0
    for _ in range(_DATED):
        found = _YEAR.search(head, end)
        if found is None:
            break
        start = end = head.rfind(b"\n", 0, found.start()) + 1
        for _ in range(_BESIDE):
            end = (head.find(b"\n", end) + 1) or len(head)
        lines += head[start:end].split(b"\n")
    return [clean(decode(raw.removesuffix(b"\r"))) for raw in lines]
