"""The doorways of the memory service; all work happens in threads, since the engines block."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from celery import Celery

from kernel.control import Control
from kernel.errors import NightdeskError
from kernel.process import Announcer, Process, doorway
from memory_service.learning.teaching import Teaching
from memory_service.opening import Opened

#: What may be asked over the queue: each takes a question as it comes and answers with JSON.
QUESTIONS: dict[str, Callable[[Opened, dict[str, Any]], Any]] = {
    "recall": lambda memory, asked: [hit.model_dump(mode="json") for hit in memory.service.recall(asked)],
    "remember": lambda memory, asked: memory.service.tell(asked),
    "history": lambda memory, asked: memory.history.versions(asked),
    "show": lambda memory, asked: memory.history.show(asked),
    "list": lambda memory, asked: memory.service.page(asked),
    "quarantine": lambda memory, asked: memory.review.waiting(asked),
    "accept": lambda memory, asked: memory.review.accept(asked),
    "reject": lambda memory, asked: memory.review.reject(asked),
    "forget": lambda memory, asked: memory.upkeep.after(memory.service.forget(asked)),
    "would_forget": lambda memory, asked: memory.upkeep.would_forget(asked),
    "restore": lambda memory, asked: memory.upkeep.restore(asked),
    "tonight": lambda memory, asked: memory.upkeep.tonight(asked),
    "fade": lambda memory, _: memory.upkeep.fade(),
    "audit": lambda memory, asked: memory.upkeep.entries(asked),
    "verify": lambda memory, asked: memory.upkeep.verify(asked),
    "export": lambda memory, asked: memory.estate.export(asked),
    "import": lambda memory, asked: memory.estate.take(asked),
    "erase": lambda memory, asked: memory.estate.erase(asked),
    "spaces": lambda memory, _: memory.spaces.standing(),
    "migrate": lambda memory, _: memory.spaces.migrate(),
    "rebuild": lambda memory, _: memory.spaces.rebuild(),
    "rollback": lambda memory, _: memory.spaces.roll_back(),
    "doctor": lambda memory, asked: memory.doctor.examine(repair=asked.get("repair") is True),
    "calibrate": lambda memory, asked: memory.cutoffs.calibrate(asked),
    "check": lambda memory, asked: memory.citations.check(asked),
}


def _tick(memory: Opened, _: str) -> None:
    memory.tending.tick(memory.service.relay)
    memory.upkeep.tidy()
    memory.upkeep.renew()
    memory.estate.resume()


#: What is only rung for: the subject is a run's id, or nothing.
DOORBELLS: dict[str, Callable[[Opened, str], Any]] = {
    "learn": lambda memory, run_id: memory.service.learn(run_id),
    "relay": _tick,
    "build": lambda memory, _: memory.tending.build(),
    "reconcile": lambda memory, extent: memory.tending.reconcile(extent),
    "reinforce": lambda memory, _: memory.service.reinforce(),
    "decay": lambda memory, _: memory.service.decay(),
}
#: Rung by the clock, all day: they do not crowd Flower.
_QUIET = {"relay", "reconcile", "reinforce"}
#: What a doorbell begins that nobody waits for: a model may think for minutes, and must hold no thread meanwhile.
AFTERWARDS: dict[str, Callable[[Teaching, str], Coroutine[Any, Any, Any]]] = {
    "learn": lambda teaching, run_id: teaching.teach(run_id),
    "relay": lambda teaching, _: teaching.sweep(),
}


def register(app: Celery, process: Process, control: Control, memory: Callable[[], Opened]) -> None:
    """Register every question and doorbell as the task `memory.<name>`."""
    for name, ask in QUESTIONS.items():
        _question(app, process, control, memory, name, ask)
    for name, ring in DOORBELLS.items():
        _doorbell(app, process, memory, name, ring)


def _question(
    app: Celery,
    process: Process,
    control: Control,
    memory: Callable[[], Opened],
    name: str,
    ask: Callable[[Opened, dict[str, Any]], Any],
) -> None:
    @doorway(app, process, f"memory.{name}")
    async def answer(announcer: Announcer, reply_to: str, question: dict[str, Any]) -> None:
        try:
            await control.answer(reply_to, await asyncio.to_thread(lambda: ask(memory(), question)))
        except NightdeskError as error:
            await control.answer(reply_to, error=error)
            raise


def _doorbell(
    app: Celery,
    process: Process,
    memory: Callable[[], Opened],
    name: str,
    ring: Callable[[Opened, str], Any],
) -> None:
    @doorway(app, process, f"memory.{name}", quiet=name in _QUIET)
    async def rung(announcer: Announcer, subject: str = "") -> None:
        opened = await asyncio.to_thread(memory)
        await asyncio.to_thread(lambda: ring(opened, subject))
        if name in AFTERWARDS and opened.teaching is not None:
            process.spawn(AFTERWARDS[name](opened.teaching, subject))
