"""Scans of texts, for tests that judge logs and have no desk."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.summary import Summary, summarise
from agents.log_analysis.sources.files import LogFile

START = 1_764_460_800.0


def read(folder: Path, *texts: str) -> tuple[Scan, Summary]:
    """Return the scan of each text as a file `0.log`, `1.log` … and its summary."""
    files = []
    for number, text in enumerate(texts):
        path = folder / f"{number}.log"
        path.write_text(text, encoding="utf-8")
        files.append(LogFile(name=path.name, path=path))
    scan = Scan(folder / "scratch", 1 << 30)
    scan.read(files)
    return scan, summarise(scan)


def stamp(second: float) -> str:
    """Return a time so many seconds after the start."""
    return datetime.fromtimestamp(START + second, UTC).isoformat(timespec="milliseconds")


def log(*lines: tuple[float, str]) -> str:
    """Return a plain log of `(second, text)` in the order of time."""
    return "".join(f"{stamp(second)} {text}\n" for second, text in sorted(lines))
