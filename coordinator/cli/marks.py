"""Remembers per run the last event that was shown, so that `watch` goes on where it left off."""

from __future__ import annotations

import re
from pathlib import Path

_RUN_ID = re.compile(r"[\w\-:.@]{1,200}")
_EVENT_ID = re.compile(r"\d+-\d+")
_START = "0"


def recall(folder: Path, run_id: str) -> str:
    """Return the id of the last event that was shown of a run, or the start."""
    if not _RUN_ID.fullmatch(run_id):
        return _START
    try:
        text = (folder / run_id).read_text(encoding="utf-8").strip()
    except OSError:
        return _START
    return text if _EVENT_ID.fullmatch(text) else _START


def remember(folder: Path, run_id: str, event_id: str) -> None:
    """Keep the id of the last event that was shown."""
    if _RUN_ID.fullmatch(run_id) and _EVENT_ID.fullmatch(event_id) and not run_id.startswith("."):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / run_id).write_text(event_id, encoding="utf-8")
