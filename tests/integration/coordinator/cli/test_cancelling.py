"""`cancel`, `questions` and `resolve` as commands, beside a desk that is played in the test's own process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agents.runtime.approvals import ApprovalPolicy
from agents.runtime.spec import AgentSpec, CallRequest
from agents.runtime.tools import ToolContext, tool
from kernel.contracts import Effect
from kernel.errors import Unknown
from kernel.records import ApprovalRow
from tests.support.desk import Answer
from tests.support.desk import Desk as Commands
from tests.support.little_desk import Desk, counter, make_settings, script, spec

pytestmark = pytest.mark.integration

ONE = "[{key: job, agent: worker, goal: do it}]"
Make = Callable[..., Any]


class Played:
    """A little desk, and the commands of a person beside it."""

    def __init__(self, desk: Desk, folder: Path, url: str) -> None:
        self.desk = desk
        self.commands = Commands(folder, {"NIGHTDESK_REDIS_URL": url})

    async def run(self, *arguments: str) -> Answer:
        return await asyncio.to_thread(self.commands.run, *arguments)

    async def advance_once_stopped(self, run_id: str) -> None:
        """Play the coordinator that hears the bell of a stop."""
        while not self.desk.run(run_id).stop:
            await asyncio.sleep(0.02)  # between two looks at the row
        await self.desk.coordinator.advance(run_id)


@pytest.fixture
def play(tmp_path: Path, redis_url: str) -> Make:
    @asynccontextmanager
    async def make(agent: AgentSpec) -> AsyncIterator[Played]:
        made = Desk(make_settings(tmp_path, redis_url, assignments=ONE), [agent])
        try:
            yield Played(made, tmp_path, redis_url)
        finally:
            await made.close()

    return make


async def test_cancel_waits_for_the_end_and_says_what_had_happened(play: Make, tmp_path: Path) -> None:
    tools = counter(tmp_path, name="free"), counter(tmp_path, name="risky", risk="high")
    async with play(spec("worker", script([CallRequest(tool=t.name) for t in tools], "ok"), *tools)) as p:
        await p.desk.submit("run-1")
        await p.desk.settle()
        answer, _ = await asyncio.gather(p.run("cancel", "run-1"), p.advance_once_stopped("run-1"))
        assert answer.code == 0, answer.err
        lines = answer.out.splitlines()
        assert lines[0].startswith("run run-1: cancelled by ")
        assert lines[1] == "  job (worker): waited for a person over risky (job.1.2)"
        assert lines[3].startswith("  free (call job.1.1): done at 20")
        assert lines[4] == "  risky (call job.1.2): never made"
        assert lines[5].startswith("stopped in ")
        again = await p.run("cancel", "run-1")
        assert (again.code, "has ended" in again.err) == (1, True)
        shown = (await p.run("show", "run-1")).out
        assert "What happened\n  cancelled by " in shown
        assert "waited for a person over risky (job.1.2)" in shown


async def test_cancel_as_json_is_one_document_with_the_final_truth(play: Make, tmp_path: Path) -> None:
    tools = (counter(tmp_path, name="free"), counter(tmp_path, name="risky", risk="high"))
    async with play(spec("worker", script([CallRequest(tool=t.name) for t in tools], "ok"), *tools)) as p:
        await p.desk.submit("run-1")
        await p.desk.settle()
        answer, _ = await asyncio.gather(p.run("cancel", "run-1", "--json"), p.advance_once_stopped("run-1"))
        told = answer.json
        assert (answer.code, told["run_id"], told["ended"], told["state"]) == (0, "run-1", True, "cancelled")
        assert [(part["key"], part["state"]) for part in told["stopped"]] == [("job", "waiting")]
        assert [(e["tool"], e["happened"]) for e in told["effects"]] == [
            ("free", "done"),
            ("risky", "never made"),
        ]


async def test_where_nobody_stops_it_in_time_cancel_says_so_and_how_to_look(
    play: Make, tmp_path: Path
) -> None:
    async with play(spec("worker", script("ok"))) as p:
        await p.desk.submit("run-1")
        first = await p.run("cancel", "run-1")
        assert (first.code, "no call that changes the world was made" in first.out) == (0, True)
        assert "told to stop, and has not ended after 5 s; look with: nightdesk show run-1" in first.out
        second = await p.run("cancel", "run-1", "--json")
        assert (second.code, second.json["again"], second.json["ended"]) == (0, True, False)


async def test_a_question_is_listed_answered_and_shown_beside_the_report(play: Make) -> None:
    @tool(effect=Effect.probe)
    async def doubt(ctx: ToolContext, target: str = "") -> str:
        """Nobody knows."""
        raise Unknown("doubt ended without an answer", why="the line was cut")

    routine = script([CallRequest(tool="doubt", arguments={"target": "数据库-1"})], "ok")
    agent = spec("worker", routine, replace(doubt, risk="read"), policy=lambda _: ApprovalPolicy())
    async with play(agent) as p:
        assert (await p.run("questions")).out.strip() == "no open questions"
        await p.desk.submit("run-1")
        await p.desk.settle()
        listed = (await p.run("questions")).out
        for known in (
            "run run-1: nobody knows whether doubt (call job.1.1) happened",
            "target='数据库-1'",
            "on w1",
        ):
            assert known in listed
        assert "the line was cut" in listed
        assert 'nightdesk resolve run-1 job.1.1 happened --reason "…"' in (await p.run("show", "run-1")).out
        assert "succeeded, 1 unknown" in (await p.run("runs")).out
        status = await p.run("status", "--json")
        assert status.json["waiting_for_people"]["questions"] == 1
        resolve = ("resolve", "run-1", "job.1.1", "not-happened", "--reason")
        assert (await p.run(*resolve[:-1])).code == 2
        assert (await p.run("resolve", "run-1", "job.1.1", "maybe", "--reason", "x")).code == 2
        assert (await p.run("resolve", "run-1", "job.7.7", "happened", "--reason", "x")).code == 2
        answer = await p.run(*resolve, "看过了: password=hunter2secret", "--json")
        assert (answer.code, answer.json["decision"]) == (0, "not_happened")
        assert "hunter2secret" not in answer.out
        again = await p.run(*resolve, "again")
        assert (again.code, "already answered" in again.err) == (1, True)
        shown = await p.run("show", "run-1")
        assert "doubt (call job.1.1) ended unknown; " in shown.out
        assert "not happened: 看过了" in shown.out
        assert "unknown" not in (await p.run("runs")).out
        (kept,) = (await p.run("questions", "run-1", "--json")).json["questions"]
        assert kept["state"] == "not_happened"


async def test_the_reason_of_a_denial_is_kept_without_its_secrets(play: Make, tmp_path: Path) -> None:
    risky = counter(tmp_path, name="risky", risk="high")
    async with play(spec("worker", script([CallRequest(tool="risky")], "ok"), risky)) as p:
        await p.desk.submit("run-1")
        await p.desk.settle()
        answer = await p.run("deny", "run-1", "job.1.1", "--reason", "今晚不行: password=hunter2secret")
        assert answer.code == 0, answer.err
        with p.desk.database.reading() as db:
            kept = db.get_one(ApprovalRow, "run-1:job.1.1").reason
        assert kept.startswith("今晚不行: password=<SECRET:")
