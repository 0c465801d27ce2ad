"""Sessions, pure: the window of earlier runs that a new one sees."""

from __future__ import annotations

from collections.abc import Sequence

from kernel.contracts import SessionTurn

#: Earlier runs shown whole; older ones live on in the summary.
WINDOW = 6
_ANSWER_CHARACTERS = 1500


def window(turns: Sequence[SessionTurn]) -> list[SessionTurn]:
    """Return the last turns, answers cut to a readable length."""
    return [
        turn.model_copy(update={"answer": _cut(turn.answer, _ANSWER_CHARACTERS)})
        for turn in list(turns)[-WINDOW:]
    ]


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[:characters]}…"
