"""Reads one log and prints, as JSON, what that took: a process of its own for each figure of the bench."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

from agents.log_analysis.scanning.progress import Progress
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.summary import summarise
from agents.log_analysis.sources.files import LogFile
from ops.bench.logsize_lines import NEEDLE

_NO_LIMIT = 1 << 40


def main() -> int:
    """Read the file that the first argument names, by as many processes as the second says."""
    path, readers, scratch = Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    told: list[Progress] = []
    scan = Scan(scratch, _NO_LIMIT, readers=readers)
    began = time.monotonic()
    scan.read([LogFile(name=path.name, path=path)], told.append)
    read = time.monotonic()
    summary = summarise(scan)
    ended = time.monotonic()
    needles = [
        p.line
        for p in scan.profiles.values()
        if NEEDLE in p.message and NEEDLE in scan.body(0).read(p.line, p.line)[0]
    ]
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    answer = {
        "seconds": round(ended - began, 3),
        "scan_seconds": round(read - began, 3),
        "cpu_seconds": round(sum(u.ru_utime + u.ru_stime for u in used), 2),
        "lines": scan.facts[0].lines,
        "events": summary.events,
        "templates": len(summary.groups),
        "needle": needles[0] if needles else 0,
        "progress": len(told),
    }
    print(json.dumps(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
