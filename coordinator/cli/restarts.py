"""How often supervisor has started a process anew, and what ended it, from supervisor's own log."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rich.console import Console

#: Far more than a desk writes in weeks; of a longer log its end counts.
_TAIL_BYTES = 2 * 1024 * 1024
_BEGUN = re.compile(r" supervisord started with pid \d+$")
_EVENT = re.compile(r" (spawned: '|exited: |stopped: )([\w.-]{1,200})(?:'| \((.{0,200})\)$)")


class Restarts(NamedTuple):
    """How often a process was started again, and how it ended the last time."""

    times: int
    ended: str


NEVER = Restarts(0, "")


def restarts(log: Path) -> dict[str, Restarts]:
    """Return the processes that were started again since the desk began.

    What was stopped on purpose and added again begins anew.
    """
    starts: dict[str, int] = defaultdict(int)
    ends: dict[str, str] = {}
    for line in _lines(log):
        if _BEGUN.search(line):
            starts.clear()
            continue
        if not (found := _EVENT.search(line)):
            continue
        event, name, how = found.groups()
        if event.startswith("spawned"):
            starts[name] += 1
        elif event.startswith("exited"):
            ends[name] = how.partition(";")[0]
        else:
            starts.pop(name, None)
    return {name: Restarts(count - 1, ends.get(name, "")) for name, count in starts.items() if count > 1}


def show_restarts(rows: list[dict[str, Any]], console: Console) -> None:
    """Print which processes ended by themselves and were started again."""
    for row in rows:
        if count := row.get("restarts", 0):
            times = "once" if count == 1 else f"{count} times"
            how = f" ({row['last_end']})" if row.get("last_end") else ""
            console.print(
                f"restarted {times}: {row['name']}, which ended by itself{how}; log {row['log']}",
                markup=False,
                soft_wrap=True,
            )


def _lines(log: Path) -> list[str]:
    try:
        with log.open("rb") as file:
            file.seek(max(0, file.seek(0, 2) - _TAIL_BYTES))
            return file.read().decode("utf-8", errors="replace").split("\n")
    except OSError:
        return []
