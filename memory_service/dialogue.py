"""Conversations as memories: one episode a turn, found by its own words and, at less weight, by those around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import AwareDatetime

from kernel.contracts import Value
from memory_service import moments
from memory_service.domain import Candidate

#: Turns on each side whose words a turn is found by. What is asked of a turn is often told by the turn before it.
NEIGHBOURS = 2
#: What tells is worth more than what asks, and an answer is what questions are about (`gate` drops mere questions).
TELLS, ANSWERS, ASKS = 0.5, 0.1, -0.1
#: A context is found by, never shown; a neighbour that goes on for pages would outweigh the turn.
_CONTEXT_LENGTH = 4000
#: Question marks of European, CJK, Arabic and Greek writing.
_MARKS = ("?", "？", "؟", ";")


class Turn(Value):
    """What one speaker said at one go; `seen` describes pictures shared with it."""

    id: str
    speaker: str
    text: str
    seen: list[str] = []


class Session(Value):
    """Turns of one sitting; `at` is in the speakers' own zone, by which yesterday is reckoned."""

    id: str
    at: AwareDatetime
    turns: list[Turn]


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where the memories of a conversation go."""

    namespace: str
    user: str = ""


def episodes(session: Session, place: Place) -> list[Candidate]:
    """Return the turns of a session as candidates, in their order; their moments are a second apart."""
    turns = session.turns
    found: list[Candidate] = []
    for number, turn in enumerate(turns):
        before, after = (
            turns[max(0, number - NEIGHBOURS) : number],
            turns[number + 1 : number + 1 + NEIGHBOURS],
        )
        found.append(
            Candidate(
                namespace=place.namespace,
                user=place.user,
                kind="episode",
                text=_shown(turn),
                key=f"{session.id} {turn.id}",  # "Thanks!" is said more than once
                context=_context([*before, *after], _dates(turn, session.at)),
                importance=_importance(turn, before[-1] if before else None),
                source_kind="user",
                source_ref=turn.id,
                session=session.id,
                slots={"turn": number, "speaker": turn.speaker},
                valid_from=session.at + timedelta(seconds=number),
            )
        )
    return found


def _shown(turn: Turn) -> str:
    seen = f" [{'; '.join(turn.seen)}]" if turn.seen else ""
    return f"{turn.speaker}: {turn.text}{seen}"


def _dates(turn: Turn, at: datetime) -> list[str]:
    today = moments.iso([moments.Span(at.date(), at.date())])
    return list(dict.fromkeys(today + moments.iso(moments.told(turn.text, at))))


def _context(neighbours: Sequence[Turn], dates: Sequence[str]) -> str:
    """Return what a turn is found by beside its text; speakers are left out, since all speak all the time."""
    lines = [" ".join([turn.text, *turn.seen]) for turn in neighbours]
    return "\n".join([" ".join(dates), *lines])[:_CONTEXT_LENGTH]


def _importance(turn: Turn, before: Turn | None) -> float:
    answers = before is not None and any(mark in before.text for mark in _MARKS)
    asks = turn.text.rstrip().endswith(_MARKS)
    return TELLS + ANSWERS * answers + ASKS * asks
