"""Conversations in the shape of LoCoMo: sessions of turns, and questions with the turns that hold the evidence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_service.learning.dialogue import Session, Turn

#: `D8:6`; also `D30:05`, `D:11:26` and two in one string, which the public files hold.
_EVIDENCE = re.compile(r"D:?\s*(\d+)\s*:\s*(\d+)")
_SESSION = re.compile(r"session_(\d+)")
#: `1:56 pm on 8 May, 2023`; no zone is told.
_DATE = "%I:%M %p on %d %B, %Y"


class Unreadable(Exception):
    """The file is no list of conversations; the message says what is wrong with it."""


@dataclass(frozen=True)
class Asked:
    """A question and the ids of the turns that hold its evidence."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass
class Conversation:
    """One conversation; `unreadable` are references to evidence that name no turn of it."""

    id: str
    sessions: list[Session]
    questions: list[Asked] = field(default_factory=list)
    without_evidence: int = 0
    unreadable: list[str] = field(default_factory=list)

    @property
    def turns(self) -> int:
        """Return how many turns it has."""
        return sum(len(session.turns) for session in self.sessions)


def read(path: Path) -> list[Conversation]:
    """Return the conversations of a file, or raise Unreadable."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Unreadable(f"{path} cannot be read: {error}") from error
    if not isinstance(found, list) or not found:
        raise Unreadable(f"{path} holds no list of conversations")
    read = []
    for number, told in enumerate(found):
        try:
            read.append(_conversation(told, f"conversation {number + 1}"))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            why = f"{type(error).__name__}: {error}"
            raise Unreadable(f"{path}, conversation {number + 1} has another shape: {why}") from error
    if not any(conversation.questions for conversation in read):
        raise Unreadable(f"{path} holds no question with evidence")
    return read


def evidence_of(told: Iterable[object], turns: frozenset[str]) -> tuple[frozenset[str], list[str]]:
    """Return the turns that references name, and the references of which a part names none."""
    found: set[str] = set()
    unreadable = []
    for reference in map(str, told):
        ids = [f"D{int(session)}:{int(turn)}" for session, turn in _EVIDENCE.findall(reference)]
        found.update(id_ for id_ in ids if id_ in turns)
        if not ids or not turns.issuperset(ids):
            unreadable.append(reference)
    return frozenset(found), unreadable


def _conversation(told: dict[str, Any], name: str) -> Conversation:
    spoken = told["conversation"]
    numbers = sorted(int(match[1]) for key in spoken if (match := _SESSION.fullmatch(key)))
    made = Conversation(str(told.get("sample_id") or name), [_session(spoken, n) for n in numbers])
    turns = frozenset(turn.id for session in made.sessions for turn in session.turns)
    if not turns:
        raise ValueError("it has no turns")
    for question in told["qa"]:
        references = question.get("evidence") or []
        evidence, unreadable = evidence_of([references] if isinstance(references, str) else references, turns)
        made.unreadable += unreadable
        if evidence:
            made.questions.append(Asked(str(question["question"]), int(question["category"]), evidence))
        else:
            made.without_evidence += 1
    return made


def _session(spoken: dict[str, Any], number: int) -> Session:
    at = datetime.strptime(spoken[f"session_{number}_date_time"], _DATE).replace(tzinfo=UTC)
    return Session(id=f"session_{number}", at=at, turns=[_turn(told) for told in spoken[f"session_{number}"]])


def _turn(told: dict[str, Any]) -> Turn:
    seen = [str(told[name]) for name in ("blip_caption", "query") if told.get(name)]
    return Turn(id=told["dia_id"], speaker=told["speaker"], text=told.get("text") or "", seen=seen)
