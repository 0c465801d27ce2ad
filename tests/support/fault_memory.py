"""The memory of the fault tests: every write of the memory service, in stories told again after whatever cut them short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

from sqlmodel import col, select

from kernel import clock
from kernel.errors import Retryable
from kernel.faults import InjectedFault
from kernel.records import RunRow
from memory_service.embed.hash import HashEmbedder
from memory_service.embed.port import Vector
from memory_service.forgetting import archive
from memory_service.recalling.cutoffs import Cutoffs, shipped_pairs
from memory_service.tables import EmbedSpaceRow, MemoryRow, MemoryStateRow
from tests.integration.memory_service.world import World, end_run, finding, restart, world
from tests.support.fault_forgetting import forget_on_purpose, forgetting_problems
from tests.support.fault_teaching import ANSWER, judge, judgement_problems, teach, teaching_problems

RUN = "run-1"
FACT, WRONG = "the pool of checkout holds two connections", "the moon is made of checkout pools"
OTHER = "the gateway of billing restarts at four"


class _Stumbling(HashEmbedder):
    """An embedder that is away once, when it is asked about the first fact."""

    def __init__(self, folder: Path) -> None:
        self._stumbled = folder / "stumbled"

    def passages(self, texts: list[str]) -> list[Vector]:
        if FACT in texts and not self._stumbled.exists():
            self._stumbled.touch()
            raise Retryable("the embedder is away")
        return super().passages(texts)


@dataclass(frozen=True)
class Left:
    """What a story left behind: all memories with their states, and the states of the embedding spaces."""

    memories: list[tuple[MemoryRow, MemoryStateRow]]
    spaces: list[str]

    def states(self, text: str) -> list[MemoryStateRow]:
        return [state for row, state in self.memories if row.text == text]

    def texts(self) -> list[str]:
        return [row.text for row, _ in self.memories if row.text]


@dataclass(frozen=True)
class Story:
    """What is done, and what is wrong with what it left behind."""

    tell: Callable[[World, Path], None]
    problems: Callable[[Left], list[str]]


def _learn(memory: World, folder: Path) -> None:
    with memory.database.reading() as session:
        known = session.get(RunRow, RUN) is not None
    if not known:
        end_run(memory, RUN, findings=[finding()], actions=[restart()], answer=ANSWER)
    memory.memory.learn(RUN)
    teach(memory, folder, RUN)


def _remember(memory: World, _folder: Path) -> None:
    """Remember, cite, strengthen and forget; then find a point that the index has lost."""
    fact, wrong = memory.remember(FACT), memory.remember(WRONG)
    memory.store.cite("default", [fact], cited_by=RUN, at=memory.now)
    memory.memory.reinforce()
    memory.memory.forget({"namespace": "default", "id": wrong, "by": "ann"})
    memory.store.look_again([(1, 1)], memory.now)
    memory.memory.relay()
    memory.index.delete([fact])
    memory.memory.catch_up()


def _remember_problems(left: Left) -> list[str]:
    counted = [state.access_count for state in left.states(FACT)]
    return [
        *(f"not forgotten: {text}" for text in left.texts() if text == WRONG),
        *([f"cited once, counted: {counted}"] if counted != [1] else []),
    ]


def _calibrate(memory: World, _folder: Path) -> None:
    with memory.database.reading() as session:
        space = session.exec(select(EmbedSpaceRow.id).where(EmbedSpaceRow.state == "current")).one()
    Cutoffs(memory.database, space, HashEmbedder(), pairs=shipped_pairs()[::2]).calibrate({})


def _build(memory: World, _folder: Path) -> None:
    """Build the index anew beside the old one, and delete the old one."""
    memory.remember(OTHER)
    if memory.spaces.standing()["shadow"] is None:
        memory.spaces.rebuild()
    memory.spaces.build()
    memory.serve()
    # what is retired is so by the real clock
    memory.now = max(memory.now, clock.now()) + timedelta(days=8)
    memory.spaces.clear()


def _build_problems(left: Left) -> list[str]:
    told = [f"spaces left: {left.spaces}"] if left.spaces != ["current"] else []
    return told + ([] if OTHER in left.texts() else [f"lost: {OTHER}"])


def _fade(memory: World, _folder: Path) -> None:
    """Have the doctor mend the archive, and let a memory fade for a year."""
    with memory.database.reading() as session:
        known = session.get(MemoryRow, 1) is not None
    if not known:  # what is told again is fresh again
        memory.remember(OTHER)
    with memory.database.writing("test") as session:
        archive.keep(session, [1])
    archive.renew(memory.database)
    memory.doctor.examine(repair=True)
    memory.pass_days(400)
    memory.memory.decay()


def _fade_problems(left: Left) -> list[str]:
    states = [state.status for state in left.states(OTHER)]
    return [f"a year later: {states}"] if states != ["archived"] else []


#: The later ones are cheaper, as in the desk's scenarios.
STORIES = {
    "memory_build": Story(_build, _build_problems),
    "memory_remember": Story(_remember, _remember_problems),
    "memory_fade": Story(_fade, _fade_problems),
    "memory_learn": Story(_learn, lambda left: teaching_problems(left.texts())),
    "memory_judge": Story(lambda memory, _: judge(memory), lambda left: judgement_problems(left.texts())),
    "memory_forget": Story(
        lambda memory, _: forget_on_purpose(memory, RUN), lambda left: forgetting_problems(left.memories)
    ),
    "memory_calibrate": Story(_calibrate, lambda _: []),
}


def run_memory(name: str, folder: Path, _redis_url: str, _worker: str) -> None:
    """Tell a story, and again where a fault cut it, as the queue does."""
    for _ in range(3):
        try:
            with world(folder, embedder=_Stumbling(folder)) as memory:
                STORIES[name].tell(memory, folder)
        except (InjectedFault, Retryable):
            continue  # the doorbell is rung again
        return
    raise AssertionError("it was cut more often than it was struck")


def memory_problems(name: str, folder: Path, _redis: Any) -> list[str]:
    """Return what is wrong with the memory after all: each thing is known once, and the index agrees with SQL."""
    with world(folder) as memory:
        memory.memory.relay()
        memory.relay.reconcile()
        memory.relay.drain()
        problems = [f"the index differs: {memory.relay.reconcile()}"] if memory.drift() else []
        with memory.database.reading() as session:
            both = select(MemoryRow, MemoryStateRow).where(col(MemoryRow.pk) == col(MemoryStateRow.pk))
            left = Left(list(session.exec(both)), list(session.exec(select(EmbedSpaceRow.state))))
    told = Counter((row.namespace, row.text) for row, _ in left.memories if row.text)
    problems += [f"known twice: {text}" for (_, text), times in told.items() if times > 1]
    return problems + STORIES[name].problems(left)
