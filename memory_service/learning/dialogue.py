"""Conversations as memories: one episode a turn, found by its own words and, at less weight, by those around it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from pydantic import AwareDatetime

from kernel.contracts import Value
from memory_service import lexical
from memory_service.domain import Candidate
from memory_service.learning import moments

#: Turns on each side whose words a turn is found by. What is asked of a turn is often told by the turn before it.
NEIGHBOURS = 2
#: How often more the words of the question just before a turn count. Measured on LoCoMo (docs/memory-recall.md).
ANSWERED = 2
#: What tells is worth more than what asks, and an answer is what questions are about (`gate` drops mere questions).
TELLS, ANSWERS, ASKS = 0.5, 0.1, -0.1
#: Who says more tells more: for each factor e above that many words; and who tells when says something that happened.
SAYS_MORE, USUAL_WORDS, TELLS_WHEN = 0.04, 20, 0.03
#: What the least of turns is worth: it is kept, to understand the others by.
LEAST = 0.3
#: A context is found by, never shown; a neighbour that goes on for pages would outweigh the turn.
_CONTEXT_LENGTH = 4000
#: Question marks of European, CJK, Arabic and Greek writing.
_MARKS = ("?", "？", "؟", ";")
_SENTENCE = re.compile(r"(?<=[.!?؟])\s+|(?<=[？。！])")
_TWO = 2
#: The slot that names whom a turn is said to, where two speak.
HEARER = "hearer"


class Turn(Value):
    """What one speaker said at one go; `seen` describes pictures shared with it, `at` is when, if it is known."""

    id: str
    speaker: str
    text: str
    seen: list[str] = []
    at: AwareDatetime | None = None


class Session(Value):
    """Turns of one sitting; `at` is in the speakers' own zone, by which yesterday is reckoned.

    `first` is the number of the first turn, where those before it are left out; `speakers` are then all of the sitting.
    """

    id: str
    at: AwareDatetime
    turns: list[Turn]
    first: int = 0
    speakers: list[str] = []


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where the memories of a conversation go."""

    namespace: str
    user: str = ""


def episodes(session: Session, place: Place) -> list[Candidate]:
    """Return the turns of a session as candidates, in their order; where no time is told they are a second apart."""
    turns = session.turns
    speakers = sorted({turn.speaker for turn in turns} | set(session.speakers))
    pair = speakers if len(speakers) == _TWO else []
    found: list[Candidate] = []
    for number, turn in enumerate(turns):
        before = turns[max(0, number - NEIGHBOURS) : number]
        after = turns[number + 1 : number + 1 + NEIGHBOURS]
        at = turn.at or session.at
        dates = moments.told(turn.text, at)
        hearer = [name for name in pair if name != turn.speaker]
        found.append(
            Candidate(
                namespace=place.namespace,
                user=place.user,
                kind="episode",
                text=_shown(turn),
                key=f"{session.id} {turn.id}",  # "Thanks!" is said more than once
                context=_context([*before, *after], before[-1:], _days(at, dates), pair),
                importance=_importance(turn, before[-1:], dated=bool(dates)),
                source_kind="user",
                source_ref=turn.id,
                session=session.id,
                slots={
                    "turn": session.first + number,
                    "speaker": turn.speaker,
                    **dict(zip([HEARER], hearer, strict=False)),
                },
                valid_from=turn.at or session.at + timedelta(seconds=session.first + number),
            )
        )
    return found


def words_of(text: str, slots: Mapping[str, Any]) -> str:
    """Return the words by which a text is found: where two speak, the name of the other is a form of address."""
    hearer = slots.get(HEARER)
    return _without(text, [hearer]) if isinstance(hearer, str) else text


def within(turn: object, other: object) -> bool:
    """Return whether the words of one turn stand in the context of another; so too where their places are unknown."""
    if isinstance(turn, int) and isinstance(other, int):
        return abs(turn - other) <= NEIGHBOURS
    return True


def _shown(turn: Turn) -> str:
    seen = f" [{'; '.join(turn.seen)}]" if turn.seen else ""
    return f"{turn.speaker}: {turn.text}{seen}"


def _days(at: datetime, dates: list[moments.Span]) -> list[str]:
    today = moments.iso([moments.Span(at.date(), at.date())])
    return list(dict.fromkeys(today + moments.iso(dates)))


def _context(
    neighbours: Sequence[Turn], before: Sequence[Turn], days: Sequence[str], pair: Sequence[str]
) -> str:
    """Return what a turn is found by beside its text.

    Names of the speakers are left out of what is around it: that would be found by both, since both speak all the time.
    """
    asked = [" ".join(_questions(one.text)) for one in before]
    lines = [*asked * ANSWERED, *(" ".join([one.text, *one.seen]) for one in neighbours)]
    around = [_without(line, pair) for line in lines if line]
    return "\n".join([" ".join(days), *around])[:_CONTEXT_LENGTH]


def _questions(text: str) -> list[str]:
    return [one for one in _SENTENCE.split(text) if one.rstrip().endswith(_MARKS)]


def _without(text: str, names: Sequence[str]) -> str:
    for name in names:
        if name:
            # where letters have no case, most scripts part no words, so that there is no edge to look for
            cased = name.lower() != name.upper()
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)" if cased else re.escape(name), "", text)
    return text


def _importance(turn: Turn, before: Sequence[Turn], *, dated: bool) -> float:
    answers = any(mark in one.text for one in before for mark in _MARKS)
    asks = turn.text.rstrip().endswith(_MARKS)
    said = len(lexical.tokens(" ".join([turn.text, *turn.seen]), query=False))
    worth = TELLS + ANSWERS * answers + ASKS * asks + TELLS_WHEN * dated
    return max(LEAST, worth + SAYS_MORE * math.log((1 + said) / USUAL_WORDS))
