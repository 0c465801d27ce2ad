"""Summaries, pure: one line for each run that left the session's window."""

from __future__ import annotations

from collections.abc import Sequence

from coordinator.sessions import WINDOW
from kernel.contracts import SessionTurn

_LINE_CHARACTERS = 200
_SUMMARY_CHARACTERS = 2000


def summarise(turns: Sequence[SessionTurn]) -> str:
    """Return the summary of all turns before the window, newest last, bounded; empty where all fit."""
    older = list(turns)[:-WINDOW] if len(turns) > WINDOW else []
    lines = [f"- asked: {_line(turn.text)} | answered: {_line(turn.answer)}" for turn in older]
    text = "\n".join(lines)
    return text if len(text) <= _SUMMARY_CHARACTERS else f"…{text[-_SUMMARY_CHARACTERS:]}"


def _line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LINE_CHARACTERS else f"{flat[:_LINE_CHARACTERS]}…"
