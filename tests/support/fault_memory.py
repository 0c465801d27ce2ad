"""The memory of the fault tests: every write of the memory service once, and again after whatever cut it short."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from sqlmodel import func, select

from kernel.errors import Retryable
from kernel.faults import InjectedFault
from kernel.records import RunRow
from memory_service import archive
from memory_service.cutoffs import Cutoffs, shipped_pairs
from memory_service.embed.hash import HashEmbedder
from memory_service.embed.port import Vector
from memory_service.tables import EmbedSpaceRow, MemoryRow
from tests.integration.memory_service.world import World, end_run, finding, restart, world
from tests.support.fault_forgetting import forget_on_purpose
from tests.support.fault_teaching import ANSWER, judge, teach, teaching_problems

RUN = "run-1"
FACT, WRONG = "the pool of checkout holds two connections", "the moon is made of checkout pools"


class _Stumbling(HashEmbedder):
    """An embedder that is away once, when it is asked about the first fact."""

    def __init__(self, folder: Path) -> None:
        self._stumbled = folder / "stumbled"

    def passages(self, texts: list[str]) -> list[Vector]:
        if FACT in texts and not self._stumbled.exists():
            self._stumbled.touch()
            raise Retryable("the embedder is away")
        return super().passages(texts)


def run_memory(folder: Path, _redis_url: str, _worker: str) -> None:
    """Learn, cite, strengthen, forget, look again and decay; said again where a fault cut it, as the queue does."""
    for _ in range(3):
        try:
            with world(folder, embedder=_Stumbling(folder)) as memory:
                _everything(memory, folder)
        except (InjectedFault, Retryable):
            continue  # the doorbell is rung again
        return
    raise AssertionError("it was cut more often than it was struck")


def _everything(memory: World, folder: Path) -> None:
    with memory.database.reading() as session:
        known = session.get(RunRow, RUN) is not None
    if not known:
        end_run(memory, RUN, findings=[finding()], actions=[restart()], answer=ANSWER)
    memory.memory.learn(RUN)
    teach(memory, folder, RUN)
    judge(memory)
    fact, wrong = memory.remember(FACT), memory.remember(WRONG)
    memory.store.cite("default", [fact], cited_by=RUN, at=memory.now)
    memory.memory.reinforce()
    memory.memory.forget({"namespace": "default", "id": wrong, "by": "ann"})
    forget_on_purpose(memory, RUN)
    memory.store.look_again([(1, 1)], memory.now)
    _calibrate(memory)
    memory.index.delete([fact])
    memory.memory.catch_up()
    _tend(memory)
    memory.pass_days(400)
    memory.spaces.clear()
    memory.memory.decay()


def _calibrate(memory: World) -> None:
    with memory.database.reading() as session:
        space = session.exec(select(EmbedSpaceRow.id).where(EmbedSpaceRow.state == "current")).one()
    few = shipped_pairs()[::2]
    Cutoffs(memory.database, space, HashEmbedder(), pairs=few).calibrate({})


def _tend(memory: World) -> None:
    """Have the doctor mend the archive, and build the index anew beside the old one."""
    with memory.database.writing("test") as session:
        archive.keep(session, [1])
    memory.doctor.examine(repair=True)
    if memory.spaces.standing()["shadow"] is None:
        memory.spaces.rebuild()
    memory.spaces.build()
    memory.serve()


def memory_problems(folder: Path, _redis: Any) -> list[str]:
    """Return what is wrong with the memory after all: each thing is known once, and the index agrees with SQL."""
    with world(folder) as memory:
        memory.memory.relay()
        memory.relay.reconcile()
        memory.relay.drain()
        problems = [f"the index differs: {memory.relay.reconcile()}"] if memory.drift() else []
        with memory.database.reading() as session:
            twice = session.exec(
                select(MemoryRow.text)
                .where(MemoryRow.text != "")
                .group_by(MemoryRow.text)
                .having(func.count() > 1)
            ).all()
            texts = session.exec(select(MemoryRow.text)).all()
        problems += teaching_problems(list(texts))
    problems += [f"known twice: {text}" for text in twice]
    return problems + [f"not forgotten: {text}" for text in texts if text == WRONG]
