"""Loads the example as a worker does, and plays its routine against its own tools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agents.catalog import load
from agents.runtime.spec import AgentSpec, DoneCall, DoneTurn, TurnView
from agents.runtime.tools import Resources, ToolContext
from kernel.artifacts import ArtifactStore
from kernel.contracts import Outcome, SessionTurn, Work
from kernel.database import Database
from kernel.errors import NightdeskError
from kernel.settings import Settings
from kernel.states import CallState

FOLDER = Path(__file__).parents[4] / "examples" / "travel_planner"


@pytest.fixture(scope="session")
def agent() -> AgentSpec:
    return load([FOLDER])["travel_planner"]


@pytest.fixture
def call(agent: AgentSpec, tmp_path: Path) -> Callable[..., Any]:
    """Call a tool as the runtime does: its schema first."""
    tools = {tool.name: tool for tool in agent.tools(Settings())}
    resources = Resources(
        settings=Settings(),
        database=Database(f"sqlite:///{tmp_path}/none.db"),
        artifacts=ArtifactStore(f"file://{tmp_path}", max_bytes=1000),
    )
    context = ToolContext(work=_work("x", []), resources=resources)

    async def make(name: str, **arguments: Any) -> Any:
        tools[name].check(arguments)
        return await tools[name].run(context, arguments)

    return make


@pytest.fixture
def ask(agent: AgentSpec, call: Callable[..., Any]) -> Callable[..., tuple[Outcome, list[DoneTurn]]]:
    """Play one run of a session and return its outcome and turns; `broken` tools fail."""

    def play(
        text: str,
        session: list[SessionTurn] | None = None,
        *,
        broken: tuple[str, ...] = (),
        tools: tuple[str, ...] = ("get_weather", "get_attractions", "get_hotels", "get_route"),
    ) -> tuple[Outcome, list[DoneTurn]]:
        turns: list[DoneTurn] = []
        work = _work(text, session or [])
        while len(turns) < 8:
            turn = agent.routine(TurnView(work=work, turns=turns, tools=list(tools)))
            if turn.outcome is not None:
                return turn.outcome, turns
            done = []
            for position, asked in enumerate(turn.calls):
                fields: dict[str, Any] = {"state": CallState.done}
                try:
                    if asked.tool in broken:
                        raise NightdeskError(f"{asked.tool} broke")
                    fields["value"] = asyncio.run(call(asked.tool, **asked.arguments))
                except NightdeskError as error:
                    fields = {"state": CallState.failed, "error": error.as_result()}
                done.append(
                    DoneCall(
                        id=f"{len(turns)}.{position}", tool=asked.tool, arguments=asked.arguments, **fields
                    )
                )
            turns.append(DoneTurn(number=len(turns) + 1, text=turn.text, calls=done))
        raise AssertionError("the routine does not end")

    return play


def _work(text: str, session: list[SessionTurn]) -> Work:
    return Work(
        run_id="r", assignment_id="a", agent="travel_planner", goal=text, request=text, session=session
    )
