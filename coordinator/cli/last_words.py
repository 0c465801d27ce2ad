"""What a process said as it ended: the sentence of its error at the end of its log."""

from __future__ import annotations

import re
from pathlib import Path

_TAIL_BYTES = 64 * 1024
#: An error's own words may go over some lines; a person reads the first few.
_LINES = 4
_LENGTH = 600
_TRACEBACK = "Traceback (most recent call last):"
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")
#: The class stands before an error of ours, and says nothing to whoever reads the sentence.
_OURS = re.compile(r"^kernel\.errors\.\w{1,40}: ")


def log_size(log: Path) -> int:
    """Return how long a log is now, 0 where there is none."""
    try:
        return log.stat().st_size
    except OSError:
        return 0


def last_words(log: Path, *, since: int = 0) -> str:
    """Return the last error that a log holds behind a place, or nothing where it ends with none.

    A worker ends with one sentence, or with a traceback whose end is the error.
    """
    lines = _lines(log, since)
    if _TRACEBACK in lines:
        behind = lines[_last(lines, _TRACEBACK) + 1 :]
        raised = next((n for n, line in enumerate(behind) if not line.startswith(" ")), len(behind))
        said = " ".join(line.strip() for line in behind[raised : raised + _LINES])
    else:
        flush = [line for line in lines if not line.startswith(" ")]
        said = flush[-1] if flush and flush[-1].endswith(".") else ""
    return _OURS.sub("", said)[:_LENGTH]


def _last(lines: list[str], wanted: str) -> int:
    return len(lines) - 1 - lines[::-1].index(wanted)


def _lines(log: Path, since: int) -> list[str]:
    """Return the lines behind a place; all of them where the log has been turned over since."""
    try:
        with log.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(since if since <= size else 0, size - _TAIL_BYTES))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return []
    lines = (_COLOUR.sub("", line).rstrip() for line in text.split("\n"))
    return [line for line in lines if line]
