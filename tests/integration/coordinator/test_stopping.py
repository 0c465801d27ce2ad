"""What a stop says, and what it keeps from beginning: real rows and Redis, workers played by the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from agents.runtime.approvals import ApprovalPolicy
from agents.runtime.spec import AgentSpec, CallRequest
from agents.runtime.tools import Tool, ToolContext, tool
from coordinator.chronicle import chronicle
from coordinator.cli.chronicle_view import part_line
from coordinator.stopping import EffectCall, StoppedPart
from kernel.contracts import Effect
from kernel.errors import Correctable, Refused
from kernel.ledgers import QuestionRow
from kernel.records import AssignmentRow, AuditRow
from tests.support.little_desk import Desk, counter, make_settings, script, spec

pytestmark = pytest.mark.integration

THREE = """[
  {key: job, agent: worker, goal: do it},
  {key: ask, agent: asker, goal: ask first},
  {key: late, agent: worker, goal: come last, needs: [job]},
]"""
ONE = "[{key: job, agent: worker, goal: do it}]"
Make = Callable[..., Any]


@pytest.fixture
def desk(tmp_path: Path, redis_url: str) -> Make:
    @asynccontextmanager
    async def make(*agents: AgentSpec, assignments: str = ONE, **fields: Any) -> AsyncIterator[Desk]:
        made = Desk(make_settings(tmp_path, redis_url, assignments=assignments, **fields), list(agents))
        try:
            yield made
        finally:
            await made.close()

    return make


class Gate:
    """A tool that says when it is inside and ends when it is let go."""

    def __init__(self, effect: Effect = Effect.probe) -> None:
        self.inside, self.go = asyncio.Event(), asyncio.Event()

        @tool(effect=effect, timeout=30)
        async def endless(ctx: ToolContext) -> str:
            """Wait."""
            self.inside.set()
            await self.go.wait()
            return "went on"

        self.tool: Tool = replace(endless, risk="read")


def free(name: str, *turns: Any, tools: tuple[Tool, ...]) -> AgentSpec:
    return spec(name, script(*turns), *tools, policy=lambda _: ApprovalPolicy())


async def test_the_answer_names_every_part_and_every_effect_as_the_ledger_has_them(
    desk: Make, tmp_path: Path
) -> None:
    gate = Gate()
    worker = free(
        "worker",
        [CallRequest(tool="count")],
        [CallRequest(tool="endless")],
        "ok",
        tools=(counter(tmp_path), gate.tool),
    )
    asker = spec(
        "asker", script([CallRequest(tool="risky")], "ok"), counter(tmp_path, name="risky", risk="high")
    )
    async with desk(worker, asker, assignments=THREE) as d:
        await d.submit("run-1")
        await d.coordinator.advance("run-1")
        await d.workers[0].work("run-1:ask", lambda _line: None)
        listening = asyncio.create_task(d.control.listen(d.workers[0].stop))
        working = asyncio.create_task(d.workers[0].work("run-1:job", lambda _line: None))
        await gate.inside.wait()
        stopped = await d.decisions.cancel("run-1", by="ann")
        line = await asyncio.wait_for(working, timeout=30)
        await d.settle()
        listening.cancel()
        by_key = {part.key: part for part in stopped.parts}
        assert (by_key["late"].state, by_key["ask"].state, by_key["job"].state) == (
            "pending",
            "waiting",
            "running",
        )
        assert (by_key["job"].worker, by_key["job"].doing) == ("w1", "endless (job.2.1)")
        assert by_key["job"].since is not None
        assert by_key["ask"].doing == "risky (ask.1.1)"
        assert [(e.tool, e.happened) for e in stopped.effects] == [
            ("risky", "never made"),
            ("count", "done"),
            ("endless", "under way"),
        ]
        assert line == "cancelled by ann, 1 call unknown"
        report = d.report("run-1")
        assert (report.state, sorted((a.name, a.state) for a in report.actions)) == (
            "cancelled",
            [("count", "done"), ("endless", "unknown")],
        )
        with d.database.reading() as db:
            (said,) = db.exec(select(AuditRow).where(AuditRow.action == "run.cancel")).all()
            told = chronicle(db, "run-1")
        assert (said.actor, [EffectCall.model_validate(e) for e in said.detail["effects"]]) == (
            "ann",
            stopped.effects,
        )
        assert told.stop is not None
        assert (told.stop.by, told.stop.parts) == ("ann", stopped.parts)
        assert [(q.tool, q.state) for q in told.questions] == [("endless", "open")]


async def test_what_a_stop_found_not_begun_never_begins_though_the_worker_was_not_nudged(
    desk: Make, tmp_path: Path
) -> None:
    gate = Gate(Effect.read)
    turns = [CallRequest(tool="endless")], [CallRequest(tool="count")], "ok"
    async with desk(free("worker", *turns, tools=(gate.tool, counter(tmp_path)))) as d:
        await d.submit("run-1")
        await d.coordinator.advance("run-1")
        working = asyncio.create_task(d.workers[0].work("run-1:job", lambda _line: None))
        await gate.inside.wait()
        stopped = await d.decisions.cancel("run-1", by="ann")  # nobody listens: the nudge is lost
        assert stopped.effects == []
        gate.go.set()
        assert await asyncio.wait_for(working, timeout=30) == "cancelled by ann"
        await d.settle()
        assert not (tmp_path / "world.txt").exists()
        assert (d.report("run-1").state, d.report("run-1").reason) == ("cancelled", "cancelled by ann")


async def test_queued_work_never_starts_and_its_worker_says_so(desk: Make, tmp_path: Path) -> None:
    worker = free("worker", [CallRequest(tool="count")], "ok", tools=(counter(tmp_path),))
    async with desk(worker) as d:
        await d.submit("run-1")
        await d.coordinator.advance("run-1")
        stopped = await d.decisions.cancel("run-1", by="ann")  # no worker was ever up
        assert stopped.parts == [StoppedPart(key="job", agent="worker", state="queued")]
        await d.coordinator.advance("run-1")
        assert await d.workers[0].work("run-1:job", lambda _line: None) == "nothing to do: cancelled by ann"
        assert not (tmp_path / "world.txt").exists()


async def test_what_was_begun_and_handed_back_is_not_said_to_have_never_begun(desk: Make) -> None:
    async with desk(free("worker", "ok", tools=())) as d:
        await d.submit("run-1")
        await d.coordinator.advance("run-1")
        with d.database.writing("test") as db:  # as a worker leaves it that drains
            row = db.get_one(AssignmentRow, "run-1:job")
            row.fence, row.worker, row.reason = 1, "agents@w1", "drain"
            db.add(row)
        stopped = await d.decisions.cancel("run-1", by="ann")
        assert [part_line(part) for part in stopped.parts] == [
            "job (worker): waited to go on, begun on agents@w1; it never will"
        ]


async def test_a_wait_for_approval_is_cancelled_with_its_question(desk: Make, tmp_path: Path) -> None:
    worker = spec("worker", script([CallRequest(tool="count")], "ok"), counter(tmp_path, risk="high"))
    async with desk(worker) as d:
        await d.submit("run-1")
        await d.settle()
        await d.decisions.cancel("run-1", by="ann")
        await d.settle()
        assert d.report("run-1").state == "cancelled"
        with pytest.raises(Refused, match="its run was stopped") as late:
            await d.decisions.decide("run-1", "job.1.1", "approved", by="bob")
        assert late.value.why == "cancelled by ann"
        assert not (tmp_path / "world.txt").exists()


async def test_cancelling_again_says_who_did_and_an_ended_run_refuses(desk: Make) -> None:
    async with desk(free("worker", "ok", tools=())) as d:
        await d.submit("run-1")
        await d.decisions.cancel("run-1", by="ann")
        again = await d.decisions.cancel("run-1", by="bob")
        assert (again.again, again.reason) == (True, "cancelled by ann")
        await d.settle()
        with pytest.raises(Refused, match="has ended") as ended:
            await d.decisions.cancel("run-1", by="bob")
        assert ended.value.why == "it is cancelled: cancelled by ann"
        with pytest.raises(Correctable, match="there is no run"):
            await d.decisions.cancel("run-9", by="bob")


async def unknown_run(d: Desk) -> None:
    await d.submit("run-1")
    await d.settle()
    assert d.report("run-1").state == "succeeded"


def doubtful(effect: Effect = Effect.probe) -> Tool:
    from kernel.errors import Unknown

    @tool(effect=effect)
    async def doubt(ctx: ToolContext, what: str = "db-1") -> str:
        """Nobody knows."""
        raise Unknown("doubt ended without an answer", why="the line was cut")

    return replace(doubt, risk="read")


@pytest.mark.parametrize(("happened", "state"), [(True, "done"), (False, "failed")])
async def test_a_question_is_answered_once_after_the_end_and_the_report_keeps_saying_unknown(
    desk: Make, happened: bool, state: str
) -> None:
    from kernel.records import CallRow

    async with desk(free("worker", [CallRequest(tool="doubt")], "ok", tools=(doubtful(),))) as d:
        await unknown_run(d)
        before = d.run("run-1").report
        with pytest.raises(Correctable, match="needs a reason"):
            await d.decisions.resolve("run-1", "job.1.1", happened=happened, by="ann", reason=" ")
        with pytest.raises(Correctable, match="nobody asks") as unasked:
            await d.decisions.resolve("run-1", "job.9.9", happened=happened, by="ann", reason="x")
        assert "job.1.1" in unasked.value.why
        await d.decisions.resolve("run-1", "job.1.1", happened=happened, by="ann", reason="看了 db-1")
        with d.database.reading() as db:
            call, told = db.get_one(CallRow, "run-1:job.1.1"), chronicle(db, "run-1")
            said = db.exec(select(AuditRow).where(AuditRow.subject == call.id)).all()
        assert call.state == state
        assert "said by ann" in str(call.result)
        assert "看了 db-1" in str(call.result)
        assert (told.questions[0].answered_by, told.questions[0].reason) == ("ann", "看了 db-1")
        assert told.questions[0].known["arguments"] == {}
        assert [(row.actor, row.action) for row in said] == [("ann", f"question.{told.questions[0].state}")]
        with pytest.raises(Refused, match="already answered"):
            await d.decisions.resolve("run-1", "job.1.1", happened=not happened, by="bob", reason="no")
        assert d.run("run-1").report == before


async def test_two_people_answer_at_once_and_one_is_refused(desk: Make) -> None:
    async with desk(free("worker", [CallRequest(tool="doubt")], "ok", tools=(doubtful(),))) as d:
        await unknown_run(d)
        answers = await asyncio.gather(
            *(
                d.decisions.resolve("run-1", "job.1.1", happened=happened, by=by, reason="saw it")
                for happened, by in ((True, "ann"), (False, "bob"))
            ),
            return_exceptions=True,
        )
        assert {type(answer) for answer in answers} == {QuestionRow, Refused}


async def test_an_answer_reaches_the_next_turn_of_a_run_that_goes_on(desk: Make) -> None:
    from kernel.events import QuestionAnswered

    gate, seen = Gate(Effect.read), []

    def routine(view: Any) -> Any:
        seen.append([(call.tool, call.state.value, call.value) for call in view.calls("doubt")])
        return script([CallRequest(tool="doubt")], [CallRequest(tool="endless")], "ok")(view)

    agent = spec("worker", routine, doubtful(), gate.tool, policy=lambda _: ApprovalPolicy())
    async with desk(agent) as d:
        await d.submit("run-1")
        await d.coordinator.advance("run-1")
        working = asyncio.create_task(d.workers[0].work("run-1:job", lambda _line: None))
        await asyncio.wait_for(gate.inside.wait(), 30)
        await d.decisions.resolve("run-1", "job.1.1", happened=True, by="ann", reason="I looked")
        gate.go.set()
        assert await asyncio.wait_for(working, timeout=30) == "done"
        assert seen[1] == [("doubt", "unknown", None)]
        ((_, state, value),) = seen[2]
        assert (state, value["note"]) == ("done", "said by ann: it happened: I looked")
        logged = await d.events.read("run-1")
        told = [e.event for e in logged if isinstance(e.event, QuestionAnswered)]
        assert [(e.call_id, e.answer, e.by, e.reason) for e in told] == [
            ("run-1:job.1.1", "happened", "ann", "I looked")
        ]
