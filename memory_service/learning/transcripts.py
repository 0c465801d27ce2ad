"""Conversations that a person takes in: turns as lines of a file, and the memories they become."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from pydantic import AwareDatetime, Field, field_validator
from sqlmodel import Session

from kernel.contracts import Value
from kernel.errors import Correctable
from kernel.orders import shaped_like_instruction
from memory_service.domain import HALF_LIFE_DAYS, Candidate, Status, check_name, normal
from memory_service.forgetting.lines import Line
from memory_service.learning import dialogue
from memory_service.learning.dialogue import Place, Turn, episodes
from memory_service.learning.gate import TEXT_MAX_BYTES
from memory_service.learning.known import forgotten


class Part(Value):
    """Which turns of one sitting the lines are, and whose memories they become.

    `number` is that of the first in its session. The first `before` lines and the last `after` are there to
    understand the others by; `speakers` are all of the session.
    """

    user: str = ""
    number: int = Field(default=0, ge=0)
    before: int = Field(default=0, ge=0)
    after: int = Field(default=0, ge=0)
    speakers: list[str] = Field(default=[], max_length=1000)


class Told(Value):
    """One turn as a line tells it: `{"session", "at", "speaker", "text"}`; `id` and `seen` may be left out."""

    session: str
    at: AwareDatetime
    speaker: str
    text: str
    id: str = ""
    seen: list[str] = []

    @field_validator("session", "speaker")
    @classmethod
    def _named(cls, name: str) -> str:
        try:
            return check_name("it", name)
        except Correctable as error:
            raise ValueError(str(error)) from error


def read_turn(told: Any) -> Told:
    """Read a line; raise ValueError where it is no turn, or too long to be a memory."""
    turn = Told.model_validate(told)
    if not normal(turn.text) and not turn.seen:
        raise ValueError("text: it says nothing")
    size = sum(len(text.encode("utf-8", "replace")) for text in (turn.speaker, turn.text, *turn.seen))
    if size > TEXT_MAX_BYTES:
        raise ValueError(f"text: it has {size} bytes, and a memory at most {TEXT_MAX_BYTES}")
    return turn


def check_part(part: Part, told: Sequence[Told]) -> None:
    """Raise Correctable where turns are of more than one session, or the user is no name."""
    check_name("the user", part.user, empty=True)
    if len({turn.session for turn in told}) > 1:
        raise Correctable("the lines are of more than one session", next_step="Send those of each apart.")


def lines_of(session: Session, part: Part, told: Sequence[Told], namespace: str, at: datetime) -> list[Line]:
    """Return what the turns of a part become.

    A person has chosen to take the whole of it in, so that no limit and no judgement of chatter drops a turn. What
    is shaped like an instruction waits for review, since others speak too; what was forgotten since stays so, and
    is in no context either.
    """
    place = Place(namespace=namespace, user=part.user)
    made = _episodes(part, told, place)
    gone = {n for n, one in enumerate(made) if forgotten(session, one, _when(one))}
    if gone:
        heard = [
            turn.model_copy(update={"text": "", "seen": []}) if n in gone else turn
            for n, turn in enumerate(told)
        ]
        made = [
            old if n in gone else one
            for n, (old, one) in enumerate(zip(made, _episodes(part, heard, place), strict=True))
        ]
    return [_line(one, at) for one in made[part.before : len(made) - part.after]]


def _episodes(part: Part, told: Sequence[Told], place: Place) -> list[Candidate]:
    turns = [
        Turn(id=one.id or str(number), speaker=one.speaker, text=one.text, seen=one.seen, at=one.at)
        for number, one in enumerate(told, part.number)
    ]
    if not turns:
        return []
    sitting = dialogue.Session(
        id=told[0].session, at=told[0].at, turns=turns, first=part.number, speakers=part.speakers
    )
    return episodes(sitting, place)


def _line(made: Candidate, at: datetime) -> Line:
    """Return what was told when it was said, and is remembered from now on."""
    waits = shaped_like_instruction(f"{made.text}\n{made.key}")
    return Line(
        **made.model_dump(exclude={"half_life_days"}),
        id=uuid.uuid4(),
        live=not waits,
        status=(Status.quarantined if waits else Status.active).value,
        weight=1,
        access_count=0,
        half_life_days=HALF_LIFE_DAYS[made.kind],
        last_access_at=at,
        recorded_at=_when(made),
    )


def _when(made: Candidate) -> datetime:
    assert made.valid_from is not None
    return made.valid_from
