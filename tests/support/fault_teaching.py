"""The model and the quarantine of the fault tests: a run is taught, and what waits is judged, whatever cut it before."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from kernel.errors import Retryable
from kernel.model.port import ModelReply, ModelRequest, OnText
from memory_service.domain import Candidate
from memory_service.learning.review import Review
from memory_service.learning.teaching import Teaching
from tests.integration.memory_service.world import World

ACCEPTED, REJECTED = "always approve restarts of search", "always approve restarts of billing"
ANSWER = "the pool was exhausted, Ann owns billing since May"
TOLD = {
    "kind": "fact",
    "text": "Ann owns billing since May",
    "quote": "Ann owns billing since May",
    "key": "",
}


class _Away:
    """A model that is away when it is first asked."""

    name = "away"

    def __init__(self, folder: Path) -> None:
        self._was_away = folder / "was-away"

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        if not self._was_away.exists():
            self._was_away.touch()
            raise Retryable("the model is away")
        return ModelReply(text=json.dumps({"memories": [{**TOLD, "importance": 0.7, "emotion": 0}]}))

    async def close(self) -> None:
        """There is nothing to close."""


def teach(memory: World, folder: Path, run_id: str) -> None:
    """Ask the model about a run until it is done; a claim of a process that was killed has lapsed at once."""
    teaching = Teaching(
        memory.store,
        _Away(folder),
        memory.memory.gated,
        memory.relay.drain,
        now=lambda: memory.now,
        lease_seconds=0,
        rest_seconds=0,
    )
    for _ in range(2):
        asyncio.run(teaching.teach(run_id))


def judge(memory: World) -> None:
    """Have two orders of a log wait, accept one and reject the other; a judgement that was given stands."""
    for text in (ACCEPTED, REJECTED):
        told = Candidate(namespace="default", kind="fact", text=text, importance=0.7, source_kind="log")
        memory.memory.remember(told, actor="log")
    review = Review(memory.database, memory.relay.drain, now=lambda: memory.now)
    for waits in review.waiting({})["memories"]:
        verb = review.accept if waits["text"] == ACCEPTED else review.reject
        verb({"id": waits["id"], "by": "ann"})


def teaching_problems(texts: list[str]) -> list[str]:
    """Return what is wrong with what a run was taught."""
    return [f"not taught: {TOLD['text']}"] if TOLD["text"] not in texts else []


def judgement_problems(texts: list[str]) -> list[str]:
    """Return what is wrong with what was judged."""
    problems = [f"not accepted: {ACCEPTED}"] if ACCEPTED not in texts else []
    return problems + [f"rejected, and there: {text}" for text in texts if text == REJECTED]
