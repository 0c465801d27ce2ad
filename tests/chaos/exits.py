"""How processes ended, as supervisor's own log has it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

_SPAWNED = re.compile(r"spawned: '([\w-]+)' with pid (\d+)")
_EXITED = re.compile(r"exited: ([\w-]+) \(([^;)]+)")


def exits(log: Path) -> list[dict[str, Any]]:
    """Return each ended process with its pid and how it ended, oldest first."""
    pids: dict[str, int] = {}
    found = []
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        if spawned := _SPAWNED.search(line):
            pids[spawned[1]] = int(spawned[2])
        elif ended := _EXITED.search(line):
            found.append({"program": ended[1], "pid": pids.get(ended[1], 0), "how": ended[2]})
    return found
