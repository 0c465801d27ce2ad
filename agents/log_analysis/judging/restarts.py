"""Restarts: start-up banners and changed process ids of one service, in the middle of a log; pure."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.summary import Summary
from agents.log_analysis.scanning.table import Row

#: Banners of one service so near to each other (seconds) are one start; so many starts are no restarts but its work.
_ONE_START = 120.0
_MOST = 40
#: A banner is rare: a template with more than this share of the events is what the service does all day.
_RARE = 0.02
#: Lines of a service whose process ids are looked at, evenly spread; one id holds for so many of them in a row.
_SAMPLE, _HELD = 96, 4

_BANNER = re.compile(
    r"(?i)\b(?:server|service|application|app|process|worker|daemon|agent|broker|node|container|system|kernel|database"
    r"|engine|listener)\b.{0,40}\b(?:starting|started|booting|booted|initiali[sz]ing|is ready|ready to accept)\b"
    r"|\b(?:starting|started|booting|launching) (?:up\b"
    r"|[\w.-]{0,40} ?(?:server|service|application|daemon|version|v?\d+\.\d+))"
    r"|\blistening (?:on|at) \S*\d{2,5}\b|\bStarted \w+ in [\d.]+ seconds|^Linux version \d"
    r"|\bversion \d+\.\d+[\w.]* start"
    r"|\bready (?:for|to accept) connections\b|\brestart(?:ed|ing)\b|服务启动|启动完成|正在启动"
)
_NO_BANNER = re.compile(
    r"(?i)\b(?:session|job|task|backup|transaction|request|query|scan|sync|timer|fail\w*|cannot|unable|retry\w*)\b"
)
_PID = re.compile(r"(?<=\w)\[(\d{1,7})\]:|(?i:\bpid[\"']{0,2}\s?[=:]\s?)(\d{1,7})\b")


@dataclass(frozen=True, kw_only=True)
class Restart:
    """One restart of a service, with the line that shows it; `how` says by what it is told."""

    service: int
    row: Row
    how: str


def restarts(scan: Scan, summary: Summary, file: int | None = None) -> list[Restart]:
    """Return restarts in the order of time: start-up banners and process ids that change after the log has begun."""
    banners = {
        t for t, g in summary.groups.items() if _is_banner(scan, summary, t) and g.level <= Level.warning
    }
    final = [scan.miner.final(i) for i in range(len(scan.miner.templates))]
    seen: dict[int, int] = defaultdict(int)
    starts: dict[int, list[Row]] = defaultdict(list)
    samples: dict[int, list[Row]] = defaultdict(list)
    steps = {s: max(1, n // _SAMPLE) for s, n in summary.services.items()}
    for row in scan.table:
        if file is not None and row.file != file:
            continue
        seen[row.service] += 1
        # the first line of a service is its first start, no restart
        if final[row.template] in banners and seen[row.service] > 1 and not _soon(starts[row.service], row):
            starts[row.service].append(row)
        if seen[row.service] % steps.get(row.service, 1) == 0:
            samples[row.service].append(row)
    found = [
        Restart(service=service, row=row, how="its start-up line")
        for service, rows in starts.items()
        for row in _later(rows, summary)
    ]
    told = {(r.service, round(r.row.time // _ONE_START)) for r in found if not isnan(r.row.time)}
    for service, rows in samples.items():
        for row, how in _pids(scan, rows) if summary.services[service] >= 2 * _HELD else []:
            moment = 0 if isnan(row.time) else round(row.time // _ONE_START)
            if not {(service, moment - 1), (service, moment), (service, moment + 1)} & told:
                found.append(Restart(service=service, row=row, how=how))
    return sorted(found, key=lambda r: (r.row.time, r.row.file, r.row.line))


def _is_banner(scan: Scan, summary: Summary, template: int) -> bool:
    message = scan.profiles[template].message[:200]
    rare = summary.groups[template].count <= max(3.0, _RARE * summary.events)
    return rare and _BANNER.search(message) is not None and not _NO_BANNER.search(message)


def _soon(rows: Sequence[Row], row: Row) -> bool:
    """Tell whether a banner belongs to the start that was told before it."""
    if not rows:
        return False
    if isnan(row.time) or isnan(rows[-1].time):
        return row.line - rows[-1].line < _ONE_START
    return 0 <= row.time - rows[-1].time < _ONE_START


def _later(rows: list[Row], summary: Summary) -> list[Row]:
    """Return the starts that are restarts: not those at the very beginning, and nothing where it starts all day."""
    begin = summary.start
    late = [r for r in rows if begin is None or isnan(r.time) or r.time - begin > _ONE_START]
    return late if len(late) <= _MOST else []


def _pids(scan: Scan, rows: list[Row]) -> list[tuple[Row, str]]:
    """Return where the process id of a service changes for good; many ids side by side are workers, no restarts."""
    runs: list[tuple[str, Row, int]] = []
    for row in rows[: 2 * _SAMPLE]:
        texts = scan.body(row.file).read(row.line, row.line)
        match = _PID.search(texts[0][:400]) if texts else None
        if match is None:
            continue
        pid = match[1] or match[2]
        if runs and runs[-1][0] == pid:
            runs[-1] = (pid, runs[-1][1], runs[-1][2] + 1)
        else:
            runs.append((pid, row, 1))
    if len({pid for pid, _, _ in runs}) < len(runs) or any(n < _HELD for _, _, n in runs):
        return []
    return [
        (row, f"its process id, {old} before and {pid} since")
        for (old, _, _), (pid, row, _) in pairwise(runs)
    ]
