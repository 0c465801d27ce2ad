"""The runtime on real SQLite and Redis: journal, ledger, gate, take-over, stop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select, update

from agents.runtime.spec import AgentSpec, CallRequest
from agents.runtime.tools import Prepared, Reconciled, Tool, ToolContext, tool
from kernel.clock import now
from kernel.contracts import Effect
from kernel.errors import Refused, Retryable
from kernel.records import AssignmentRow, CallRow, TurnRow
from tests.support.little_desk import Desk, counter, make_settings, script, spec

pytestmark = pytest.mark.integration

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


def world(folder: Path) -> list[str]:
    path = folder / "world.txt"
    return path.read_text().splitlines() if path.exists() else []


def calls(desk: Desk) -> list[CallRow]:
    with desk.database.reading() as session:
        return list(session.exec(select(CallRow).order_by(col(CallRow.id))).all())


async def test_a_run_goes_from_request_to_report(desk: Make, tmp_path: Path) -> None:
    agent = spec("worker", script([CallRequest(tool="count")], "counted"), counter(tmp_path))
    async with desk(agent) as d:
        await d.submit("run-1")
        await d.settle()
        report = d.report("run-1")
        assert (report.state, report.answer, report.usage.calls) == ("succeeded", "counted", 1)
        assert len(world(tmp_path)) == 1
        assert [n.what for n in report.not_done] == ["recall of memories", "standing preferences"]
        assert ("memory.learn", "run-1") not in d.rung
        result = d.celery.AsyncResult("run-1")
        assert result.get(timeout=30)["answer"] == "counted"


async def test_submitting_twice_changes_nothing(desk: Make, tmp_path: Path) -> None:
    agent = spec("worker", script([CallRequest(tool="count")], "counted"), counter(tmp_path))
    async with desk(agent) as d:
        await d.submit("run-1")
        await d.submit("run-1", text="something else")
        await d.settle()
        assert len(world(tmp_path)) == 1
        assert d.report("run-1").request == "do it"


async def test_independent_assignments_run_side_by_side_and_one_failure_keeps_the_others(
    desk: Make, tmp_path: Path
) -> None:
    met = asyncio.Barrier(3)

    @tool(timeout=60)
    async def meet(ctx: ToolContext, boom: bool = False) -> str:
        """Meet the two others: returns only if all three run at the same time."""
        async with asyncio.timeout(50):
            await met.wait()
        if boom:
            raise Refused("boom")
        return "met"

    def routine(view: Any) -> Any:
        from agents.runtime.spec import Turn
        from kernel.contracts import Outcome
        from kernel.errors import Fatal

        if not view.turns:
            return Turn(calls=[CallRequest(tool="meet")])
        if view.work.goal == "boom":
            raise Fatal("this part is broken")
        return Turn(outcome=Outcome(answer=f"{view.work.goal} {view.turns[0].calls[0].value}"))

    three = "[{key: a, agent: worker, goal: a}, {key: b, agent: worker, goal: b}, {key: c, agent: worker, goal: boom}]"
    async with desk(spec("worker", routine, meet), assignments=three) as d:
        await d.submit("run-1")
        await d.settle()
        report = d.report("run-1")
        assert report.state == "succeeded"
        assert report.answer.split("\n\n") == ["a met", "b met"]
        assert [(a.key, a.state) for a in report.assignments] == [
            ("a", "done"),
            ("b", "done"),
            ("c", "failed"),
        ]
        assert any("this part is broken" in n.why for n in report.not_done)


async def test_bad_arguments_and_unknown_tools_go_back_as_results(desk: Make, tmp_path: Path) -> None:
    bad = [CallRequest(tool="count", arguments={"nope": 1}), CallRequest(tool="missing")]
    async with desk(spec("worker", script(bad, "ok"), counter(tmp_path))) as d:
        await d.submit("run-1")
        await d.settle()
        first, second = calls(d)
        assert first.result is not None
        assert second.result is not None
        assert "'nope' was unexpected" in first.result["error"]["message"]
        assert "Use one of: count, read_artifact" in second.result["error"]["suggestion"]
        assert world(tmp_path) == []


async def test_a_network_error_is_retried_and_a_time_out_is_a_result(desk: Make) -> None:
    tries = []

    @tool()
    async def flaky(ctx: ToolContext) -> str:
        """Fail twice."""
        tries.append(1)
        if len(tries) < 3:
            raise Retryable("no route")
        return "third time"

    @tool(timeout=0.05)
    async def slow(ctx: ToolContext) -> str:
        """Never end."""
        await asyncio.Event().wait()
        return ""

    routine = script([CallRequest(tool="flaky"), CallRequest(tool="slow")], "ok")
    async with desk(spec("worker", routine, flaky, slow)) as d:
        await d.submit("run-1")
        await d.settle()
        first, second = calls(d)
        assert first.result == {"value": "third time"}
        assert (second.state, second.result and second.result["error"]["code"]) == ("failed", "exhausted")


async def test_a_tools_bug_is_a_result(desk: Make) -> None:
    @tool()
    async def broken(ctx: ToolContext) -> str:
        """Break."""
        raise ZeroDivisionError

    async with desk(spec("worker", script([CallRequest(tool="broken")], "ok"), broken)) as d:
        await d.submit("run-1")
        await d.settle()
        (call,) = calls(d)
        assert call.result is not None
        assert "ZeroDivisionError" in call.result["error"]["message"]
        assert d.report("run-1").state == "succeeded"


async def test_a_large_result_becomes_an_artifact_that_can_be_searched(desk: Make) -> None:
    @tool()
    async def big(ctx: ToolContext) -> str:
        """Return 100 KB with a needle in it."""
        return "hay " * 20_000 + "needle-42" + " hay" * 5_000

    def routine(view: Any) -> Any:
        from agents.runtime.spec import Turn
        from kernel.contracts import Outcome

        if not view.turns:
            return Turn(calls=[CallRequest(tool="big")])
        if len(view.turns) == 1:
            artifact = view.turns[0].calls[0].value["artifact"]
            return Turn(
                calls=[
                    CallRequest(
                        tool="read_artifact", arguments={"artifact": artifact, "pattern": r"needle-\d+"}
                    )
                ]
            )
        return Turn(outcome=Outcome(answer=str(view.turns[1].calls[0].value["total"])))

    async with desk(spec("worker", routine, big)) as d:
        await d.submit("run-1")
        await d.settle()
        assert d.report("run-1").answer == "1"
        first, _ = calls(d)
        assert first.result is not None
        assert first.result["value"]["bytes"] > 100_000


async def test_an_approval_waits_survives_its_worker_and_is_used_once(desk: Make, tmp_path: Path) -> None:
    agent = spec("worker", script([CallRequest(tool="count")], "ok"), counter(tmp_path, risk="high"))
    async with desk(agent) as d:
        await d.submit("run-1")
        await d.settle()
        assert (d.run("run-1").state, world(tmp_path)) == ("waiting", [])
        await d.decisions.decide("run-1", "job.1.1", "approved", by="ann")
        with pytest.raises(Refused, match="already approved"):
            await d.decisions.decide("run-1", "job.1.1", "denied", by="bob")
        await d.settle(d.worker("w2"))
        assert (d.report("run-1").state, len(world(tmp_path))) == ("succeeded", 1)


async def test_a_denied_call_is_a_result_and_does_not_happen(desk: Make, tmp_path: Path) -> None:
    agent = spec("worker", script([CallRequest(tool="count")], "ok"), counter(tmp_path, risk="high"))
    async with desk(agent) as d:
        await d.submit("run-1")
        await d.settle()
        await d.decisions.decide("run-1", "job.1.1", "denied", by="ann", reason="not tonight")
        await d.settle()
        (call,) = calls(d)
        assert (call.state, world(tmp_path)) == ("denied", [])
        assert call.result is not None
        assert "not tonight" in call.result["error"]["message"]


@pytest.mark.parametrize("order", [("a", "b"), ("b", "a")])
async def test_a_mixed_batch_runs_each_as_decided(desk: Make, tmp_path: Path, order: tuple[str, str]) -> None:
    batch = [
        CallRequest(tool="free", arguments={"what": "free"}),
        CallRequest(tool="risky", arguments={"what": "a"}),
        CallRequest(tool="risky", arguments={"what": "b"}),
    ]
    tools = counter(tmp_path, name="free"), counter(tmp_path, name="risky", risk="high")
    async with desk(spec("worker", script(batch, "ok"), *tools)) as d:
        await d.submit("run-1")
        await d.settle()
        assert [line.split()[0] for line in world(tmp_path)] == ["free"]
        decisions = {"a": ("job.1.2", "approved"), "b": ("job.1.3", "denied")}
        for name in order:
            await d.decisions.decide("run-1", decisions[name][0], decisions[name][1], by="ann")
            await d.settle()
        assert sorted(line.split()[0] for line in world(tmp_path)) == ["a", "free"]
        assert [c.state for c in calls(d)] == ["done", "done", "denied"]


async def test_an_approval_for_something_that_changed_is_refused(desk: Make, tmp_path: Path) -> None:
    from dataclasses import replace

    target = ["checkout-1"]

    async def prepare(ctx: ToolContext, arguments: dict[str, Any]) -> Prepared:
        return Prepared(argv=["restart", *target], target=target[0], risk="high")

    risky = replace(counter(tmp_path, risk="high"), prepare=prepare)
    async with desk(spec("worker", script([CallRequest(tool="count")], "ok"), risky)) as d:
        await d.submit("run-1")
        await d.settle()
        target[0] = "checkout-2"
        await d.decisions.decide("run-1", "job.1.1", "approved", by="ann")
        await d.settle()
        (call,) = calls(d)
        assert (call.state, world(tmp_path)) == ("denied", [])
        assert call.result is not None
        assert "changed since a person looked" in call.result["error"]["message"]


async def test_an_approval_that_nobody_gives_expires_as_no(desk: Make, tmp_path: Path) -> None:
    agent = spec("worker", script([CallRequest(tool="count")], "ok"), counter(tmp_path, risk="high"))
    async with desk(agent, approval_ttl_seconds=0.01) as d:
        await d.submit("run-1")
        await d.settle()
        while not d.run("run-1").report:
            await d.reconciler.tick_once()
            await d.settle()
        assert (calls(d)[0].state, world(tmp_path)) == ("denied", [])


def _probe(folder: Path, *, happened: bool | None) -> Tool:
    from dataclasses import replace

    async def reconcile(ctx: ToolContext, arguments: dict[str, Any]) -> Reconciled:
        return Reconciled(happened=happened, value="seen in the world")

    return replace(counter(folder, effect=Effect.probe), reconcile=reconcile)


@pytest.mark.parametrize(
    ("effect", "happened", "state", "uses"),
    [
        (Effect.read, None, "done", 1),
        (Effect.idempotent, None, "done", 1),
        (Effect.keyed, None, "done", 1),
        (Effect.probe, True, "done", 0),
        (Effect.probe, False, "done", 1),
        (Effect.probe, None, "unknown", 0),
    ],
)
async def test_a_call_cut_by_a_dead_worker_follows_its_effect(
    desk: Make, tmp_path: Path, effect: Effect, happened: bool | None, state: str, uses: int
) -> None:
    made = _probe(tmp_path, happened=happened) if effect is Effect.probe else counter(tmp_path, effect=effect)
    async with desk(spec("worker", script([CallRequest(tool="count")], "ok"), made)) as d:
        await _die_in_the_call(d, effect)
        await d.reconciler.tick_once()
        await d.settle(d.worker("w2"))
        (call,) = calls(d)
        assert (call.state, len(world(tmp_path)), d.report("run-1").state) == (state, uses, "succeeded")
        assert d.report("run-1").assignments[0].attempts == 2


async def _die_in_the_call(d: Desk, effect: Effect) -> None:
    """Leave the rows as a worker does that dies between its claim in the ledger and its result."""
    from agents.runtime.journal import Journal
    from agents.runtime.spec import Turn
    from kernel.lease import claim
    from kernel.redaction import Redactor

    await d.submit("run-1")
    await d.coordinator.advance("run-1")
    d.rung.clear()
    row = claim(d.database, "run-1:job", worker="dead", seconds=0.0)
    assert row is not None
    journal = Journal(
        d.database,
        run_id="run-1",
        assignment_id=row.id,
        fence=row.fence,
        worker="dead",
        redactor=Redactor(),
        events=d.events,
    )
    await journal.commit_turn(Turn(calls=[CallRequest(tool="count")]), 1)
    await journal.begin("run-1:job.1.1", effect)


async def test_a_committed_turn_is_not_asked_again_and_a_finished_call_not_made_again(
    desk: Make, tmp_path: Path
) -> None:
    asked = []

    def routine(view: Any) -> Any:
        asked.append(len(view.turns))
        return script(
            [CallRequest(tool="count")], [CallRequest(tool="count", arguments={"what": "y"})], "ok"
        )(view)

    async with desk(spec("worker", routine, counter(tmp_path))) as d:
        await d.submit("run-1")
        await d.coordinator.advance("run-1")
        first = asyncio.create_task(d.worker("w1").work("run-1:job", lambda _line: None))
        await first
        with d.database.writing("test") as session:  # as if the worker had died after its last call
            session.execute(
                update(AssignmentRow).values(state="running", lease_until=0.0, outcome=None, ended_at=None)
            )
            last = session.exec(select(TurnRow).where(TurnRow.number == 3)).one()
            session.delete(last)
        await d.reconciler.tick_once()
        await d.settle(d.worker("w2"))
        assert asked == [0, 1, 2, 2]
        assert len(world(tmp_path)) == 2
        assert d.report("run-1").answer == "ok"


async def test_past_the_attempt_limit_the_assignment_fails_with_a_dead_letter(
    desk: Make, tmp_path: Path
) -> None:
    from kernel.lease import claim
    from kernel.records import DeadLetterRow

    async with desk(spec("worker", script("ok"), counter(tmp_path)), attempt_limit=2) as d:
        await d.submit("run-1")
        await d.coordinator.advance("run-1")
        for _ in range(2):
            d.rung.clear()
            assert claim(d.database, "run-1:job", worker="dead", seconds=0.0) is not None
            await d.reconciler.tick_once()
        await d.settle()
        report = d.report("run-1")
        assert (report.state, "died 2 times" in report.reason) == ("failed", True)
        with d.database.reading() as session:
            assert len(session.exec(select(DeadLetterRow)).all()) == 1


async def test_cancel_cuts_what_runs_and_says_what_had_happened(desk: Make, tmp_path: Path) -> None:
    inside = asyncio.Event()

    @tool(effect=Effect.probe, timeout=30)
    async def endless(ctx: ToolContext) -> str:
        """Never end."""
        inside.set()
        await asyncio.Event().wait()
        return ""

    from dataclasses import replace

    from agents.runtime.approvals import ApprovalPolicy

    routine = script([CallRequest(tool="count")], [CallRequest(tool="endless")], "ok")
    agent = spec(
        "worker", routine, counter(tmp_path), replace(endless, risk="read"), policy=lambda _: ApprovalPolicy()
    )
    async with desk(agent) as d:
        await d.submit("run-1")
        await d.coordinator.advance("run-1")
        worker = d.worker("w1")
        listening = asyncio.create_task(d.control.listen(worker.stop))
        working = asyncio.create_task(worker.work("run-1:job", lambda _line: None))
        await inside.wait()
        await d.decisions.cancel("run-1", by="ann")
        await asyncio.wait_for(working, timeout=30)
        await d.settle()
        listening.cancel()
        assert d.report("run-1").state == "cancelled"
        assert [c.state for c in calls(d)] == ["done", "unknown"]


async def test_a_loop_of_the_same_call_ends_with_a_partial_answer(desk: Make, tmp_path: Path) -> None:
    agent = spec("worker", script([CallRequest(tool="count")]), counter(tmp_path, effect=Effect.read))
    async with desk(agent) as d:
        await d.submit("run-1")
        await d.settle()
        report = d.report("run-1")
        assert report.usage.turns <= 8
        assert "the same call again and again" in report.not_done[0].why
        assert len(world(tmp_path)) <= 3


async def test_a_past_deadline_expires_the_run(desk: Make) -> None:
    @tool(timeout=30)
    async def endless(ctx: ToolContext) -> str:
        """Never end."""
        await asyncio.Event().wait()
        return ""

    async with desk(spec("worker", script([CallRequest(tool="endless")], "ok"), endless)) as d:
        await d.submit("run-1", deadline_seconds=0.3)
        while not d.run("run-1").report:
            await d.settle()
            await d.reconciler.tick_once()
        assert d.report("run-1").state == "expired"


async def test_a_wrong_request_ends_at_once_with_the_reason(desk: Make) -> None:
    async with desk(spec("worker", script("ok"))) as d:
        await d.submit("run-1", text=7)
        report = d.celery.AsyncResult("run-1").get(timeout=30)
        assert report["state"] == "failed"
        assert "text is int" in report["reason"]


async def test_an_agent_without_a_live_worker_fails_with_the_next_step(desk: Make, redis_url: str) -> None:
    lost = "[{key: job, agent: nobody, goal: do it}]"
    async with desk(spec("worker", script("ok")), assignments=lost) as d:
        await d.submit("run-1")
        await d.settle()
        assert d.run("run-1").state == "planning"  # its worker may still be starting
        from kernel.records import RunRow

        with d.database.writing("test") as session:
            session.execute(update(RunRow).values(created_at=now() - timedelta(minutes=1)))
        await d.reconciler.tick_once()
        await d.settle()
        assert "start one with: nightdesk worker nobody" in d.report("run-1").reason


async def test_two_coordinators_do_nothing_twice(desk: Make, tmp_path: Path) -> None:
    agent = spec("worker", script([CallRequest(tool="count")], "ok"), counter(tmp_path, effect=Effect.keyed))
    async with desk(agent) as d:
        await d.submit("run-1")
        await asyncio.gather(*(d.coordinator.advance("run-1") for _ in range(4)))
        await d.settle()
        await asyncio.gather(*(d.coordinator.advance("run-1") for _ in range(4)))
        assert len(world(tmp_path)) == 1
        assert d.report("run-1").state == "succeeded"


async def test_the_same_effect_twice_in_one_turn_happens_once(desk: Make, tmp_path: Path) -> None:
    twice = [
        CallRequest(tool="count"),
        CallRequest(tool="count"),
        CallRequest(tool="count", arguments={"what": "y"}),
    ]
    async with desk(spec("worker", script(twice, twice[:1], "ok"), counter(tmp_path))) as d:
        await d.submit("run-1")
        await d.settle()
        assert sorted(line.split()[0] for line in world(tmp_path)) == ["x", "y"]
        assert {(c.state, str(c.result)) for c in calls(d) if c.arguments == {}} == {
            ("done", "{'value': {'counted': 'x'}}")
        }


async def test_a_lost_bell_is_rung_again_and_a_full_queue_is_left_alone(desk: Make) -> None:
    async with desk(spec("worker", script("ok"))) as d:
        await d.submit("run-1")
        await d.coordinator.advance("run-1")
        d.rung.clear()
        await d.reconciler.tick_once()
        assert d.rung == [("agents.worker.work", "run-1:job")]
        d.rung.clear()
        await d.redis.lpush("agents.worker", "a bell")  # it is there; its worker is just busy
        d.reconciler.tick = timedelta(seconds=1)
        for seconds, rung in ((5, []), (20, [("agents.worker.work", "run-1:job")])):  # but not for ever
            with d.database.writing("test") as session:
                session.execute(update(AssignmentRow).values(rung_at=now() - timedelta(seconds=seconds)))
            await d.reconciler.tick_once()
            assert d.rung == rung


async def test_a_run_that_waits_for_a_person_is_not_rung_for(desk: Make, tmp_path: Path) -> None:
    agent = spec("worker", script([CallRequest(tool="count")], "ok"), counter(tmp_path, risk="high"))
    async with desk(agent) as d:
        await d.submit("run-1")
        await d.settle()
        await d.reconciler.tick_once()
        assert d.rung == []


async def test_a_run_that_nobody_advances_is_rung_for(desk: Make) -> None:
    async with desk(spec("worker", script("ok"))) as d:
        await d.submit("run-1")
        d.rung.clear()
        await d.reconciler.tick_once()
        assert d.rung == [("coordinator.advance", "run-1")]


async def test_cancel_before_any_worker_was_up_never_starts(desk: Make, tmp_path: Path) -> None:
    agent = spec("worker", script([CallRequest(tool="count")], "ok"), counter(tmp_path))
    async with desk(agent) as d:
        await d.submit("run-1")
        await d.coordinator.advance("run-1")
        await d.decisions.cancel("run-1", by="ann")
        await d.coordinator.advance("run-1")
        await d.workers[0].work("run-1:job", lambda _line: None)
        report = d.report("run-1")
        assert (report.state, report.reason, world(tmp_path)) == ("cancelled", "cancelled by ann", [])


async def test_a_cancelled_run_still_tells_the_effects_of_a_part_that_waited(
    desk: Make, tmp_path: Path
) -> None:
    routine = script([CallRequest(tool="free"), CallRequest(tool="risky")], "ok")
    tools = counter(tmp_path, name="free"), counter(tmp_path, name="risky", risk="high")
    async with desk(spec("worker", routine, *tools)) as d:
        await d.submit("run-1")
        await d.settle()
        await d.decisions.cancel("run-1", by="ann")
        await d.settle()
        report = d.report("run-1")
        assert (report.state, [(a.name, a.state) for a in report.actions]) == (
            "cancelled",
            [("free", "done")],
        )


async def test_a_drained_call_is_left_to_the_next_worker(desk: Make, tmp_path: Path) -> None:
    inside = asyncio.Event()
    stuck = [True]

    @tool(timeout=30)
    async def scan(ctx: ToolContext) -> str:
        """Scan; the first worker never ends."""
        inside.set()
        if stuck[0]:
            await asyncio.Event().wait()
        return "scanned"

    async with desk(spec("worker", script([CallRequest(tool="scan")], "ok"), scan), drain_seconds=0.05) as d:
        await d.submit("run-1")
        await d.coordinator.advance("run-1")
        working = asyncio.create_task(d.workers[0].work("run-1:job", lambda _line: None))
        await inside.wait()
        await d.workers[0].drain()
        await working
        stuck[0] = False
        assert calls(d)[0].state == "claimed"
        await d.reconciler.tick_once()
        await d.settle(d.worker("w2"))
        assert calls(d)[0].result == {"value": "scanned"}
        assert d.report("run-1").state == "succeeded"


async def test_a_decision_whose_bell_was_lost_is_seen_by_the_reconciler(desk: Make, tmp_path: Path) -> None:
    from kernel.records import ApprovalRow

    agent = spec("worker", script([CallRequest(tool="count")], "ok"), counter(tmp_path, risk="high"))
    async with desk(agent) as d:
        await d.submit("run-1")
        await d.settle()
        with d.database.writing("test") as session:  # as if whoever decided had died at once
            session.execute(update(ApprovalRow).values(state="approved", decided_by="ann"))
        await d.reconciler.tick_once()
        await d.settle()
        assert (d.report("run-1").state, len(world(tmp_path))) == ("succeeded", 1)


async def test_a_cancel_whose_bell_was_lost_is_seen_by_the_reconciler(desk: Make, tmp_path: Path) -> None:
    agent = spec("worker", script([CallRequest(tool="count")], "ok"), counter(tmp_path, risk="high"))
    async with desk(agent) as d:
        await d.submit("run-1")
        await d.settle()
        await d.decisions.cancel("run-1", by="ann")
        d.rung.clear()
        await d.reconciler.tick_once()
        await d.settle()
        assert d.report("run-1").state == "cancelled"


async def test_an_effect_that_cannot_be_looked_into_is_unknown_never_failed(
    desk: Make, tmp_path: Path
) -> None:
    async with desk(spec("worker", script([CallRequest(tool="count")], "ok"))) as d:  # its tool is gone
        await _die_in_the_call(d, Effect.probe)
        await d.reconciler.tick_once()
        await d.settle(d.worker("w2"))
        assert calls(d)[0].state == "unknown"


async def test_a_probe_that_fails_knows_nothing(desk: Make, tmp_path: Path) -> None:
    from dataclasses import replace

    async def reconcile(ctx: ToolContext, arguments: dict[str, Any]) -> Reconciled:
        raise Retryable("no route")

    made = replace(counter(tmp_path, effect=Effect.probe), reconcile=reconcile)
    async with desk(spec("worker", script([CallRequest(tool="count")], "ok"), made)) as d:
        await _die_in_the_call(d, Effect.probe)
        await d.reconciler.tick_once()
        await d.settle(d.worker("w2"))
        assert (calls(d)[0].state, world(tmp_path), d.report("run-1").state) == ("unknown", [], "succeeded")


async def test_a_bug_in_a_routine_fails_the_run_at_once_with_its_name(desk: Make) -> None:
    def routine(_view: Any) -> Any:
        raise ZeroDivisionError

    async with desk(spec("worker", routine)) as d:
        await d.submit("run-1")
        await d.coordinator.advance("run-1")
        with pytest.raises(ZeroDivisionError):  # the doorway logs it and tells `broke`
            await d.workers[0].work("run-1:job", lambda _line: None)
        await d.workers[0].broke("run-1:job", "a bug of Nightdesk: ZeroDivisionError")
        d.rung.append(("coordinator.advance", "run-1"))
        d.rung[:] = d.rung[-1:]
        await d.settle()
        assert "ZeroDivisionError" in d.report("run-1").reason


async def test_a_session_belongs_to_its_namespace(desk: Make) -> None:
    seen: list[list[str]] = []

    def routine(view: Any) -> Any:
        seen.append([turn.text for turn in view.work.session])
        return script("ok")(view)

    async with desk(spec("worker", routine)) as d:
        for run_id, namespace in (("run-1", "a"), ("run-2", "b"), ("run-3", "a")):
            await d.submit(run_id, f"question of {namespace}", session_id="s", namespace=namespace)
            await d.settle()
        assert seen == [[], [], ["question of a"]]


async def test_labels_are_redacted_at_the_door(desk: Make) -> None:
    async with desk(spec("worker", script("ok"))) as d:
        await d.submit("run-1", labels={"note": "password=Tr0ub4dor&3", "service": "checkout"})
        labels = d.run("run-1").request["labels"]
        assert "Tr0ub4dor" not in labels["note"]
        assert labels["service"] == "checkout"


async def test_an_accepted_request_is_never_answered_as_refused(desk: Make) -> None:
    async with desk(spec("worker", script("ok"))) as d:
        await d.submit("run-1")
        await d.coordinator.refuse("run-1", "the broker hiccuped after the row was there")
        await d.settle()
        assert d.celery.AsyncResult("run-1").get(timeout=30)["state"] == "succeeded"


async def test_a_long_thought_of_the_planner_is_not_taken_for_silence(desk: Make) -> None:
    async with desk(spec("worker", script("ok"))) as d:
        await d.submit("run-1")
        d.rung.clear()
        assert d.store.busy("run-1", 60)
        await d.reconciler.tick_once()
        assert d.rung == []


async def test_a_lone_surrogate_of_a_brain_is_stored_as_a_mark(desk: Make, tmp_path: Path) -> None:
    odd = [CallRequest(tool="count", arguments={"what": "a\ud800\x00b"})]
    async with desk(spec("worker", script(odd, "ok"), counter(tmp_path))) as d:
        await d.submit("run-1")
        await d.settle()
        assert calls(d)[0].arguments == {"what": "a��b"}
        assert d.report("run-1").state == "succeeded"


async def test_a_part_that_could_do_nothing_has_failed_and_its_answer_stands(desk: Make) -> None:
    from agents.runtime.spec import Turn
    from kernel.contracts import NotDone, Outcome

    nothing = Outcome(answer="No log was given.", not_done=[NotDone(what="x", why="no log")], achieved=False)
    async with desk(spec("worker", script(Turn(outcome=nothing)))) as d:
        await d.submit("run-1")
        await d.settle()
        report = d.report("run-1")
        assert (report.state, report.reason, report.answer) == ("failed", "job: no log", "No log was given.")


async def test_a_session_goes_on_with_the_sources_it_had(desk: Make) -> None:
    seen: list[list[str]] = []

    def routine(view: Any) -> Any:
        seen.append([source.name for source in view.work.sources])
        return script("ok")(view)

    async with desk(spec("worker", routine)) as d:
        await d.submit("run-1", session_id="s", sources=["/var/log/a.log"])
        await d.settle()
        await d.submit("run-2", "and the line before that?", session_id="s")
        await d.settle()
        assert seen == [["/var/log/a.log"], ["/var/log/a.log"]]


async def test_a_model_that_is_not_there_is_said(desk: Make) -> None:
    async with desk(spec("worker", script("ok"))) as d:
        await d.submit("run-1", brain="model")
        await d.settle()
        assert any("none is configured" in n.why for n in d.report("run-1").not_done)


async def test_a_deadline_is_said_though_no_coordinator_comes_to_it(desk: Make, tmp_path: Path) -> None:
    agent = spec("worker", script([CallRequest(tool="count")], "ok"), counter(tmp_path, risk="high"))
    async with desk(agent) as d:
        await d.submit("run-1", deadline_seconds=0.01)
        await d.coordinator.advance("run-1")
        d.rung.clear()  # its coordinator is behind with thousands of others
        while not d.run("run-1").stop:
            await d.reconciler.tick_once()
        assert (d.run("run-1").stop, d.run("run-1").stop_reason) == ("expired", "the deadline passed")
        await d.settle()
        assert d.report("run-1").state == "expired"
