"""What the machine says: its load, its kind, and the memory of processes."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_KIB = 1024


def describe() -> dict[str, Any]:
    """Return what a reader of the figures must know about the machine."""
    return {
        "cores": os.cpu_count(),
        "load_1m": round(os.getloadavg()[0], 2),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def memory_mb(pid: int) -> float:
    """Return a process's memory: its proportional share where the system tells it, else what is resident."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return round(int(line.split()[1]) / _KIB, 1)
    except OSError:
        if Path("/proc/self").exists():
            return 0.0  # it has ended
    shown = subprocess.run(["ps", "-p", str(pid), "-o", "rss="], capture_output=True, text=True, check=False)
    return round(int(shown.stdout.strip() or 0) / _KIB, 1)


def cpu_seconds(pids: Iterable[int]) -> float:
    """Return the processor time that the processes have spent so far; 0 where the system does not tell."""
    return sum(_cpu(pid) for pid in pids)


def _cpu(pid: int) -> float:
    try:
        # the fields are counted from behind the name, which may hold blanks and brackets
        fields = (
            Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        )
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
