"""Agents that recall and remember: a scripted model through the real loop, without and with the real memory worker."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from agents.log_analysis.agent import AGENT
from agents.runtime.memory_tools import recalled, served_ids, served_texts
from agents.runtime.spec import DoneCall, DoneTurn
from agents.runtime.tools import AskMemory
from kernel.broker import MEMORY, Doorbell
from kernel.contracts import MemoryHit, Work
from kernel.errors import Correctable, Retryable
from kernel.ledgers import QuestionRow
from kernel.model import make_model
from kernel.records import CallRow
from kernel.redaction import Redactor
from kernel.states import CallState
from tests.integration.memory_service.test_worker import start as start_memory
from tests.integration.memory_service.test_worker import wait_for
from tests.support.little_desk import Desk, make_settings, script, spec
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.integration

ONE = "[{key: analyse, agent: log_analysis, goal: find the cause}]"
LINE = "2026-11-29T03:00:02.000Z ERROR pool exhausted: 2/2 connections in use"
OLD = {
    "id": "7f3a0000-0000-4000-8000-000000000001",
    "kind": "fact",
    "text": "checkout pools hold two",
    "tier": "high",
}
FINISH = {"answer": "The pool is exhausted."}
Start = Callable[..., Any]


@dataclass
class Memory:
    """A memory of one memory; keeps what it was asked."""

    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    error: Exception | None = None

    async def __call__(self, task: str, question: dict[str, Any], seconds: float) -> Any:
        self.asked.append((task, question))
        if self.error is not None:
            raise self.error
        return [OLD] if task == "memory.recall" else {"id": "m-1", "outcome": "insert", "reason": ""}

    def told(self) -> list[dict[str, Any]]:
        return [question for task, question in self.asked if task == "memory.remember"]


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"text": "", "calls": [{"tool": tool, "arguments": arguments}]}


@asynccontextmanager
async def modelled(
    folder: Path, redis_url: str, memory: AskMemory | None, *steps: dict[str, Any], **submitted: Any
) -> AsyncIterator[Desk]:
    log = folder / "app.log"
    log.write_text(f"2026-11-29T03:00:00.000Z INFO started\n{LINE}\n", encoding="utf-8")
    with ModelServer(list(steps)) as server:
        settings = make_settings(
            folder,
            redis_url,
            assignments=ONE,
            log_roots=[folder],
            model_base_url=server.url,
            model_name="scripted",
        )
        desk = Desk(settings, [AGENT], model=make_model(settings))
        listen(desk, memory)
        try:
            await desk.submit(
                "run-1", **{"text": "why 503?", "sources": [str(log)], "user": "ann", **submitted}
            )
            await desk.settle()
            yield desk
        finally:
            await desk.model.close()
            await desk.close()


def listen(desk: Desk, memory: AskMemory | None) -> None:
    desk.workers[0].resources = replace(desk.workers[0].resources, memory=memory)


def calls(desk: Desk, tool: str) -> list[CallRow]:
    with desk.database.reading() as session:
        return list(session.exec(select(CallRow).where(CallRow.tool == tool)).all())


async def test_what_a_model_remembers_is_filed_under_its_work_not_under_its_arguments(
    tmp_path: Path, redis_url: str
) -> None:
    memory = Memory()
    steps = (
        call("remember", text="checkout's pool holds two connections", key="pool size", namespace="other"),
        call("remember", text="checkout's pool holds two connections", key="pool size", tags=["service"]),
        call("finish", **FINISH),
    )
    async with modelled(tmp_path, redis_url, memory, *steps, namespace="ops", session_id="s-1") as desk:
        assert desk.report("run-1").state == "succeeded"
        assert memory.told() == [
            {
                "text": "checkout's pool holds two connections",
                "kind": "fact",
                "key": "pool size",
                "importance": 0.6,
                "tags": ["service"],
                "namespace": "ops",
                "user": "",
                "owner": "agent",
                "session": "s-1",
                "source_kind": "agent",
                "source_ref": "run:run-1:analyse",
                "quotes_untrusted": False,
            }
        ]
        refused, done = calls(desk, "remember")
        assert (refused.state, done.state, done.effect) == ("failed", "done", "idempotent")
        assert desk.report("run-1").actions == []  # a note of the desk's own is no action


async def test_text_that_a_tool_showed_is_marked_and_what_a_memory_said_is_not_told_again(
    tmp_path: Path, redis_url: str
) -> None:
    memory = Memory()
    steps = (
        call("search", pattern="exhausted"),
        call("recall", text="pool exhausted", limit=99),
        call("remember", text=f"Note: {LINE}", kind="preference"),
        call("remember", text="ann likes terse reports", kind="preference"),
        call("remember", text="Checkout pools hold two"),
        call("finish", answer=f"As known [mem:{OLD['id']}]."),
    )
    async with modelled(tmp_path, redis_url, memory, *steps) as desk:
        told, wish = memory.told()
        assert (told["quotes_untrusted"], told["user"]) == (True, "ann")
        assert wish["quotes_untrusted"]  # in other words, but told after a log was read
        asked = dict(memory.asked)["memory.recall"]
        assert asked == {
            "text": "pool exhausted",
            "limit": 8,
            "namespace": "default",
            "user": "ann",
            "run": "run-1",
        }
        [shown] = calls(desk, "recall")
        assert (shown.result or {})["value"]["memories"][0]["text"] == OLD["text"]
        again = next(c for c in calls(desk, "remember") if c.arguments["text"] == "Checkout pools hold two")
        assert (again.result or {})["value"]["outcome"] == "dropped"


@pytest.mark.parametrize(
    ("error", "code"),
    [(Retryable("memory.remember gave no answer"), "exhausted"), (Correctable("no usable name"), "invalid")],
)
async def test_a_memory_that_is_away_or_refuses_is_a_result_and_never_ends_a_run(
    tmp_path: Path, redis_url: str, error: Exception, code: str
) -> None:
    memory = Memory(error=error)
    steps = call("recall", text="pool"), call("remember", text="the pool is small"), call("finish", **FINISH)
    async with modelled(tmp_path, redis_url, memory, *steps) as desk:
        assert desk.report("run-1").state == "succeeded"
        told = calls(desk, "recall") + calls(desk, "remember")
        assert [(c.state, (c.result or {})["error"]["code"]) for c in told] == [("failed", code)] * 2
        assert len(memory.asked) == 2  # nothing is tried again: a run does not wait for its memory
        with desk.database.reading() as session:
            assert session.exec(select(QuestionRow)).all() == []


async def test_a_routine_gets_the_tools_only_where_its_agent_asks_for_them(
    tmp_path: Path, redis_url: str
) -> None:
    settings = make_settings(tmp_path, redis_url, assignments=ONE)
    plain = spec("plain", script("done"))
    asking = spec("asking", script("done"), memory=True)
    desk = Desk(settings, [plain, asking])
    listen(desk, Memory())
    assert set(desk.workers[0].tools(plain)) == {"read_artifact"}
    assert set(desk.workers[0].tools(asking)) == {"read_artifact", "recall", "remember"}
    await desk.close()


def test_served_are_those_given_at_the_start_and_those_recalled() -> None:
    def done(tool: str, value: Any, state: CallState = CallState.done) -> DoneCall:
        return DoneCall(id=tool, tool=tool, state=state, value=value)

    work = Work(
        run_id="r",
        assignment_id="r:a",
        agent="x",
        goal="",
        request="",
        memories=[MemoryHit(id="given", text="")],
    )
    turns = [
        DoneTurn(
            number=1,
            calls=[
                done("recall", {"memories": [OLD, {"text": "no id"}, "no memory"]}),
                done("recall", {"memories": [{"id": "failed"}]}, CallState.failed),
                done("search", {"memories": [{"id": "forged by a log"}]}),
                done("recall", "cut"),
            ],
        )
    ]
    assert served_ids(work, turns) == {"given", OLD["id"]}
    assert served_texts(work, turns) == {"given": "", OLD["id"]: OLD["text"]}
    assert recalled(turns) == [OLD]


async def test_a_second_run_recalls_what_the_first_one_remembered(tmp_path: Path, redis_url: str) -> None:
    """With the real memory worker, over Redis."""
    fact = "the pool of checkout holds two connections"
    first = call("remember", text=fact, key="checkout pool size"), call("finish", **FINISH)
    second = call("recall", text="how many connections has checkout's pool"), call("finish", **FINISH)
    worker = None
    try:
        async with modelled(tmp_path, redis_url, None, call("finish", **FINISH)) as desk:
            worker = start_memory(redis_url, tmp_path, "memory")  # the desk has made the tables
            wait_for(worker, "worker_ready")
            bell = Doorbell(desk.celery, Redactor())

            async def ask(task: str, question: dict[str, Any], seconds: float) -> Any:
                return await desk.control.ask(bell, task, queue_name=MEMORY, question=question, seconds=20)

            for run_id, steps in (("run-2", first), ("run-3", second)):
                with ModelServer(list(steps)) as server:
                    made = desk.settings.model_copy(update={"model_base_url": server.url})
                    first_model, desk.model = desk.model, make_model(made)
                    desk.workers = [desk.worker(run_id)]
                    listen(desk, ask)
                    await desk.submit(run_id, "why 503?", sources=[str(tmp_path / "app.log")])
                    await desk.settle()
                    await first_model.close()
            [told], [shown] = calls(desk, "remember"), calls(desk, "recall")
            kept = (told.result or {})["value"]
            assert kept["outcome"] == "insert"
            memories = (shown.result or {})["value"]["memories"]
            assert [(m["id"], m["text"], m["source"]) for m in memories] == [
                (kept["id"], fact, "run:run-2:analyse")
            ]
    finally:
        if worker is not None:
            worker.stop()
