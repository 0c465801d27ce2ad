"""Reads synthetic logs of growing size: MB/s, lines/s, memory of all processes, seconds per MB, and the needle."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from agents.log_analysis.scanning.segments import MOST
from ops.bench import logsize_lines
from ops.bench.logsize_table import render
from ops.bench.machine import describe, memory_mb

SIZES = (1, 10, 100, 1000)
#: Seconds between two looks at the memory.
_LOOK = 0.1


def main() -> int:
    """Measure and print; fails where nothing was read, or the needle was not found."""
    parser = argparse.ArgumentParser(description="measure the reading of large logs")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="megabytes, with commas between")
    parser.add_argument("--seed", type=int, default=1)
    several = str(min(MOST, os.cpu_count() or 1))
    parser.add_argument("--readers", default=f"1,{several}", help="reading processes; 0: as many as are free")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of the table")
    options = parser.parse_args()
    sizes = [float(size) for size in options.sizes.split(",") if size.strip()]
    readers = [int(number) for number in options.readers.split(",")]
    rows = []
    with tempfile.TemporaryDirectory(prefix="nightdesk-bench-logsize-") as folder:
        for size in sizes:
            path = Path(folder) / f"{size:g}.log"
            began = time.monotonic()
            lines = logsize_lines.write(path, size, options.seed)
            _note(f"{size:g} MB written in {time.monotonic() - began:.0f} s")
            rows += [measure(path, lines, number, Path(folder)) for number in readers]
            path.unlink()
    found = {"machine": describe(), "rows": rows}
    print(json.dumps(found, ensure_ascii=False, indent=2) if options.json else render(found))
    if not rows or any(row["lines"] != row["written"] or not row["needle"] for row in rows):
        print("bench-logsize: failed: not all lines were read, or the needle was not found", file=sys.stderr)
        return 1
    return 0


def measure(path: Path, written: int, readers: int, scratch: Path) -> dict[str, Any]:
    """Return what one reading of a file costs, in a process of its own so that memory counts from nothing."""
    load = os.getloadavg()[0]
    began = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "ops.bench.logsize_once", str(path), str(readers), str(scratch)],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        peak, most = 0.0, 1
        while not _ended(process):
            pids = [process.pid, *_children(process.pid)]
            peak, most = max(peak, sum(memory_mb(pid) for pid in pids)), max(most, len(pids))
        assert process.stdout is not None
        told = process.stdout.read()
    if process.returncode:
        raise SystemExit(f"bench-logsize: reading {path.name} failed with {process.returncode}")
    once = json.loads(told)
    megabytes, seconds = path.stat().st_size / logsize_lines.MEGABYTE, once["seconds"]
    _note(f"{megabytes:g} MB read by {max(1, most - 1)} process(es) in {time.monotonic() - began:.0f} s")
    return {
        **once,
        "mb": round(megabytes, 1),
        "readers": max(1, most - 1),
        "written": written,
        "mb_per_second": round(megabytes / seconds, 2),
        "lines_per_second": round(once["lines"] / seconds),
        "seconds_per_mb": round(seconds / megabytes, 4),
        "cpu_ms_per_mb": round(once["cpu_seconds"] * 1000 / megabytes, 1),
        "peak_mb": round(peak, 1),
        "load_1m": round(load, 2),
    }


def _ended(process: subprocess.Popen[str]) -> bool:
    try:
        process.wait(_LOOK)
    except subprocess.TimeoutExpired:
        return False
    return True


def _children(pid: int) -> list[int]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [int(child) for child in text.split()]


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
