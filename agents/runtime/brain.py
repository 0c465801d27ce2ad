"""Brains decide the next turn: a model, an agent's routine, or the model with the routine behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from agents.runtime.model_brain import ModelBrain
from agents.runtime.spec import AgentSpec, DoneTurn, Routine, Turn, TurnView
from agents.runtime.tools import Tool
from kernel.clock import now
from kernel.contracts import Work
from kernel.errors import Exhausted, Fatal, OverBudget, Retryable, Uncounted
from kernel.model.port import Model, OnText, ToolSchema
from kernel.redaction import make_redactor
from kernel.settings import Settings

#: Of the time that an assignment has, the part that the routine needs to answer where the model does not in time,
#: and the most of it in seconds: a log that the model's calls have read is not read again.
_ROUTINE_SHARE, _ROUTINE_SECONDS = 0.2, 90.0
#: How a note of a turn begins that is the routine's because of the model, and what stands before its own note.
_INSTEAD, _OWN = "routine: ", " | "


class Brain(Protocol):
    """Decides the next turn of an assignment."""

    name: str

    async def next_turn(self, view: TurnView, on_text: OnText) -> Turn:
        """Return calls to make, or an outcome; a model's text goes to `on_text` as it arrives."""


class RoutineBrain:
    """An agent's deterministic brain; `note` says why it decides, and is no part of the routine's own notes.

    `alone`: it looks at its own turns, not at what a model asked before it, while it may still ask itself.
    """

    name = "routine"

    def __init__(self, routine: Routine, *, note: str = "", alone: bool = False) -> None:
        self._routine = routine
        self._note = note
        self._alone = alone

    async def next_turn(self, view: TurnView, on_text: OnText) -> Turn:
        """Return the routine's turn."""
        own = [_as_it_said(turn) for turn in view.turns if turn.brain == self.name or not self._alone]
        seen = view.model_copy(update={"turns": own}) if view.tools or not self._alone else view
        turn = self._routine(seen)
        note = _OWN.join(filter(None, (self._note, turn.note)))
        return turn.model_copy(update={"brain": self.name, "note": note})

    def fall_back(self, why: str) -> bool:
        """Return that there are no other means."""
        return False


def _as_it_said(turn: DoneTurn) -> DoneTurn:
    """Return a turn with the note that the routine gave it: by its notes it finds its own calls."""
    if turn.brain != RoutineBrain.name or not turn.note.startswith(_INSTEAD):
        return turn
    return turn.model_copy(update={"note": turn.note.partition(_OWN)[2]})


def why_instead(turns: Sequence[DoneTurn]) -> str:
    """Return why the routine took over from a model, or nothing where it did not."""
    notes = (turn.note for turn in turns if turn.brain == RoutineBrain.name)
    note = next((note for note in notes if note.startswith(_INSTEAD)), "")
    return note.removeprefix(_INSTEAD).partition(_OWN)[0]


class FallingBackBrain:
    """The model first; where it is out of reach, too slow or proves nothing, the routine takes over and stays.

    The routine is left a part of the time until the deadline: a slow model makes no run end without an answer.
    `proves`: the agent reads lines and changes nothing, so its routine may also go on where a model came to nothing.
    """

    def __init__(self, first: Brain, routine: Routine, *, proves: bool = False) -> None:
        self.name = first.name
        self._first = first
        self._routine = routine
        self._proves = proves
        self._left: float | None = None
        self._fallen: RoutineBrain | None = None

    async def next_turn(self, view: TurnView, on_text: OnText) -> Turn:
        """Return the model's turn, or the routine's with the reason in its note."""
        if self._fallen is None and view.turns and view.turns[-1].brain == RoutineBrain.name:
            self._fall("")  # whoever had it before us had fallen back
        if self._fallen is not None:
            return await self._fallen.next_turn(view, on_text)
        limit = asyncio.timeout(self._patience(view))
        try:
            async with limit:
                return await self._first.next_turn(view, on_text)
        except TimeoutError:
            if not limit.expired():
                raise
            return await self._instead("the model was too slow for the deadline", view, on_text)
        except (OverBudget, Uncounted):
            raise  # the model is well: to go on without it would be to go on after the end
        except (Retryable, Exhausted, Fatal) as error:
            return await self._instead(f"model unavailable: {error}", view, on_text)

    def fall_back(self, why: str) -> bool:
        """Let the routine go on where the model came to nothing; return whether that may bring more."""
        if self._fallen is not None or not self._proves:
            return False
        self._fall(why)
        return True

    async def _instead(self, why: str, view: TurnView, on_text: OnText) -> Turn:
        await on_text(None)  # what the model had begun to say is not said
        return await self._fall(why).next_turn(view, on_text)

    def _fall(self, why: str) -> RoutineBrain:
        self.name = RoutineBrain.name
        note = f"{_INSTEAD}{why.replace(_OWN, ' ')}" if why else ""
        self._fallen = RoutineBrain(self._routine, note=note, alone=self._proves)
        return self._fallen

    def _patience(self, view: TurnView) -> float | None:
        """Return the seconds until the routine must begin; None where there is no deadline."""
        if view.work.deadline_at is None:
            return None
        left = (view.work.deadline_at - now()).total_seconds()
        self._left = left if self._left is None else self._left
        return max(0.0, left - min(self._left * _ROUTINE_SHARE, _ROUTINE_SECONDS))


def make_brain(
    spec: AgentSpec, model: Model | None, settings: Settings, work: Work, tools: Sequence[Tool]
) -> RoutineBrain | FallingBackBrain:
    """Return the brain an assignment asks for; without a model the routine decides, and says so."""
    if work.brain == "routine" or model is None:
        wanted = work.brain == "model"
        return RoutineBrain(spec.routine, note="routine: no model is configured" if wanted else "")
    schemas = [ToolSchema(name=t.name, description=t.description, parameters=t.parameters) for t in tools]
    windows = [endpoint.context_tokens for endpoint in settings.endpoints]
    brain = ModelBrain(
        spec,
        model,
        tool_schemas=schemas,
        context_tokens=min(windows, default=settings.model_context_tokens),
        redactor=make_redactor(settings, work.run_id.encode()),
    )
    return FallingBackBrain(brain, spec.routine, proves=spec.read_line is not None)
