"""Groups stack traces by their root exception and the first frame that is the program's own; pure but for the lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.judging.unfolding import unfolded
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.summary import Summary
from agents.log_analysis.scanning.table import Row

#: Traces read of one kind of line, and lines of one trace.
_LOOKED, _LINES = 100, 120

_FRAMES = (
    re.compile(r"^\s*at (?P<name>[\w$.<>`\[\], ()&*-]{1,300}) in (?P<file>[^\n]{1,300}):line (?P<at>\d+)"),
    re.compile(r"^\s*File \"(?P<file>[^\"]{1,300})\", line (?P<at>\d+)(?:, in (?P<name>\S+))?"),
    re.compile(
        r"^\s*at (?:async |new )?(?P<name>[\w$.<>/ \[\]~-]{1,200}?)\s?\((?P<file>[^()]{1,300}?)"
        r"(?::(?P<at>\d+))?(?::\d+)?\)"
    ),
    re.compile(r"^\s*at (?P<file>(?:file://)?/?[^\s():]{1,300}):(?P<at>\d+)(?::\d+)?\s*$"),
    re.compile(r"^\s+(?P<file>/?[\w./@~-]{1,300}\.go):(?P<at>\d+)"),
    re.compile(r"^#\d+ (?P<file>/[^\s(]{1,300})\((?P<at>\d+)\): (?P<name>\S{1,200})"),
    re.compile(r"^\s*(?:from )?(?P<file>[\w./-]{1,300}\.rb):(?P<at>\d+):in [`'](?P<name>[^'`]{1,120})'"),
)
#: Frames of languages' own libraries, of frameworks, and of what package managers install.
_LIBRARY = re.compile(
    r"^(?:java|javax|jakarta|jdk|sun|com\.sun|kotlin|kotlinx|scala|akka|groovy|clojure|io\.netty|reactor|rx|okhttp3|retrofit2"
    r"|org\.(?:springframework|apache|hibernate|eclipse|jboss|postgresql|mongodb|slf4j|junit|glassfish|quartz|jooq)"
    r"|com\.(?:zaxxer|fasterxml|mysql|google|amazonaws|netflix|datastax|rabbitmq|oracle)|redis\.clients|feign"
    r"|System|Microsoft|Npgsql|StackExchange|Newtonsoft)\."
    r"|site-packages|dist-packages|lib/python\d|node_modules|^node:|internal/|<frozen|<anonymous>|\bruntime[/.]|/usr/(?:lib|local/go)"
    r"|/go/pkg/mod/|/rustc/|\.cargo/|/gems/|/vendor/|^native$|^core::|^std::|^tokio::|asm_amd64|libc\.so"
)
_NAME = (
    r"((?:[A-Za-z_$][\w$]{0,80}[.:]{1,2}){0,12}[A-Z][\w$]{0,80}(?:Exception|Error|Throwable|Fault|Exit|Interrupt)"
    r"|Error|panic|fatal error)"
)
_TYPE = re.compile(
    rf"^\s*(?:Caused by: |---> |Uncaught |Unhandled exception\W+|Exception in thread \S+ )?{_NAME}\b"
)
_EXCEPTION = re.compile(rf"(?:^|[\s:|\]]){_NAME}(?=[:\s]|$)")
#: The last line of a Python trace names the exception, whatever its class is called.
_PYTHON = re.compile(r"^([A-Za-z_][\w.]{0,120})(?:: |$)")
_CAUSED = re.compile(r"^\s*(?:Caused by: |---> )")


@dataclass
class Trace:
    """Traces with one root exception and one own frame. `frame_line` is where the first of them shows that frame.

    `partial` tells that not all lines of its kind were read, so that there may be more than `count`.
    """

    exception: str
    frame: str
    first: Row
    frame_line: int
    root_line: int
    count: int = 0
    services: Counter[int] = field(default_factory=Counter)
    templates: set[int] = field(default_factory=set)
    partial: bool = False


def traces(scan: Scan, summary: Summary, file: int | None) -> list[Trace]:
    """Return the groups of traces, the most frequent first; of a kind of line with very many, the first are read."""
    groups: dict[tuple[str, str], Trace] = {}
    seen: Counter[int] = Counter()
    for row, read in _events(scan, summary, file):
        template = scan.miner.final(row.template)
        seen[template] += 1
        places, lines = zip(*unfolded(read), strict=True) if read else ((), ())
        root, offset = _root(lines)
        below = own_frame(lines[offset:])
        found = below or own_frame(lines)
        if not root or found is None:
            continue
        at, frame = found
        shown, named = places[(offset if below else 0) + at], places[offset]
        trace = groups.setdefault((root, frame), Trace(root, frame, row, row.line + shown, row.line + named))
        trace.count += 1
        trace.services[row.service] += 1
        trace.templates.add(template)
    for trace in groups.values():
        trace.partial = any(summary.groups[t].count > seen[t] for t in trace.templates)
    return sorted(groups.values(), key=lambda t: (-t.count, t.first.line))


def own_frame(lines: Sequence[str]) -> tuple[int, str] | None:
    """Return offset and name of the own frame nearest to where it was raised; a library's where no frame is own."""
    frames = [(n, *found) for n, text in enumerate(lines) if (found := _frame(text))]
    if not frames:
        return None
    if any(text.lstrip().startswith('File "') for text in lines):
        frames.reverse()  # Python tells the innermost frame last
    offset, name, _ = next((f for f in frames if not f[2]), frames[0])
    return offset, name


def _frame(text: str) -> tuple[str, bool] | None:
    """Return a frame's short name and whether it belongs to a library."""
    for pattern in _FRAMES:
        if found := pattern.match(text):
            parts = found.groupdict()
            name, path, at = parts.get("name") or "", parts["file"], parts["at"]
            place = path.rsplit("/", 1)[-1] + (f":{at}" if at else "")
            library = bool(_LIBRARY.search(name) or _LIBRARY.search(path))
            return (f"{name} ({place})" if name else place), library
    return None


def _root(lines: Sequence[str]) -> tuple[str, int]:
    """Return the innermost exception's type and the offset of its line."""
    best = ("", 0)
    python = any(text.startswith("Traceback (") for text in lines)
    for offset, text in enumerate(lines):
        found = (
            _EXCEPTION.search(text) if not offset else _TYPE.match(text) or (python and _PYTHON.match(text))
        )
        if found and (not best[0] or _CAUSED.match(text) or not text[:1].isspace()):
            best = (found[1], offset)
    return best


def _may_trace(scan: Scan, template: int) -> bool:
    profile = scan.profiles[template]
    return bool(profile.root_line or _EXCEPTION.search(profile.message))


def _events(scan: Scan, summary: Summary, file: int | None) -> Iterator[tuple[Row, list[str]]]:
    """Yield events with traces, with their lines."""
    final = scan.miner.final
    wanted = {n for n, g in summary.groups.items() if g.level >= Level.warning and _may_trace(scan, n)}
    numbers = {n for n in range(len(scan.miner.templates)) if final(n) in wanted}
    looked: Counter[int] = Counter()
    if not wanted:
        return
    for columns in scan.table.columns():
        last = len(columns.line) - 1
        for at, template in enumerate(columns.template):
            if template not in numbers or (file is not None and columns.file[at] != file):
                continue
            number = final(template)
            looked[number] += 1
            if looked[number] > _LOOKED:
                continue
            row = Row._make(column[at] for column in columns)
            same = at < last and columns.file[at + 1] == row.file and columns.line[at + 1] > row.line
            end = columns.line[at + 1] - 1 if same else row.line + _LINES
            yield row, scan.body(row.file).read(row.line, min(end, row.line + _LINES))
