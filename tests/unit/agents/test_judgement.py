from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from agents.judgement import judged
from agents.runtime.evidence import strip
from agents.runtime.spec import AgentSpec, DoneCall, DoneTurn, Turn
from agents.runtime.tools import Resources
from kernel.artifacts import ArtifactStore
from kernel.contracts import MemoryHit, Outcome, Work
from kernel.database import Database
from kernel.errors import Retryable
from kernel.settings import Settings
from kernel.states import CallState

A, B, C = (f"{c * 8}-0000-4000-8000-000000000001" for c in "abc")
SPEC = AgentSpec(name="a", purpose="", prompt="", routine=lambda _: Turn(), tools=lambda _: [])
WORK = Work(
    run_id="r",
    assignment_id="r:a",
    agent="a",
    goal="g",
    request="why?",
    memories=[MemoryHit(id=A, text="the pool of checkout was empty")],
    user="ann",
)


class Memory:
    """A memory service that gives these verdicts, or is away."""

    def __init__(self, *verdicts: str, away: bool = False) -> None:
        self.verdicts, self.away = verdicts, away
        self.asked: list[dict[str, Any]] = []
        self.counted: dict[str, int] = {}

    async def ask(self, task: str, question: dict[str, Any], seconds: float) -> Any:
        assert (task, seconds) == ("memory.check", 2.0)
        self.asked.append(question)
        if self.away:
            raise Retryable(
                "memory.check gave no answer within 2 s", why="no worker took the question in time"
            )
        return [{"id": "x", "verdict": verdict, "why": f"it is {verdict}"} for verdict in self.verdicts]

    async def tally(self, name: str, counts: Mapping[str, int]) -> None:
        assert name == "citations"
        self.counted = dict(counts)


@pytest.fixture
def resources(tmp_path: Path) -> Any:
    def made(memory: Memory | None) -> Resources:
        return Resources(
            settings=Settings(data_dir=tmp_path),
            database=Database(f"sqlite:///{tmp_path / 'x.db'}"),
            artifacts=ArtifactStore(tmp_path / "artifacts", max_bytes=1),
            memory=memory.ask if memory else None,
            tally=memory.tally if memory else None,
        )

    return made


def answer(*ids: str) -> Outcome:
    return Outcome(answer=" ".join(f"The pool was empty before [mem:{id_}]." for id_ in ids))


async def test_what_the_memory_says_decides(resources: Any) -> None:
    memory = Memory("ok", "stale")
    told = Outcome(answer=f"The pool is empty as before [mem:{A}].\nIt was so for a week [mem:{A}].")
    kept, refused = await judged(SPEC, WORK, resources(memory), told)
    assert kept.answer == f"The pool is empty as before [mem:{A}].\nIt was so for a week ."
    assert kept.cited_memories == [A]
    assert refused == [f"memory {A!r} may not be cited: it is stale"]
    assert memory.counted == {"ok": 1, "stale": 1}
    [asked] = memory.asked
    assert (asked["namespace"], asked["user"], asked["served"]) == ("default", "ann", [A])
    assert [c["sentence"] for c in asked["citations"]] == [
        "The pool is empty as before .",
        "It was so for a week .",
    ]


async def test_the_memory_cannot_allow_what_was_not_served(resources: Any) -> None:
    kept, refused = await judged(SPEC, WORK, resources(Memory("ok", "ok")), answer(A, B))
    assert kept.cited_memories == [A]
    assert refused == [f"memory {B!r} may not be cited: it was not served to this run"]


async def test_with_the_memory_away_the_local_part_holds_and_the_outcome_says_so(resources: Any) -> None:
    memory = Memory(away=True)
    kept, refused = await judged(SPEC, WORK, resources(memory), answer(A, B))
    assert (kept.cited_memories, len(refused)) == ([A], 1)
    assert memory.counted == {"unchecked": 1, "unknown": 1}
    assert [(n.what, n.why) for n in kept.not_done] == [
        ("check of cited memories", "the memory did not answer in time: whether they still hold is not known")
    ]
    assert [n.why for n in strip(kept, refused).not_done[1:]] == refused


async def test_an_answer_without_a_citation_asks_nobody(resources: Any) -> None:
    memory = Memory("ok")
    kept, refused = await judged(SPEC, WORK, resources(memory), Outcome(answer="quiet"))
    assert (kept.answer, refused, memory.asked) == ("quiet", [], [])


@pytest.mark.parametrize("verdicts", [(), ("stale",)])
async def test_a_short_answer_of_the_memory_leaves_the_rest_unchecked(
    resources: Any, verdicts: tuple[str, ...]
) -> None:
    memory = Memory(*verdicts)
    kept, _ = await judged(SPEC, WORK, resources(memory), answer(A, A))
    assert kept.not_done[0].what == "check of cited memories"
    assert memory.counted["unchecked"] == 2 - len(verdicts)


async def test_more_citations_than_an_answer_has_are_refused(resources: Any) -> None:
    memory = Memory(*["ok"] * 64)
    kept, refused = await judged(SPEC, WORK, resources(memory), answer(*[A] * 70))
    assert len(memory.asked[0]["citations"]) == 64
    assert kept.answer.count(A) == 64
    assert refused == [f"memory {A!r} may not be cited: an answer cites 64 times at most"]


async def test_without_any_memory_service_what_was_served_may_be_cited(resources: Any) -> None:
    kept, refused = await judged(SPEC, WORK, resources(None), answer(A, B))
    assert (kept.cited_memories, len(refused), kept.not_done) == ([A], 1, [])


async def test_what_a_recall_brought_was_served_and_a_text_that_was_cut_is_compared_by_no_hash(
    resources: Any,
) -> None:
    memory = Memory("ok", "ok")
    found = [
        {"id": B, "text": "the pool was empty on Sunday"},
        {"id": C, "text": "the pool was…", "cut": True},
    ]
    call = DoneCall(id="c", tool="recall", state=CallState.done, value={"memories": found})
    turns = [DoneTurn(number=1, calls=[call])]
    kept, refused = await judged(SPEC, WORK, resources(memory), answer(B, C), turns)
    assert (kept.cited_memories, refused) == ([B, C], [])
    [asked] = memory.asked
    assert asked["served"] == [A, B, C]
    assert [bool(c["text_hash"]) for c in asked["citations"]] == [True, False]
