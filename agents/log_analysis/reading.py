"""What the tools of one run see of its logs: files by name, redacted lines, answers that fit a budget."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from agents.log_analysis.formats.text import clean, cut
from agents.log_analysis.formats.times import iso
from agents.log_analysis.scanning.library import LIBRARY
from agents.log_analysis.scanning.progress import Progress
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.table import Row
from agents.log_analysis.sources.files import LogFile
from agents.log_analysis.sources.gathering import Gathering
from agents.runtime.tools import ToolContext, given_up
from kernel.errors import Correctable
from kernel.redaction import Redactor, is_secret_key, make_redactor

#: One answer stays below this: about 3,000 tokens, the digest that reference/domain.md section 9 asks for.
ANSWER_BYTES = 11_500
QUOTE = 260
#: A number in a sentence of our own that counts something, and is not the name of what it tells of.
_COUNT = re.compile(
    r"(?<![\w.-])\d{1,12}(?= (?:of|lines|errors|paths)\b)|(?<=\d of )\d{1,12}\b|(?<=a sample of )\d{1,12}"
)
MESSAGE = 220


@dataclass(frozen=True)
class Reading:
    """The scanned logs of one run. Whatever text leaves through here is cleaned and redacted."""

    scan: Scan
    redactor: Redactor
    not_read: tuple[str, ...] = ()

    def number(self, source: str) -> int | None:
        """Return the file that a source names; None for all; raise Correctable where it names none."""
        if not source:
            return None
        found = find(self.scan, source)
        if found is None:
            names = ", ".join(repr(f.name) for f in self.scan.files[:10])
            raise Correctable(
                f"no source is named {source!r}",
                why=f"this run reads {names}",
                next_step="Use one of these names, or leave it empty.",
            )
        return found

    def name(self, file: int) -> str:
        """Return the name that evidence cites."""
        return self.scan.files[file].name

    def line(self, file: int, line: int) -> str | None:
        """Return the redacted text of a line, or None."""
        texts = self.scan.body(file).read(line, line)
        return self.redactor.text(texts[0]) if texts else None

    def text(self, text: str, limit: int = MESSAGE) -> str:
        """Return a piece of text as it may be shown."""
        return cut(self.redactor.text(clean(text)), limit)

    def value(self, name: str, text: str, limit: int = MESSAGE) -> str:
        """Return the value of a field as it may be shown: of one that is named for a secret, its stand-in."""
        return self.redactor.placeholder("secret", text) if is_secret_key(name) else self.text(text, limit)

    def spot(self, file: int, line: int, around: str = "") -> dict[str, Any]:
        """Return `{source, line, quote}` of a line; a long line is cut round what matters."""
        text = self.line(file, line) or ""
        return {
            "source": self.name(file),
            "line": line,
            "quote": cut(text, QUOTE, self.redactor.text(around)[:40]),
        }

    def at(self, row: Row, around: str = "") -> dict[str, Any]:
        """Return the spot of an event with its time."""
        return {**self.spot(row.file, row.line, around), "time": iso(row.time)}


def open_reading(ctx: ToolContext) -> Reading:
    """Return the logs of the run that a call belongs to; raise with what to do where there are none."""
    work, settings = ctx.work, ctx.resources.settings
    if not work.sources:
        raise Correctable(
            "no log was given",
            why="the request names no source",
            next_step="Submit it again with --log PATH or sources=[…].",
        )
    stop = given_up()
    gathering = Gathering(work.run_id, settings, ctx.resources.artifacts, tuple(settings.roots), stop=stop)
    files, problems = gathering.gather(work.sources)
    if not files:
        raise problems[0]
    redactor = make_redactor(settings, work.run_id.encode())
    scan = LIBRARY.scan(
        [cited(file, redactor) for file in files],
        gathering.scratch,
        settings.log_max_bytes,
        settings.log_max_lines,
        readers=settings.log_readers,
        zone=settings.log_zone,
        stop=stop,
        progress=partial(_tell, ctx, len(files)),
    )
    size = sum(facts.size for facts in scan.facts)
    ctx.progress(scan.files[0].name if len(files) == 1 else f"{len(files)} files", size, size)
    told = [redactor.text(clean(str(p))) for p in (*problems, *scan.problems)]
    return Reading(scan, redactor, tuple(told))


def _tell(ctx: ToolContext, files: int, progress: Progress) -> None:
    """Tell people how far the reading is; of many files, which one it is at."""
    name = progress.file if files == 1 else f"{progress.file} (one of {files} files)"
    ctx.progress(name, progress.done, progress.total)


def cited(file: LogFile, redactor: Redactor) -> LogFile:
    """Return a file under the name that leaves: what is hidden in lines is hidden in it; its own still finds it."""
    # bytes of a name that are no UTF-8 (one written in GBK) leave as escapes: no document may hold them raw
    name = file.name.encode("utf-8", "backslashreplace").decode()
    shown = redactor.text(clean(name))
    return file if shown == file.name else replace(file, name=shown, aliases=(*file.aliases, file.name))


def find(scan: Scan, source: str) -> int | None:
    """Return the number of the file a name means: as cited, as given, its path, or its bare name if only one has it."""
    for number, file in enumerate(scan.files):
        if source == file.name or source in file.aliases:
            return number
    bare = [n for n, f in enumerate(scan.files) if Path(source).name in (Path(f.name).name, f.path.name)]
    return bare[0] if len(bare) == 1 else None


def counts_in(told: str) -> list[int]:
    """Return the counts of a sentence of our own as such: an answer in any language may say them."""
    return [int(number) for number in _COUNT.findall(told)]


def fit(answer: dict[str, Any], *trims: str, room: int = ANSWER_BYTES) -> dict[str, Any]:
    """Shorten the named lists, last first, until the answer fits; say how much was left out, here and before."""
    for name in trims:
        rows = answer.get(name, [])
        total = len(rows) + answer.get(f"{name}_left_out", 0)
        while rows and len(json.dumps(answer, ensure_ascii=False).encode()) > room:
            rows.pop()
            answer[f"{name}_left_out"] = total - len(rows)
    return answer
